import { setTimeout as delay } from 'node:timers/promises';
import { compileTemplate } from '@squall/core/template';
import { NO_PROPERTIES, type PublishMessage, TopicTable } from '@squall/mqtt';
import { AwaitedClients, type Outcome } from '../awaited/awaited-clients.ts';
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
/** Why nobody can look, where the broker says yes and lets nothing through. */
const BLIND = 'the broker grants the subscription and passes nothing on';

export interface RetainedResult {
  /** Topics that the group may have left a message on, where they can be counted; else null. */
  readonly topics: number | null;
  /** Retained messages that were found there; null: the broker lets nobody look. */
  readonly found: number | null;
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
  return {
    topics: results.some(({ topics }) => topics === null) ? null : sum(({ topics }) => topics ?? 0),
    found: results.some(({ found }) => found === null) ? null : sum(({ found }) => found ?? 0),
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
  const looked = await look(place, known);
  if (scene.dryRun || (looked.ok && looked.value.size === 0)) {
    if (!looked.ok) failures.add('subscribe', looked.reason);
    return { topics, found: looked.ok ? looked.value.size : null, removed: 0, left: 0 };
  }
  if (!looked.ok) failures.add('subscribe', looked.reason);
  const wanted = looked.ok ? looked.value : known.topics;
  const cleared = await clear(place, wanted);
  if (!looked.ok) return { topics, found: null, removed: cleared, left: 0 };
  const again = await look(place, { ...known, only: wanted });
  const left = again.ok ? again.value.size : wanted.size - cleared;
  return { topics, found: wanted.size, removed: wanted.size - left, left };
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

/** Topics on which there is a retained message of the group now. */
async function look(place: Place, known: KnownTopics): Promise<Outcome<ReadonlySet<string>>> {
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
    if (!connected.ok) return connected;
    const asked = await clients.subscribe(0, { filters: [...known.filters], qos: 0 });
    if (!asked.ok) return asked;
    await untilQuiet(sight, place);
    const [first] = known.topics;
    const isSure = sight.found.size > 0 || first === undefined || place.scene.dryRun;
    if (isSure || (await canSee(clients, sight, first))) return { ok: true, value: sight.found };
    return { ok: false, reason: BLIND };
  } finally {
    await clients.end();
  }
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
async function canSee(clients: AwaitedClients, sight: Sight, topic: string): Promise<boolean> {
  const before = sight.arrivals;
  const sent = await clients.publish(0, emptyMessage(topic));
  const untilMs = performance.now() + QUIET_MS;
  while (sent.ok && sight.arrivals === before && performance.now() < untilMs) {
    await delay(QUIET_MS / 20);
  }
  return sight.arrivals > before;
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
      failures.add('connect', connected.reason);
      return 0;
    }
    await scene.gate.each(topics, PLACES, async (topic) => {
      const outcome = await clients.publish(0, emptyMessage(topic));
      if (outcome.ok) acknowledged++;
      else failures.add('publish', outcome.reason);
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
  { group }: Place,
  onMessage: ConstructorParameters<typeof AwaitedClients>[0]['onMessage'],
): AwaitedClients {
  return new AwaitedClients({
    slots: 1,
    version: group.target.version,
    answerMs: ANSWER_MS,
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
