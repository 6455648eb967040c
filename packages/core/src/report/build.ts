import { judgeLedger } from '../ledger/judgement.ts';
import type { MetricName, RunAggregate } from '../metrics/index.ts';
import type { Plan } from '../plan/plan.ts';
import { balanceRows } from './balance-rows.ts';
import { booksOf } from './books.ts';
import { brokerBooksOf } from './broker-books.ts';
import { emptinessOf } from './emptiness.ts';
import { agentFigures, groupFigures, ledgerTotals } from './figures.ts';
import { histogramsOf } from './histograms.ts';
import type { AgentRecord, ReportInput, StageRecord } from './input.ts';
import { ledgerRows } from './ledger-rows.ts';
import { type Report, REPORT_SCHEMA } from './model.ts';
import { probeNotes, probeRows } from './probe-rows.ts';
import { redactPlan, redactVars } from './redact.ts';
import { timelineOf } from './timeline.ts';
import { judgeValidity } from './validity.ts';
import { decide } from './verdict.ts';

/**
 * Makes the report of a run that is over, however it ended. Everything that drawings show is
 * computed here, once.
 */
export function buildReport(input: ReportInput): Report {
  const { plan, aggregate } = input;
  const at = momentOf(input);
  const groups = groupFigures(
    plan,
    input.stages.map((stage) => stage.index),
    [...(aggregate?.series() ?? []), ...ledgerTotals(input.ledger?.rows ?? [])],
  );
  const books = booksOf(input);
  const validity = judgeValidity(input, books);
  const ledger = input.ledger === undefined ? null : judgeLedger(input.ledger, plan);
  const brokers = brokerBooksOf(plan, groups);
  const balance = balanceRows(input.balance ?? [], input);
  const probes = input.probes ?? new Map();
  const failures = [...(ledger?.failures ?? []), ...brokers.failures, ...balance.failures];
  const inconclusive = [...(ledger?.inconclusive ?? []), ...balance.inconclusive];
  const decision = decide({
    ledger: { failures, inconclusive },
    outcome: input.outcome,
    validity,
    thresholds: input.thresholds,
    generator: input.generator,
    emptiness: aggregate === null ? [] : emptinessOf(plan, input.stages, groups),
    strict: input.run.strict,
  });
  return {
    schema: REPORT_SCHEMA,
    run: runOf(input, at),
    ...decision,
    notes: [...notesOf(input), ...(ledger?.notes ?? []), ...brokers.notes, ...probeNotes(probes)],
    validity,
    plan: redactPlan(plan),
    split: splitOf(input),
    agents: input.agents.map((agent) => agentOf(agent, { input, at })),
    stages: input.stages.map((stage) => stageOf(stage, { plan, at })),
    groups,
    failures: failuresOf(input, at),
    ledger: ledgerRows(input.ledger, { plan, at }),
    books,
    thresholds: input.thresholds.map((threshold) => thresholdOf(threshold, at)),
    balance: balance.rows,
    probes: probeRows(probes, plan),
    histograms: histogramsOf(aggregate, { plan }),
    timeline: timelineOf(input, at(0)),
  };
}

/** µs on the run's timeline → UTC. */
type At = (us: number) => string;

function momentOf({ run }: ReportInput): At {
  return (us) => new Date(Math.round(run.startedUtcMs + us / 1_000)).toISOString();
}

function runOf({ run, plan }: ReportInput, at: At): Report['run'] {
  return {
    id: run.id,
    name: plan.name,
    description: plan.description,
    labels: { ...run.labels },
    startedAt: at(0),
    endedAt: at(run.durationUs),
    durationUs: Math.round(run.durationUs),
    scale: run.scale,
    scaled: [...run.scaled],
    vars: redactVars(plan.vars),
    version: run.version,
    strict: run.strict,
    environment: { ...run.environment },
  };
}

/** What a reader would else take for granted. */
function notesOf({ plan, notes, aggregate, ledger }: ReportInput): string[] {
  const subscribes = plan.groups.some((group) => group.subscribe.length > 0);
  const unverified =
    aggregate !== null && subscribes && ledger === undefined
      ? ['Delivery was not verified: what was received is counted, but not what was lost.']
      : [];
  return [...unverified, ...notes];
}

function splitOf({ plan, split }: ReportInput): Report['split'] {
  return split.map(({ agent, workers }) => ({
    agent,
    workers: workers.map((worker) => ({
      groups: Object.fromEntries(
        worker.groups.map(({ clients, first, last }, index) => [
          plan.groups[index]?.name ?? `group ${index}`,
          { clients, first, last },
        ]),
      ),
    })),
  }));
}

function agentOf(
  agent: AgentRecord,
  { input, at }: { readonly input: ReportInput; readonly at: At },
): Report['agents'][number] {
  const lateness = input.generator.agents.get(agent.id)?.p99Us ?? null;
  return {
    id: agent.id,
    host: agent.host,
    cores: agent.cores,
    workers: agent.workers,
    version: agent.version,
    clockBoundUs: whole(agent.clockBoundUs),
    startSkewUs: whole(agent.startSkewUs),
    framesProduced: agent.framesProduced,
    framesReceived: agent.framesReceived,
    state: agent.state,
    ...(agent.lostAtUs === null ? {} : { lostAt: at(agent.lostAtUs) }),
    ...(agent.reason === null ? {} : { reason: agent.reason }),
    workersLost: [...agent.workersLost],
    cpuSeconds: agent.cpuSeconds,
    rssBytesMax: whole(agent.rssBytesMax),
    latenessP99Us: whole(lateness),
    loopDelayP99Us: whole(agent.loopDelayP99Us),
    hostFigures: { ...agent.hostFigures },
    counters: agentFigures(input.plan, agent.id, input.aggregate),
  };
}

function stageOf(
  stage: StageRecord,
  { plan, at }: { readonly plan: Plan; readonly at: At },
): Report['stages'][number] {
  const clockUs = stage.clockUs ?? stage.enteredUs;
  const planned = plan.stages[stage.index];
  return {
    name: planned?.name ?? `stage ${stage.index}`,
    startedAt: at(stage.enteredUs),
    clockAt: stage.clockUs === null ? null : at(stage.clockUs),
    endedAt: at(stage.endUs),
    durationUs: Math.max(0, Math.round(stage.endUs - clockUs)),
    prologueUs: Math.max(0, Math.round(clockUs - stage.enteredUs)),
    endedBy: stage.endedBy,
    warmup: planned?.warmup ?? false,
  };
}

function thresholdOf(
  { worst, ...result }: ReportInput['thresholds'][number],
  at: At,
): Report['thresholds'][number] {
  return {
    ...result,
    worst:
      worst === null
        ? null
        : { stage: worst.stage, from: at(worst.fromUs), to: at(worst.toUs), value: worst.value },
  };
}

/** Counters whose reasons tell what was done. */
const DEEDS: readonly MetricName[] = ['made', 'transactions'];

/** Failures by reason, the most frequent first, with the examples that were kept. */
function failuresOf({ aggregate }: ReportInput, at: At): Report['failures'] {
  if (aggregate === null) return [];
  const counts = new Map<
    string,
    { metric: string; subject: string; reason: string; count: number }
  >();
  for (const { key, value } of aggregate.series()) {
    if (key.reason === undefined || value === 0 || DEEDS.includes(key.metric)) continue;
    const { metric, subject, reason } = key;
    const id = `${metric}\n${subject}\n${reason}`;
    const known = counts.get(id);
    if (known === undefined) counts.set(id, { metric, subject, reason, count: value });
    else known.count += value;
  }
  const examples = examplesOf(aggregate, at);
  return [...counts]
    .map(([id, failure]) => ({ ...failure, examples: examples.get(id) ?? [] }))
    .toSorted((a, b) => b.count - a.count);
}

type Example = Report['failures'][number]['examples'][number];

function examplesOf(aggregate: RunAggregate, at: At): Map<string, Example[]> {
  const examples = new Map<string, Example[]>();
  for (const { metric, subject, reason, client, agent, address, atUs } of aggregate.examples()) {
    const id = `${metric}\n${subject}\n${reason}`;
    const list = examples.get(id) ?? [];
    list.push({ client, agent, address, at: at(atUs) });
    examples.set(id, list);
  }
  return examples;
}

function whole(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}
