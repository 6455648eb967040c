import { setTimeout as delay } from 'node:timers/promises';
import { compileTemplate } from '@squall/core/template';
import { NO_PROPERTIES, type PublishMessage, TopicTable } from '@squall/mqtt';
import { AwaitedClients, type Outcome, TIMED_OUT } from '../awaited/awaited-clients.ts';
import type { GroupClients } from '../awaited/group-clients.ts';
import type { CleanScene, Failures } from './clean-plan.ts';
import { keepsSessions } from './clean-sessions.ts';
import { retainedTemplates } from './retained-templates.ts';
import { type TopicPattern, topicPattern } from './topic-pattern.ts';

/** Empty messages that wait for their acknowledgement at a time. */
const PLACES = 32;
const ANSWER_MS = 10_000;
const CONNECT_TIMEOUT_US = 10_000_000;
/** Retained messages come at once: so long after the last one nothing more is expected. */
const QUIET_MS = 1_000;
const LOOK_MAX_MS = 60_000;
/** Topics that are remembered at a time; a plan with more is cleaned in pieces. */
const MAX_TOPICS = 2_000_000;
/** Not told as a failure: whoever cut it off says why. */
const CUT_OFF = 'cut off';
/** Why nobody can look, where the broker says yes and lets nothing through. */
const BLIND = 'the broker grants the subscription and passes nothing on';

export interface RetainedResult {
  /** Topics that the group may have left a message on, where they can be counted; else null. */
  readonly topics: number | null;
  /** Retained messages that were found there; null: the broker lets nobody look. */
  readonly found: number | null;
  /**
   * Topics of which nobody knows: they could not be looked at, or where nobody may look, no empty
   * message was acknowledged. Null where some are not known and cannot be counted.
   */
  readonly unknown: number | null;
  /** Found and gone now; where nobody may look, empty messages that were acknowledged. */
  readonly removed: number;
  /** Found and still there. */
  readonly left: number;
}

/**
 * Looks for retained messages on the topics of a group and puts empty ones in their place, then
 * looks again. At each address of its target, by the identity of a client that is there.
 */
export async function cleanRetained(
  group: GroupClients,
  scene: CleanScene,
  failures: Failures,
): Promise<RetainedResult> {
  const results: RetainedResult[] = [];
  for (const positions of byAddress(group).values()) {
    results.push(await cleanAddress({ group, positions, scene, failures }));
  }
  const sum = (of: (result: RetainedResult) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  const sumOrNull = (of: (result: RetainedResult) => number | null) =>
    results.some((result) => of(result) === null) ? null : sum((result) => of(result) ?? 0);
  return {
    topics: sumOrNull(({ topics }) => topics),
    found: sumOrNull(({ found }) => found),
    unknown: sumOrNull(({ unknown }) => unknown),
    removed: sum(({ removed }) => removed),
    left: sum(({ left }) => left),
  };
}

function byAddress(group: GroupClients): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (let position = 0; position < group.order.count; position++) {
    const address = group.address(position);
    const known = positions.get(address);
    if (known === undefined) positions.set(address, [position]);
    else known.push(position);
  }
  return positions;
}

interface Place {
  readonly group: GroupClients;
  /** Clients that are at this address. */
  readonly positions: readonly number[];
  readonly scene: CleanScene;
  readonly failures: Failures;
}

async function cleanAddress(place: Place): Promise<RetainedResult> {
  const { failures, group, positions, scene } = place;
  const known = knownTopics(group, positions);
  const topics = known.isWhole ? known.topics.size : null;
  const nothing = { topics, found: 0, unknown: 0, removed: 0, left: 0 };
  const looked = await look(place, known);
  if (!looked.ok) {
    if (!scene.gate.isShut) failures.add(looked.step, looked.reason);
    if (!looked.isRefusal) return { ...nothing, unknown: topics };
    // Nobody may look: it is sent to every topic that can be told.
    const sent = scene.dryRun ? 0 : await clear(place, known.topics);
    return { ...nothing, found: null, unknown: topics && topics - sent, removed: sent };
  }
  const found = looked.found.size;
  if (scene.dryRun || found === 0) return { ...nothing, found };
  const cleared = await clear(place, looked.found);
  const again = await look(place, { ...known, only: looked.found });
  const left = again.ok ? again.found.size : found - cleared;
  return { ...nothing, found, removed: found - left, left };
}

interface KnownTopics {
  /** Topics that can be told beforehand. */
  readonly topics: ReadonlySet<string>;
  /** False: some topics differ from message to message, and are known by their patterns. */
  readonly isWhole: boolean;
  readonly filters: ReadonlySet<string>;
  readonly patterns: readonly TopicPattern[];
  /** Topics that are looked at, of all; all where left out. */
  readonly only?: ReadonlySet<string>;
}

function knownTopics(group: GroupClients, positions: readonly number[]): KnownTopics {
  const topics = new Set<string>();
  const filters = new Set<string>();
  const patterns: TopicPattern[] = [];
  for (const text of retainedTemplates(group.group)) {
    const template = compileTemplate(text);
    const pattern = topicPattern(template, group.context);
    filters.add(pattern.filter);
    if (template.perMessage) patterns.push(pattern);
    else addTopics(topics, { group, positions, text });
  }
  return { topics, filters, patterns, isWhole: patterns.length === 0 };
}

function addTopics(
  topics: Set<string>,
  { group, positions, text }: Pick<Place, 'group' | 'positions'> & { readonly text: string },
): void {
  for (const position of positions) {
    topics.add(group.render(text, position));
    if (topics.size > MAX_TOPICS) throw new RangeError(`more than ${MAX_TOPICS} topics at a time`);
  }
}

type Looked =
  | { readonly ok: true; readonly found: ReadonlySet<string> }
  | {
      readonly ok: false;
      readonly step: 'connect' | 'subscribe';
      readonly reason: string;
      /** The broker lets nobody look; else nobody came so far as to hear. */
      readonly isRefusal: boolean;
    };

/** Topics on which there is a retained message of the group now. */
async function look(place: Place, known: KnownTopics): Promise<Looked> {
  const sight: Sight = { found: new Set(), lastMs: performance.now(), arrivals: 0 };
  const clients = pool(place, ({ topic, retain, payload }) => {
    sight.lastMs = performance.now();
    sight.arrivals++;
    const isOurs = known.topics.has(topic) || known.patterns.some((one) => one.matches(topic));
    const isWanted = known.only?.has(topic) ?? true;
    if (retain && payload.length > 0 && isOurs && isWanted) sight.found.add(topic);
  });
  try {
    const connected = await clients.connect(0, connectOptions(place));
    if (!connected.ok) return { ...connected, step: 'connect', isRefusal: false };
    const asked = await clients.subscribe(0, { filters: [...known.filters], qos: 0 });
    // Some brokers close the connection of one who asks for what is not allowed.
    const isRefusal = !place.scene.gate.isShut && !asked.ok && asked.reason !== TIMED_OUT;
    if (!asked.ok) return { ...asked, step: 'subscribe', isRefusal };
    return await read({ place, known, clients, sight });
  } finally {
    await clients.end();
  }
}

/** Takes in what the subscription brings. */
async function read(reading: {
  readonly place: Place;
  readonly known: KnownTopics;
  readonly clients: AwaitedClients;
  readonly sight: Sight;
}): Promise<Looked> {
  const { clients, known, place, sight } = reading;
  const failed = { ok: false, step: 'subscribe', isRefusal: false } as const;
  await untilQuiet(sight, place);
  const lost = clients.lostBy(0);
  if (lost !== null) return { ...failed, reason: `connection lost: ${lost}` };
  const [first] = known.topics;
  const isSure = sight.found.size > 0 || first === undefined || place.scene.dryRun;
  const saw: Awaited<ReturnType<typeof canSee>> = isSure
    ? { ok: true, value: true }
    : await canSee({ clients, sight, place }, first);
  if (place.scene.gate.isShut) return { ...failed, reason: CUT_OFF };
  if (!saw.ok) return { ...failed, reason: saw.reason };
  if (saw.value) return { ok: true, found: sight.found };
  return { ...failed, reason: BLIND, isRefusal: true };
}

interface Sight {
  readonly found: Set<string>;
  /** When something came last. */
  lastMs: number;
  arrivals: number;
}

async function untilQuiet(sight: Sight, { scene }: Place): Promise<void> {
  const endMs = performance.now() + LOOK_MAX_MS;
  sight.lastMs = performance.now();
  const isOver = () => scene.gate.isShut || performance.now() >= endMs;
  while (!isOver() && performance.now() < sight.lastMs + QUIET_MS) await delay(QUIET_MS / 10);
}

/**
 * Some brokers grant a subscription and pass nothing on: that nothing was seen says little by itself.
 * An empty message to one of the topics does no harm, since there was nothing to be seen on it.
 */
async function canSee(
  { clients, place, sight }: { clients: AwaitedClients; place: Place; sight: Sight },
  topic: string,
): Promise<Outcome<boolean>> {
  const before = sight.arrivals;
  const sent = await clients.publish(0, emptyMessage(topic));
  // Who may not send either is told so when the empty messages are sent.
  if (!sent.ok) return sent.reason === TIMED_OUT ? sent : { ok: true, value: false };
  const untilMs = performance.now() + QUIET_MS;
  const isOver = () => place.scene.gate.isShut || performance.now() >= untilMs;
  while (sight.arrivals === before && !isOver()) await delay(QUIET_MS / 20);
  return { ok: true, value: sight.arrivals > before };
}

/** Puts an empty message in the place of each. @returns how many were acknowledged. */
async function clear(place: Place, topics: ReadonlySet<string>): Promise<number> {
  const { failures, group, scene } = place;
  const clients = pool(place, () => undefined);
  let acknowledged = 0;
  let done = 0;
  try {
    const connected = await clients.connect(0, connectOptions(place));
    if (!connected.ok) {
      if (!scene.gate.isShut) failures.add('connect', connected.reason);
      return 0;
    }
    await scene.gate.each(topics, PLACES, async (topic) => {
      const outcome = await clients.publish(0, emptyMessage(topic));
      if (outcome.ok) acknowledged++;
      else if (!scene.gate.isShut) failures.add('publish', outcome.reason);
      done++;
      scene.progress({ group: group.group.name, what: 'retained', done, total: topics.size });
    });
    return acknowledged;
  } finally {
    await clients.end();
  }
}

/** An empty retained message removes what is there, and is not kept itself [MQTT-3.3.1-10]. */
function emptyMessage(topic: string): PublishMessage {
  const topics = new TopicTable();
  return {
    topics,
    topic: topics.add(topic),
    payload: new Uint8Array(0),
    qos: 1,
    retain: true,
    dup: false,
    packetId: 0,
    properties: NO_PROPERTIES,
    aliases: 0,
  };
}

function pool(
  { group, scene }: Place,
  onMessage: ConstructorParameters<typeof AwaitedClients>[0]['onMessage'],
): AwaitedClients {
  return new AwaitedClients({
    slots: 1,
    version: group.target.version,
    answerMs: ANSWER_MS,
    signal: scene.gate.signal,
    onMessage,
  });
}

/**
 * By the identity of a client that used these topics, who may do so again; by an id of its own where
 * that client has a session that is to stay.
 */
function connectOptions({ group, positions, scene }: Place) {
  const options = group.connectOptions(positions[0] ?? 0);
  const { clientId, properties } = options;
  return {
    ...options,
    clientId: keepsSessions(group) && !scene.sessionsGone ? `${clientId}-clean` : clientId,
    will: undefined,
    cleanStart: true,
    timeoutUs: CONNECT_TIMEOUT_US,
    ...(properties === undefined
      ? {}
      : { properties: { ...properties, sessionExpiryInterval: 0 } }),
  };
}
