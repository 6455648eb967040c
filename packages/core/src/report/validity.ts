import type { Bounds } from '../plan/plan.ts';
import { formatCount, formatDuration, formatShare } from '../units/index.ts';
import { subjectGroups } from './figures.ts';
import { WINDOWS_IN_A_ROW } from './generator-watch.ts';
import type { ReportInput } from './input.ts';
import type { Book, Check, Finding, ValidityState } from './model.ts';

/** A loop that is held up for longer is told, without harm to validity: lateness shows the harm. */
const LOOP_DELAY_NOTE_US = 100_000;

export interface Validity {
  readonly state: ValidityState;
  readonly findings: Finding[];
}

type ValidityInput = Pick<
  ReportInput,
  'plan' | 'agents' | 'aggregate' | 'generator' | 'thresholds' | 'bus' | 'outcome' | 'stages'
>;

/** Judges the generator itself, apart from the thresholds: can its numbers be believed? */
export function judgeValidity(input: ValidityInput, books: readonly Book[]): Validity {
  const findings = [
    ...loadFindings(input),
    ...lossFindings(input),
    ...frameFindings(input),
    ...latenessFindings(input),
    ...droppedFindings(input),
    ...skewFindings(input),
    ...histogramFindings(input),
    ...bookFindings(books),
    ...noteFindings(input),
    ...(input.bus ?? []).map((trouble): Finding => ({ ...trouble, state: 'note', limit: null })),
  ];
  const ranks = ['invalid', 'degraded', 'note'];
  const sorted = findings.toSorted((a, b) => ranks.indexOf(a.state) - ranks.indexOf(b.state));
  const worst = sorted[0]?.state;
  const state = worst === 'invalid' || worst === 'degraded' ? worst : 'valid';
  return { state, findings: sorted };
}

interface Draft {
  readonly check: Check;
  readonly observed: number;
  readonly bounds: Bounds;
  readonly agent?: string;
  readonly hint: string;
}

/** A finding where a value is above one of its bounds; null bounds are switched off. */
function above({ check, observed, bounds, agent, hint }: Draft): Finding[] {
  const limits = [
    { state: 'invalid', limit: bounds.invalid },
    { state: 'degraded', limit: bounds.degraded },
  ] as const;
  for (const { state, limit } of limits) {
    if (limit === null || observed <= limit) continue;
    return [{ check, state, observed, limit, ...(agent === undefined ? {} : { agent }), hint }];
  }
  return [];
}

function loadFindings({ aggregate, outcome, stages }: ValidityInput): Finding[] {
  if (aggregate !== null && stages.length > 0) return [];
  const hint = 'The load never began, so nothing was measured.';
  // Whoever stops a run before its load has found nothing wrong with the generator.
  const state = outcome.kind === 'cancelled' ? 'note' : 'invalid';
  return [{ check: 'load_began', state, observed: 'no', limit: null, hint }];
}

function lossFindings({ plan, agents }: ValidityInput): Finding[] {
  const state = plan.limits.onAgentLoss === 'abort' ? 'invalid' : 'degraded';
  return agents.flatMap((agent) => {
    const findings: Finding[] = agent.workersLost.map(({ worker, reason }) => ({
      check: 'worker_lost',
      state,
      observed: `worker ${worker}`,
      limit: null,
      agent: agent.id,
      hint: `Its clients were missing from then on: ${reason}.`,
    }));
    if (agent.state !== 'lost') return findings;
    const why = agent.reason ?? 'it was not heard of any more';
    const hint = `Its clients, and what it had not reported yet, are missing: ${why}.`;
    return [
      ...findings,
      { check: 'agent_lost', state, observed: agent.id, limit: null, agent: agent.id, hint },
    ];
  });
}

function frameFindings({ plan, agents, aggregate }: ValidityInput): Finding[] {
  if (aggregate === null) return [];
  const findings = agents.flatMap((agent): Finding[] => {
    if (agent.state !== 'completed') return [];
    if (agent.framesProduced === null) {
      const hint = 'The agent never said how many frames it made, so some may be missing.';
      const base = { check: 'frames_missing' as const, agent: agent.id, limit: null, hint };
      return [{ ...base, state: 'degraded', observed: 'unknown' }];
    }
    const missing = Math.max(0, agent.framesProduced - agent.framesReceived);
    const share = agent.framesProduced === 0 ? 0 : missing / agent.framesProduced;
    return above({
      check: 'frames_missing',
      observed: share,
      bounds: plan.limits.generator.framesMissingShare,
      agent: agent.id,
      hint: `${formatCount(missing)} of ${formatCount(agent.framesProduced)} frames with measurements did not arrive.`,
    });
  });
  if (aggregate.conflicts === 0) return findings;
  const hint = 'Frames overlapped with others that were counted before, and were left out.';
  const conflict = {
    check: 'frames_conflict' as const,
    limit: 0,
    hint,
    observed: aggregate.conflicts,
  };
  return [...findings, { ...conflict, state: 'degraded' }];
}

function latenessFindings({ plan, generator }: ValidityInput): Finding[] {
  const bounds = plan.limits.generator.latenessP99Us;
  return [...generator.agents].flatMap(([agent, { sustainedP99Us, worstP99Us, windows }]) => {
    // A run too short for three windows cannot be called invalid: one bad moment is no proof.
    const lasting = windows < WINDOWS_IN_A_ROW ? null : sustainedP99Us;
    const findings = above({
      check: 'lateness',
      observed: Math.round(lasting ?? 0),
      bounds,
      agent,
      hint: `The agent picked messages up ${formatDuration(lasting ?? 0)} late (p99, lasting): it has too little CPU for its share. Use more agents or a lower rate.`,
    });
    if (findings.length > 0) return findings;
    // A single moment is no sign of an overload, but what was measured in it is the generator's own.
    return above({
      check: 'lateness',
      observed: Math.round(worstP99Us ?? 0),
      bounds: { degraded: bounds.invalid, invalid: null },
      agent,
      hint: `The agent picked messages up ${formatDuration(worstP99Us ?? 0)} late (p99 of a window of 10 s): it was held up for a while, and what is slow or missing in that time may be its own doing.`,
    });
  });
}

/** By group: a small one must not hide behind a large one. */
function droppedFindings({ plan, aggregate }: ValidityInput): Finding[] {
  if (aggregate === null) return [];
  const groupOf = subjectGroups(plan);
  const sums = new Map(plan.groups.map(({ name }) => [name, { dropped: 0, scheduled: 0 }]));
  for (const { key, value } of aggregate.series()) {
    const sum = sums.get(groupOf(key.subject));
    if (sum === undefined || plan.stages[key.stage]?.warmup === true) continue;
    if (key.metric === 'scheduled') sum.scheduled += value;
    if (key.metric === 'dropped' && key.reason === 'generator') sum.dropped += value;
  }
  return [...sums].flatMap(([group, { dropped, scheduled }]) =>
    above({
      check: 'dropped',
      observed: dropped === 0 ? 0 : dropped / Math.max(dropped, scheduled),
      bounds: plan.limits.generator.droppedShare,
      hint: `${formatCount(dropped)} messages of ${group} (${formatShare(dropped / Math.max(1, dropped, scheduled))}) were dropped because the generator was too late. Use more agents or a lower rate.`,
    }),
  );
}

function skewFindings({ plan, agents }: ValidityInput): Finding[] {
  const started = agents.flatMap(({ id, startSkewUs }) =>
    startSkewUs === null ? [] : [{ id, startSkewUs }],
  );
  const [first, ...others] = started.toSorted((a, b) => a.startSkewUs - b.startSkewUs);
  const last = others.at(-1);
  if (first === undefined || last === undefined) return [];
  const skewUs = Math.round(last.startSkewUs - first.startSkewUs);
  return above({
    check: 'start_skew',
    observed: skewUs,
    bounds: plan.limits.generator.startSkewUs,
    agent: last.id,
    hint: `It started ${formatDuration(skewUs)} after ${first.id}: the load was not one load at first.`,
  });
}

function histogramFindings({ plan, aggregate }: ValidityInput): Finding[] {
  let overflow = 0;
  let negative = 0;
  let boundUs = 0;
  for (const { histogram } of aggregate?.series() ?? []) {
    overflow += histogram?.overflow ?? 0;
    negative += histogram?.negative ?? 0;
    boundUs = Math.max(boundUs, histogram?.boundUs ?? 0);
  }
  const findings = above({
    check: 'histogram_overflow',
    observed: overflow,
    bounds: plan.limits.generator.histogramOverflow,
    hint: `${formatCount(overflow)} times were above one hour and count as one hour.`,
  });
  if (negative === 0) return findings;
  const why =
    boundUs > 0
      ? `the clocks of different hosts agree to ± ${formatDuration(boundUs)}`
      : 'clocks disagree';
  const hint = `${formatCount(negative)} times were below zero and count as 0: ${why}.`;
  const base = { check: 'negative_times' as const, limit: 0, observed: negative, hint };
  return [...findings, { ...base, state: 'note' }];
}

function bookFindings(books: readonly Book[]): Finding[] {
  return books
    .filter((book) => !book.holds)
    .map(({ equation, left, right }) => ({
      check: 'books',
      state: 'degraded',
      observed: left - right,
      limit: 0,
      hint: `The books do not balance: ${equation}, but ${left} is not ${right}. This is a fault of the product; please report it.`,
    }));
}

function noteFindings({ agents, thresholds }: ValidityInput): Finding[] {
  const loops = agents.flatMap((agent): Finding[] => {
    const delay = agent.loopDelayP99Us ?? 0;
    if (delay <= LOOP_DELAY_NOTE_US) return [];
    const hint = `The event loop of a process was held up for ${formatDuration(delay)} (p99).`;
    const base = { check: 'loop_delay' as const, limit: LOOP_DELAY_NOTE_US, agent: agent.id, hint };
    return [{ ...base, state: 'note', observed: Math.round(delay) }];
  });
  const clocks = thresholds
    .filter(({ state, remark }) => state === 'inconclusive' && /clock|hosts/.test(remark))
    .map(({ text, remark }): Finding => {
      const base = { check: 'clock_bound' as const, limit: null, observed: text };
      return { ...base, state: 'note', hint: `This threshold is inconclusive: ${remark}.` };
    });
  return [...clocks, ...loops];
}
