import { type DraftMap, type DraftValue, noted } from '../plan/draft.ts';
import { connectOf, identityOf } from './connection.ts';
import { duration, streamOf, type Stream, subscriptionOf } from './messages.ts';
import type { JmeterElement } from './element.ts';
import type { ThreadConnection } from './thread-connections.ts';
import type { Threads } from './thread-group.ts';
import type { Variables } from './variables.ts';
import { periodMs, type Step, timesOf } from './walk.ts';

/** A group of the plan, and what its part in the stages is. */
export interface ImportedGroup {
  readonly name: string;
  readonly map: DraftMap;
  readonly clientId: string;
  readonly streams: readonly Stream[];
  readonly subscribes: boolean;
  readonly churn: DraftValue | null;
  readonly startS: number;
  /** Seconds; null: over when its counts are. */
  readonly lengthS: number | null;
  /** As the plan writes it, where it is as long as the original said. */
  readonly lengthText: string | null;
  /** Seconds that its counts take; 0 where they go as fast as answers come. */
  readonly countedS: number;
}

export interface GroupOrigin {
  readonly name: string;
  readonly target: string;
  readonly what: string;
  readonly line: number;
  readonly threads: Threads;
  readonly runtimeS: number;
  readonly steps: readonly Step[];
  readonly connection: ThreadConnection;
  /** CSV file and its columns. */
  readonly from: DraftValue | null;
}

const HOUR_S = 3_600;

/** One group out of one connection of a thread group. */
export function groupOf(origin: GroupOrigin, variables: Variables): ImportedGroup {
  const { connection, threads, steps } = origin;
  const { owner } = connection;
  const efficient = owner.kind === 'EfficientConnectSampler';
  const capacity = efficient ? variables.number(owner.text('mqtt.conn_capacity'), 1, owner) : 1;
  const clients = Math.max(1, threads.clients * capacity);
  const taken = new Set<string>();
  const churn = churnOf(origin, clients, variables);
  const streams =
    churn === null
      ? connection.publishing.map((step) => streamOf(step, { steps, taken }, variables))
      : [];
  const subscriptions = subscriptionsOf(origin, taken, variables);
  const life = lifeOf(origin, { streams, churn }, variables);
  const identity = identityOf(owner, clients, variables);
  const body: DraftMap = {
    target: origin.target,
    clients: capacity === 1 ? threads.clientsText : clients,
    ...identity,
    connect: noted(connectOf(owner, threads.over, variables), `${owner.what}, line ${owner.line}`),
    ...(streams.length === 0
      ? {}
      : { publish: streams.map((one) => streamEntry(one, clients, life.timed)) }),
    ...(subscriptions.length === 0 ? {} : { subscribe: subscriptions }),
  };
  const map =
    origin.from !== null && /\{\{csv\./.test(JSON.stringify(body))
      ? { ...body, from: origin.from }
      : body;
  return {
    name: origin.name,
    map,
    clientId: identity.clientId,
    streams,
    subscribes: subscriptions.length > 0 && churn === null,
    churn,
    startS: threads.delayS,
    lengthS: life.timed ? life.lengthS : null,
    lengthText: life.text,
    countedS: life.timed ? 0 : life.lengthS,
  };
}

/** What is ended by its time needs no count: due messages are those of the time. */
function streamEntry(
  { body, step, times, everyMs }: Stream,
  clients: number,
  timed: boolean,
): DraftValue {
  const counted = Number.isFinite(times) && (!timed || everyMs === 0);
  const count = counted ? { count: times * clients } : {};
  return noted({ ...body, ...count }, `${step.element.what}, line ${step.element.line}`);
}

function subscriptionsOf(
  { connection }: GroupOrigin,
  taken: Set<string>,
  variables: Variables,
): DraftValue[] {
  const { owner, subscribing } = connection;
  for (const { element } of subscribing) {
    if (listensFor(element)) continue;
    const why = 'it waited for a number of messages; here it listens as long as its stage lasts';
    variables.findings.change(element.line, element.what, why);
  }
  const own = owner.flag('mqtt.sub_when_connected') ? [owner] : [];
  return [...own, ...subscribing.map(({ element }) => element)].map((element) =>
    noted(subscriptionOf(element, taken, variables), `${element.what}, line ${element.line}`),
  );
}

/** Connect and DisConnect in one loop: connections come and go. */
function churnOf(origin: GroupOrigin, clients: number, { findings }: Variables): DraftValue | null {
  const { connection, steps, threads } = origin;
  const { connect, disconnect, publishing, subscribing } = connection;
  const together = connect.loops.some(
    (loop) => loop.loops !== 1 && disconnect?.loops.includes(loop),
  );
  if (disconnect === null || !together) return null;
  const from = steps.indexOf(connect);
  const between = steps.slice(from + 1, steps.indexOf(disconnect) + 1);
  const stayMs = between.reduce((total, { delayMs }) => total + delayMs, 0);
  const period = periodMs(connect, steps);
  const { element } = connect;
  for (const step of [...publishing, ...subscribing]) {
    findings.lose(
      step.element.line,
      step.element.what,
      'it stands between Connect and DisConnect of a loop: connections come and go, and nothing else is done over them',
    );
  }
  if (period <= 0) {
    findings.change(
      element.line,
      element.what,
      'it connected as fast as it could; here all clients come once in the ramp-up time, by turns',
    );
  }
  const perSecond = period > 0 ? (clients * 1_000) / period : clients / Math.max(1, threads.rampS);
  return { rate: rateText(perSecond), stay: duration(Math.max(1, stayMs)) };
}

function rateText(perSecond: number): string {
  if (perSecond >= 1) return `${Number(perSecond.toFixed(3))}/s`;
  return `${Math.max(0.001, Number((perSecond * HOUR_S).toFixed(3)))}/h`;
}

interface Life {
  readonly timed: boolean;
  readonly lengthS: number;
  readonly text: string | null;
}

/** What ends the group: its time, its loops, whichever is first; or an hour that is ours. */
function lifeOf(
  origin: GroupOrigin,
  { streams, churn }: { readonly streams: readonly Stream[]; readonly churn: DraftValue | null },
  { findings }: Variables,
): Life {
  const { threads, runtimeS, steps, connection } = origin;
  const limitS = threads.lengthS ?? (runtimeS > 0 ? runtimeS : null);
  const text = threads.lengthS === null ? null : threads.lengthText;
  const finite = streams.length > 0 && streams.every(({ times }) => Number.isFinite(times));
  if (finite) {
    const paced = streams.every(({ everyMs }) => everyMs > 0);
    const needsS = Math.max(...streams.map(({ times, everyMs }) => (times * everyMs) / 1_000));
    if (limitS === null) return { timed: false, lengthS: needsS, text: null };
    if (paced && needsS < limitS) return { timed: false, lengthS: needsS, text: null };
    return { timed: true, lengthS: limitS, text };
  }
  if (limitS !== null) return { timed: true, lengthS: limitS, text };
  const turns = steps.map((step) => ({ step, times: timesOf(step) }));
  const known = streams.length === 0 && turns.every(({ times }) => Number.isFinite(times));
  if (known) {
    const ms = turns.reduce(
      (total, { step, times }) => total + times * (step.delayMs + listensMs(step)),
      0,
    );
    if (ms > 0) return { timed: true, lengthS: Math.ceil(ms / 1_000), text: null };
    if (churn === null) return { timed: true, lengthS: 1, text: null };
  }
  const { owner } = connection;
  findings.change(origin.line, origin.what, `nothing ends it (${owner.what}): here it lasts 1h`);
  return { timed: true, lengthS: HOUR_S, text: '1h' };
}

/** How long a Sub sampler holds its thread. */
function listensMs({ kind, element }: Step): number {
  if (kind !== 'SubSampler') return 0;
  const value = Number(element.text('mqtt.sample_condition_value', '1000'));
  return listensFor(element) && Number.isFinite(value) ? value : 0;
}

/** Whether a time ends its sample; else a number of messages does. */
function listensFor(element: JmeterElement): boolean {
  const usual = 'specified elapsed time (ms)';
  return element.text('mqtt.sample_condition', usual).includes('elapsed');
}
