import type { RocketmqProbeSource } from '@squall/core/plan';
import {
  type Admin,
  type QueueLag,
  RocketmqClient,
  RocketmqError,
  type TlsSettings,
} from '@squall/rocketmq';
import { CounterSum } from '../counter-sum.ts';
import { probeErrorOf } from '../error-reason.ts';
import { type Figure, type Probe, ProbeError, type Reading } from '../probe.ts';

const REQUEST_TIMEOUT_MS = 5_000;
const US_PER_MS = 1_000;
/** What a broker answers to whatever went wrong in it. */
const SYSTEM_ERROR = 1;

type Info = Readonly<Record<string, string>>;

/** Offsets of topics, what groups have left to read, and what the brokers say of themselves. */
export class RocketmqProbe implements Probe {
  readonly #source: RocketmqProbeSource;
  readonly #sums = new Map<string, CounterSum>();
  #client: RocketmqClient | null = null;

  constructor(source: RocketmqProbeSource) {
    this.#source = source;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const { nameServers, acl, tls, topics, groups } = this.#source;
    try {
      this.#client ??= new RocketmqClient({
        nameServers,
        acl,
        tls: tls === null ? null : tlsOf(tls),
        readClock: readMonotonic,
        connectTimeoutMs: REQUEST_TIMEOUT_MS,
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
      });
      const { admin } = this.#client;
      const figures = new Map<string, Figure>();
      await this.#addBrokers(admin, figures);
      if (topics.length > 0) {
        await this.#addTopics(admin, figures).catch((error: unknown) => {
          if (isRoute(error)) throw new ProbeError('no such topic');
          throw error;
        });
      }
      if (groups.length > 0) await this.#addGroups(admin, figures);
      return figures;
    } catch (error) {
      if (signal.aborted) throw new ProbeError('timed out');
      throw rocketmqError(error);
    }
  }

  async close(): Promise<void> {
    await this.#client?.end();
    this.#client = null;
  }

  async #addBrokers(admin: Admin, figures: Map<string, Figure>): Promise<void> {
    const masters = [...(await admin.masters())];
    figures.set('brokers', { value: masters.length, kind: 'gauge', unit: 'count' });
    const infos: [broker: string, info: Info][] = [];
    for (const [name, address] of masters) {
      const info = await runtimeInfo(admin, address);
      // A sum without one of them would look like less load.
      if (info === null) return;
      infos.push([name, info]);
    }
    const sum = (...keys: string[]): number =>
      infos.reduce((total, [, info]) => total + (firstNumber(info, keys) ?? 0), 0);
    const gauges: readonly (readonly [string, number, Figure['unit']])[] = [
      ['put_rate', sum('putTps'), 'per_second'],
      ['get_rate', sum('getTransferredTps', 'getTransferedTps'), 'per_second'],
      ['send_queue', sum('sendThreadPoolQueueSize'), 'count'],
      ['dispatch_behind', sum('dispatchBehindBytes'), 'bytes'],
      ['disk_used', Math.max(0, ...infos.map(([, info]) => diskShare(info))), 'share'],
    ];
    for (const [figure, value, unit] of gauges) figures.set(figure, { value, kind: 'gauge', unit });
    const logs = infos.flatMap(([name, info]): [string, number][] => {
      const end = firstNumber(info, ['commitLogMaxOffset']);
      return end === null ? [] : [[name, end]];
    });
    const written = this.#sum('commit_log', new Map(logs));
    figures.set('commit_log', { value: written, kind: 'counter', unit: 'bytes' });
  }

  async #addTopics(admin: Admin, figures: Map<string, Figure>): Promise<void> {
    const parts = new Map<string, number>();
    for (const topic of this.#source.topics) {
      for (const [queue, { max }] of await admin.ranges(topic)) {
        parts.set(`${topic} ${queue.brokerName} ${queue.queueId}`, max);
      }
    }
    const value = this.#sum('stored', parts);
    figures.set('stored', { value, kind: 'counter', unit: 'count' });
  }

  async #addGroups(admin: Admin, figures: Map<string, Figure>): Promise<void> {
    const { groups, topics } = this.#source;
    const parts = new Map<string, number>();
    let lag = 0;
    for (const group of groups) {
      for (const queue of await admin.lag(group)) {
        // What failed is read again from a topic of the group's own.
        if (topics.length > 0 && !topics.includes(queue.topic)) continue;
        if (!isSound(queue)) continue;
        lag += Math.max(0, queue.brokerOffset - queue.consumerOffset);
        const part = `${group} ${queue.topic} ${queue.brokerName} ${queue.queueId}`;
        parts.set(part, queue.consumerOffset);
      }
    }
    const consumed = this.#sum('consumed', parts);
    figures.set('consumed', { value: consumed, kind: 'counter', unit: 'count' });
    figures.set('lag', { value: lag, kind: 'gauge', unit: 'count' });
  }

  #sum(figure: string, parts: ReadonlyMap<string, number>): number {
    const sum = this.#sums.get(figure) ?? new CounterSum();
    this.#sums.set(figure, sum);
    return sum.add(parts).sum;
  }
}

/** Null in the first seconds of a broker, which then fails over averages that it does not have yet. */
async function runtimeInfo(admin: Admin, address: string): Promise<Info | null> {
  try {
    return await admin.runtimeInfo(address);
  } catch (error) {
    if (error instanceof RocketmqError && error.responseCode === SYSTEM_ERROR) return null;
    throw error;
  }
}

/** From 0 to 1; some versions say more where the disk is not known. */
function diskShare(info: Info): number {
  const share = firstNumber(info, ['commitLogDiskRatio']) ?? 0;
  return share > 1 ? 0 : share;
}

function tlsOf({ verify, servername }: NonNullable<RocketmqProbeSource['tls']>): TlsSettings {
  return { rejectUnauthorized: verify, ...(servername === null ? {} : { servername }) };
}

function isSound({ brokerOffset, consumerOffset }: QueueLag): boolean {
  return Number.isFinite(brokerOffset) && Number.isFinite(consumerOffset);
}

/** Averages come as several numbers, that of the last 10 s first. */
function firstNumber(info: Info, keys: readonly string[]): number | null {
  for (const key of keys) {
    const [text = ''] = (info[key] ?? '').trim().split(/\s+/);
    if (text !== '' && Number.isFinite(Number(text))) return Number(text);
  }
  return null;
}

function readMonotonic(cell: Float64Array): void {
  cell[0] = performance.now() * US_PER_MS;
}

const REASONS: Readonly<Partial<Record<RocketmqError['code'], string>>> = {
  TIMEOUT: 'timed out',
  CLOSED: 'connection lost',
  CONNECT: 'no connection',
  ROUTE: 'no name server or broker',
};

function isRoute(error: unknown): boolean {
  return error instanceof RocketmqError && error.code === 'ROUTE';
}

/** Remarks of brokers quote accounts: only the number of the answer is told. */
function rocketmqError(error: unknown): ProbeError {
  if (!(error instanceof RocketmqError)) return probeErrorOf(error);
  const { code, responseCode, address } = error;
  const known = REASONS[code];
  if (known !== undefined) return new ProbeError(known, address);
  return new ProbeError(responseCode === undefined ? code : `answer ${responseCode}`, address);
}
