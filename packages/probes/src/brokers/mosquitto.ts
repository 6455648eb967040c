import { type IClientOptions, type MqttClient, connect } from 'mqtt';
import { probeErrorOf } from '../error-reason.ts';
import { type Figure, type Probe, ProbeError, type Reading } from '../probe.ts';

const ROOT = '$SYS/broker/';
const UPTIME = `${ROOT}uptime`;
const SENT = `${ROOT}publish/messages/sent`;
const CONNECT_TIMEOUT_MS = 10_000;
/** A broker that says nothing any more is noticed after one and a half of it. */
const KEEP_ALIVE_S = 5;

type Told = readonly [figure: string, kind: Figure['kind'], unit: Figure['unit']];

/** `messages/received` and the like count packets of all kinds, which is nothing anybody asks for. */
const TOPICS: Readonly<Record<string, Told>> = {
  'clients/connected': ['connections', 'gauge', 'count'],
  'clients/total': ['sessions', 'gauge', 'count'],
  'subscriptions/count': ['subscriptions', 'gauge', 'count'],
  'retained messages/count': ['retained', 'gauge', 'count'],
  'store/messages/count': ['stored', 'gauge', 'count'],
  'publish/messages/received': ['messages_in', 'counter', 'count'],
  'publish/messages/sent': ['messages_out', 'counter', 'count'],
  'publish/messages/dropped': ['messages_dropped', 'counter', 'count'],
  'bytes/received': ['bytes_in', 'counter', 'bytes'],
  'bytes/sent': ['bytes_out', 'counter', 'bytes'],
  'heap/current': ['memory_used', 'gauge', 'bytes'],
};

/**
 * The `$SYS` topics of Mosquitto, over one connection that is kept: the broker sends a topic when its
 * value changed, so the last one stands. The probe's own connection, subscriptions and messages are
 * taken out of what the broker counts; of bytes they are a part.
 */
export class MosquittoProbe implements Probe {
  readonly #url: string;
  #session: SysSession | null = null;
  /** Messages that the broker has sent to sessions of this probe that are over. */
  #sentBefore = 0;
  #uptimeS = 0;

  constructor(url: string) {
    this.#url = url;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const cut = () => this.#drop();
    signal.addEventListener('abort', cut, { once: true });
    try {
      if (this.#session?.isLost === true) {
        this.#drop();
        throw new ProbeError('connection lost');
      }
      this.#session ??= new SysSession(this.#url);
      await this.#session.ready;
      return this.#figures(this.#session);
    } catch (error) {
      this.#drop();
      throw signal.aborted ? new ProbeError('timed out') : mqttError(error);
    } finally {
      signal.removeEventListener('abort', cut);
    }
  }

  async close(): Promise<void> {
    this.#drop();
  }

  #drop(): void {
    this.#sentBefore += this.#session?.received ?? 0;
    this.#session?.end();
    this.#session = null;
  }

  #figures({ values, receivedAtCount, uptimeS }: SysSession): Reading {
    // A broker that began again knows nothing of the sessions before.
    if (uptimeS < this.#uptimeS) this.#sentBefore = 0;
    this.#uptimeS = uptimeS;
    const figures = new Map<string, Figure>();
    for (const [topic, [figure, kind, unit]] of Object.entries(TOPICS)) {
      const value = values.get(ROOT + topic);
      if (value === undefined) continue;
      figures.set(figure, { value, kind, unit });
    }
    if (figures.size === 0) {
      const detail = 'sys_interval is 0 or has not passed yet, or the account may not read $SYS';
      throw new ProbeError('no $SYS topics', detail);
    }
    lower(figures, 'connections', 1);
    lower(figures, 'sessions', 1);
    lower(figures, 'subscriptions', WANTED.length + 1);
    lower(figures, 'messages_out', this.#sentBefore + receivedAtCount);
    return figures;
  }
}

const WANTED = Object.keys(TOPICS).map((topic) => ROOT + topic);

function lower(figures: Map<string, Figure>, name: string, by: number): void {
  const figure = figures.get(name);
  if (figure !== undefined) figures.set(name, { ...figure, value: Math.max(0, figure.value - by) });
}

/** One connection that listens to the topics. */
class SysSession {
  readonly values = new Map<string, number>();
  /** Once the retained value of every topic is here. */
  readonly ready: Promise<void>;
  received = 0;
  /** How many of its own messages the broker's count of messages sent had in it. */
  receivedAtCount = 0;
  /** Of the broker. */
  uptimeS = 0;
  isLost = false;
  readonly #client: MqttClient;

  constructor(address: string) {
    this.#client = connect(withoutAccount(address), optionsOf(address));
    this.#client.on('message', (topic, payload) => this.#take(topic, payload));
    this.ready = this.#begin();
    // Whoever reads is told; a session that is dropped before is nobody's failure.
    this.ready.catch(() => undefined);
  }

  end(): void {
    this.#client.end(true);
  }

  async #begin(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#client.once('connect', () => resolve());
      this.#client.on('error', reject);
      this.#client.on('close', () => {
        this.isLost = true;
        reject(new ProbeError('connection lost'));
      });
    });
    await this.#subscribe(WANTED);
    // Retained messages come in order: those of the first subscription are here before this one is granted.
    await this.#subscribe([UPTIME]);
  }

  async #subscribe(topics: readonly string[]): Promise<void> {
    const granted = await this.#client.subscribeAsync([...topics], { qos: 0 });
    if (granted.some(({ qos }) => qos === 128)) {
      throw new ProbeError('not allowed', 'the account may not subscribe to $SYS');
    }
  }

  #take(topic: string, payload: Buffer): void {
    this.received += 1;
    if (topic === SENT) this.receivedAtCount = this.received - 1;
    const text = payload.toString();
    // `9 seconds`.
    if (topic === UPTIME) this.uptimeS = Number.parseInt(text, 10) || 0;
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (Number.isFinite(value)) this.values.set(topic, value);
  }
}

/** Credentials come as options, so no error can quote them with the address. */
function optionsOf(address: string): IClientOptions {
  const { username, password } = new URL(address);
  return {
    clientId: `squall-probe-${Math.random().toString(36).slice(2, 10)}`,
    reconnectPeriod: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepalive: KEEP_ALIVE_S,
    resubscribe: false,
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  };
}

function withoutAccount(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}

/** Codes of CONNACK, 3.1.1 and 5 [MQTT 3.1.1, 3.2.2.3]. */
const REFUSALS: Readonly<Record<number, string>> = {
  2: 'client id refused',
  3: 'broker unavailable',
  4: 'account refused',
  5: 'account refused',
  134: 'account refused',
  135: 'account refused',
};

function mqttError(error: unknown): ProbeError {
  if (typeof error === 'object' && error !== null && 'code' in error) {
    const { code } = error;
    if (typeof code === 'number') return new ProbeError(REFUSALS[code] ?? `refused with ${code}`);
  }
  if (error instanceof Error && /connack timeout/i.test(error.message))
    return new ProbeError('timed out');
  if (error instanceof Error && /subscribe error/i.test(error.message))
    return new ProbeError('not allowed');
  return probeErrorOf(error);
}
