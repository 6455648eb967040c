import type { ConnectOptions } from '@squall/mqtt';
import { AwaitedClients, type Outcome } from '../awaited/awaited-clients.ts';
import type { GroupClients } from '../awaited/group-clients.ts';
import type { CleanScene, Failures } from './clean-plan.ts';

/** Connections at a time. */
const PLACES = 32;
const CONNECT_TIMEOUT_US = 10_000_000;
const ANSWER_MS = 10_000;

export interface SessionResult {
  /** Clients that may have left a session: each was asked for, unless it was a dry run. */
  readonly clients: number;
  /** Sessions that were there, and are gone now. */
  readonly removed: number;
  /** Clients of which nobody knows: they could not connect, or their turn did not come. */
  readonly failed: number;
}

/** Whether clients of the group leave sessions behind when they go. */
export function keepsSessions({ group, target }: GroupClients): boolean {
  const { cleanStart, sessionExpiryS } = group.connect;
  return target.version === '5' ? (sessionExpiryS ?? 0) > 0 : !cleanStart;
}

/**
 * Takes up the session of each client and ends it: under MQTT 5 by an expiry of 0, before it by
 * connecting once more, clean. What lay queued in it is lost.
 */
export async function cleanSessions(
  group: GroupClients,
  scene: CleanScene,
  failures: Failures,
): Promise<SessionResult> {
  const clients = group.order.count;
  if (scene.dryRun) return { clients, removed: 0, failed: 0 };
  const { version } = group.target;
  const places = Math.min(PLACES, clients);
  const pool = new AwaitedClients({
    slots: places,
    version,
    answerMs: ANSWER_MS,
    signal: scene.gate.signal,
    onMessage: () => undefined,
  });
  const counts = { removed: 0, failed: 0, done: 0 };
  await scene.gate.each(Array(clients).keys(), places, async (position, slot) => {
    const found = await endSession(pool, slot, optionsOf(group, position));
    if (!found.ok && !scene.gate.isShut) failures.add('connect', found.reason);
    if (!found.ok) counts.failed++;
    else if (found.value) counts.removed++;
    counts.done++;
    scene.progress({
      group: group.group.name,
      what: 'sessions',
      done: counts.done,
      total: clients,
    });
  });
  await pool.end();
  const failed = counts.failed + (clients - counts.done);
  return { clients, removed: counts.removed, failed };
}

type Options = { readonly looks: ConnectOptions; readonly cleans: ConnectOptions | null };

function optionsOf(group: GroupClients, position: number): Options {
  // A will belongs to the load: nobody is to get one from here.
  const options = { ...group.connectOptions(position), will: undefined };
  const timeoutUs = CONNECT_TIMEOUT_US;
  if (group.target.version === '5') {
    // One message at a time: what lies queued is not wanted.
    const properties = { ...options.properties, sessionExpiryInterval: 0, receiveMaximum: 1 };
    return { looks: { ...options, cleanStart: false, properties, timeoutUs }, cleans: null };
  }
  const looks = { ...options, cleanStart: false, timeoutUs };
  return { looks, cleans: { ...looks, cleanStart: true } };
}

/** Gives whether there was a session. */
async function endSession(
  pool: AwaitedClients,
  slot: number,
  { looks, cleans }: Options,
): Promise<Outcome<boolean>> {
  const found = await pool.connect(slot, looks);
  pool.disconnect(slot);
  if (!found.ok || cleans === null) return found;
  const cleaned = await pool.connect(slot, cleans);
  pool.disconnect(slot);
  return cleaned.ok ? found : cleaned;
}
