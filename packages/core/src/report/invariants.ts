import { isMetricName, metricInfo } from '../metrics/index.ts';
import { type Check, type Figures, type Report, reportSchema, type Times } from './model.ts';
import { EXIT_CODES } from './verdict.ts';

/**
 * What is true of every report, whatever happened in its run. Each broken law is one sentence; a
 * report without any is whole. Every test that makes a report asks this.
 */
export function checkReport(report: Report): string[] {
  const parsed = reportSchema.safeParse(report);
  const shape = parsed.success
    ? []
    : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  return [
    ...shape,
    ...checkVerdict(report),
    ...checkGroups(report),
    ...checkAgents(report),
    ...checkFrames(report),
    ...checkBooks(report),
    ...checkLedger(report),
    ...checkThresholds(report),
    ...checkSplit(report),
    ...checkHistograms(report),
    ...checkTimeline(report),
  ];
}

/** Buckets add up to the figures that stand beside them. */
function checkHistograms({ groups, histograms }: Report): string[] {
  const told = new Map(
    histograms.map((one): [string, typeof one] => [`${one.group} ${one.stage} ${one.metric}`, one]),
  );
  return Object.entries(groups).flatMap(([group, { stages }]) =>
    Object.entries(stages).flatMap(([stage, { times }]) =>
      Object.entries(times).flatMap(([metric, { count, maxUs }]) => {
        const name = `${group} ${stage} ${metric}`;
        const one = told.get(name);
        const sum = (one?.counts ?? []).reduce((a, b) => a + b, 0);
        const ends = one?.upToUs ?? [];
        return [
          ...(sum === count ? [] : [`${name}: ${sum} times in its histogram, ${count} counted`]),
          ...(ends.at(-1) === maxUs ? [] : [`${name}: its histogram does not end at its maximum`]),
          ...(ends.every((end, at) => at === 0 || end > (ends[at - 1] ?? 0))
            ? []
            : [`${name}: the buckets of its histogram do not rise`]),
        ];
      }),
    ),
  );
}

function checkVerdict(report: Report): string[] {
  const { verdict, exitCode, reasons, validity, run } = report;
  const wrong: string[] = [];
  if (!allowedExitCodes(report).includes(exitCode)) {
    wrong.push(`exit code ${exitCode} does not follow from ${verdict} and ${validity.state}`);
  }
  if (reasons.length === 0) wrong.push(`verdict ${verdict} has no reason`);
  const worst = validity.findings.some((one) => one.state === 'invalid')
    ? 'invalid'
    : validity.findings.some((one) => one.state === 'degraded')
      ? 'degraded'
      : 'valid';
  if (worst !== validity.state) wrong.push(`validity ${validity.state} with ${worst} findings`);
  if (verdict === 'pass' && validity.state === 'invalid') {
    wrong.push('nothing passes under a generator that is not valid');
  }
  if (run.durationUs < 0) wrong.push('a run cannot take less than no time');
  return wrong;
}

function allowedExitCodes({ verdict, validity, run }: Report): readonly number[] {
  switch (verdict) {
    case 'error':
      return [EXIT_CODES.error, EXIT_CODES.agents];
    case 'cancelled':
      return [EXIT_CODES.cancelledByApi, EXIT_CODES.cancelledBySignal];
    case 'aborted':
      return [EXIT_CODES.invalid];
    case 'fail':
      return [validity.state === 'invalid' ? EXIT_CODES.invalid : EXIT_CODES.fail];
    case 'inconclusive':
      return [validity.state === 'invalid' ? EXIT_CODES.invalid : EXIT_CODES.inconclusive];
    case 'pass':
      return [run.strict && validity.state === 'degraded' ? EXIT_CODES.invalid : EXIT_CODES.ok];
  }
}

function checkGroups({ groups, validity }: Report): string[] {
  // Where frames are missing, the later counter may have arrived and the earlier one not.
  const whole = !validity.findings.some((one) => INCOMPLETE.has(one.check));
  return Object.entries(groups).flatMap(([name, group]) => [
    ...checkSums(name, group, Object.values(group.stages)),
    ...(whole ? checkOrder(name, group) : []),
    ...[['', group] as const, ...Object.entries(group.stages)].flatMap(([stage, figures]) =>
      Object.entries(figures.times).flatMap(([metric, times]) =>
        checkTimes(`${name} ${stage} ${metric}`, times),
      ),
    ),
  ]);
}

const INCOMPLETE: ReadonlySet<Check> = new Set<Check>([
  'agent_lost',
  'worker_lost',
  'frames_missing',
  'frames_conflict',
]);

function checkSums(name: string, group: Figures, stages: readonly Figures[]): string[] {
  const wrong: string[] = [];
  for (const [counter, total] of Object.entries(group.counters)) {
    const sum = stages.reduce((all, stage) => all + (stage.counters[counter] ?? 0), 0);
    if (sum !== total) wrong.push(`${name}: stages have ${sum} ${counter}, the group ${total}`);
  }
  for (const [metric, reasons] of Object.entries(group.reasons)) {
    const sum = Object.values(reasons).reduce((all, count) => all + count, 0);
    const total = group.counters[metric] ?? 0;
    if (sum > total) wrong.push(`${name}: reasons of ${metric} are ${sum}, but it is ${total}`);
  }
  for (const [metric, times] of Object.entries(group.times)) {
    const count = stages.reduce((all, stage) => all + (stage.times[metric]?.count ?? 0), 0);
    if (count !== times.count)
      wrong.push(`${name}: stages have ${count} ${metric}, not ${times.count}`);
  }
  return wrong;
}

/** In the order in which a message passes them. */
const ORDER = ['planned', 'scheduled', 'sent', 'acked'] as const;

function checkOrder(name: string, { counters }: Figures): string[] {
  return ORDER.slice(1).flatMap((less, index) => {
    const more = ORDER[index] ?? less;
    const [small, large] = [counters[less] ?? 0, counters[more] ?? 0];
    return small <= large ? [] : [`${name}: ${less} ${small} is more than ${more} ${large}`];
  });
}

const RISING = ['minUs', 'p50Us', 'p90Us', 'p95Us', 'p99Us', 'p999Us', 'p9999Us', 'maxUs'] as const;

function checkTimes(name: string, times: Times): string[] {
  const wrong = RISING.slice(1).flatMap((key, index) => {
    const before = RISING[index] ?? key;
    return times[before] <= times[key] ? [] : [`${name}: ${before} is above ${key}`];
  });
  if (times.meanUs < times.minUs || times.meanUs > times.maxUs) {
    wrong.push(`${name}: the mean lies outside minimum and maximum`);
  }
  return wrong;
}

function checkAgents({ agents, groups }: Report): string[] {
  return Object.entries(groups).flatMap(([name, group]) =>
    Object.entries(group.counters).flatMap(([counter, total]) => {
      // What the ledger finds is no agent's own: it takes both sides to know.
      if (isLate(counter)) return [];
      const sum = agents.reduce((all, agent) => all + (agent.counters[name]?.[counter] ?? 0), 0);
      return sum === total ? [] : [`${name}: agents have ${sum} ${counter}, the group ${total}`];
    }),
  );
}

function checkFrames({ agents, validity }: Report): string[] {
  return agents.flatMap(({ id, state, framesProduced, framesReceived }) => {
    if (framesProduced === framesReceived || state === 'refused') return [];
    const told = validity.findings.some((one) => one.agent === id && INCOMPLETE.has(one.check));
    // Before the start of the load nobody has anything to report.
    const began = !validity.findings.some((one) => one.check === 'load_began');
    return told || !began ? [] : [`frames of ${id} are missing and no finding says so`];
  });
}

function checkBooks({ books, validity }: Report): string[] {
  return books.flatMap(({ equation, left, right, holds }) => {
    if (holds !== (left === right)) return [`book "${equation}": holds is not what it says`];
    const told = validity.findings.some((one) => one.check === 'books');
    return holds || told ? [] : [`book "${equation}" does not balance and no finding says so`];
  });
}

function isLate(counter: string): boolean {
  return isMetricName(counter) && metricInfo(counter).late === true;
}

function checkLedger(report: Report): string[] {
  return [...checkLedgerRows(report), ...checkLedgerSums(report)];
}

const LEDGER_COUNTERS = ['expected', 'lost', 'duplicated', 'reordered'] as const;

/** The groups have what the rows have. */
function checkLedgerSums({ ledger, groups }: Report): string[] {
  return LEDGER_COUNTERS.flatMap((counter) => {
    const rows = ledger.reduce((sum, row) => sum + row[counter], 0);
    const all = Object.values(groups).reduce((sum, one) => sum + (one.counters[counter] ?? 0), 0);
    return rows === all ? [] : [`the ledger has ${rows} ${counter}, the groups ${all}`];
  });
}

function checkLedgerRows({ ledger, verdict }: Report): string[] {
  return ledger.flatMap((row) => {
    const { from, to, expected, unique, lost, received, lostDisconnected } = row;
    const { duplicated, unresolved, unresolvedArrived, unexpected, foreign, corrupted } = row;
    const wrong: string[] = [];
    const arrived = unique + duplicated + unresolvedArrived + unexpected + foreign + corrupted;
    if (expected !== unique + lost) wrong.push(`ledger ${from} → ${to}: expected is not the sum`);
    if (received !== arrived) wrong.push(`ledger ${from} → ${to}: received is not the sum`);
    if (lostDisconnected > lost || unresolvedArrived > unresolved) {
      wrong.push(`ledger ${from} → ${to}: a part is larger than its whole`);
    }
    if (verdict === 'pass' && row.state !== 'pass') {
      wrong.push(`the run passes, but the ledger of ${from} → ${to} does not`);
    }
    return wrong;
  });
}

function checkThresholds({ thresholds, verdict }: Report): string[] {
  return thresholds.flatMap((one) => {
    const wrong: string[] = [];
    if (one.failedWindows > one.windows)
      wrong.push(`"${one.text}" fails more often than it is judged`);
    if (one.state === 'pass' && one.windows === 0) wrong.push(`"${one.text}" passes without data`);
    if (one.state === 'fail' && one.failedWindows === 0)
      wrong.push(`"${one.text}" fails without a window`);
    if (verdict === 'pass' && (one.leadsTo === 'fail' || one.leadsTo === 'inconclusive')) {
      wrong.push(`the run passes, but "${one.text}" leads to ${one.leadsTo}`);
    }
    return wrong;
  });
}

/** The ranges of every group lie end to end, from its first client. */
function checkSplit({ split }: Report): string[] {
  const next = new Map<string, number>();
  return split.flatMap(({ agent, workers }) =>
    workers.flatMap(({ groups }) =>
      Object.entries(groups).flatMap(([name, { first, last, clients }]) => {
        const wanted = next.get(name) ?? 0;
        next.set(name, wanted + clients);
        return first === wanted && last - first + 1 === clients
          ? []
          : [`split: ${name} has a gap or an overlap at ${agent}`];
      }),
    ),
  );
}

function checkTimeline({ timeline }: Report): string[] {
  const lengths = new Set(timeline.series.map((series) => series.values.length));
  return lengths.size <= 1 ? [] : ['the curves of the time line have different lengths'];
}
