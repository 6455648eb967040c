import { createHash } from 'node:crypto';
import { redactPlan } from '@squall/core/report';
import type { z } from 'zod';
import type { AgentView } from '../hub/agent-view.ts';
import type { PlanRecord, PlanSummary, RunRecord } from '../store/store.ts';
import type { agents, plan, planSummary, run } from './schemas.ts';

/** Records as the API shows them. */
export type RunView = z.infer<typeof run>;

export function runView(record: RunRecord): RunView {
  const { id, name, plan: planId, labels, notes, state, stage } = record;
  return {
    id,
    name,
    plan: planId,
    labels,
    notes,
    state,
    stage,
    submittedAt: momentOf(record.submittedMs),
    startedAt: record.startedMs === null ? null : momentOf(record.startedMs),
    endedAt: record.endedMs === null ? null : momentOf(record.endedMs),
    verdict: record.verdict,
    validity: record.validity,
    exitCode: record.exitCode,
    reasons: [...record.reasons],
    options: { ...record.options },
  };
}

/** Names exactly what is shown: another text, another tag [RFC 9110, 8.8.3]. */
export function etagOf(view: RunView): string {
  const digest = createHash('sha256').update(JSON.stringify(view)).digest('base64url');
  return `"${digest.slice(0, 22)}"`;
}

export function summaryView(summary: PlanSummary): z.infer<typeof planSummary> {
  const { id, hash, name, format, createdMs } = summary;
  return { id, hash, name, format, createdAt: momentOf(createdMs) };
}

export function planView(record: PlanRecord): z.infer<typeof plan> {
  return { ...summaryView(record), plan: redactPlan(record.plan) };
}

export function agentView(view: AgentView): z.infer<typeof agents>['agents'][number] {
  const { host, pid, version, cores, workers, memoryBytes, labels, observes } = view.facts;
  return {
    host,
    pid,
    version,
    cores,
    workers,
    memoryBytes,
    labels,
    id: view.id,
    connected: view.connected,
    run: view.run,
    clock: view.clock && clockOf(view.clock),
    health: view.health,
    observes: observes === true,
    hostFigures: view.host,
  };
}

function clockOf({ offsetUs, boundUs, rttUs }: NonNullable<AgentView['clock']>) {
  return { offsetUs, boundUs, rttUs };
}

/** UTC with milliseconds. */
export function momentOf(ms: number): string {
  return new Date(Math.round(ms)).toISOString();
}
