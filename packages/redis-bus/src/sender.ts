import type { BusSender, EncodedFrame } from '@squall/core/bus';
import { SquallError } from '@squall/core/errors';
import type { RedisAddress } from './address.ts';
import { Connection } from './connection.ts';
import { busError, busFailure } from './failure.ts';
import { REDIS_LIMITS, type RedisLimits } from './limits.ts';
import { APPEND, COUNT_ABSENT, RENEW } from './scripts.ts';
import { entryId, streamKey } from './stream-key.ts';

export interface RedisSenderOptions {
  readonly address: RedisAddress;
  readonly run: string;
  readonly agent: string;
  readonly epoch: number;
  /**
   * Redis had taken so many frames and has lost them. The owner sends again all that no checkpoint
   * has, unless a `send` that is under way tells it to.
   */
  lost?(frames: number): void;
  readonly limits?: Partial<RedisLimits>;
}

type Answer = readonly [
  word: 'taken' | 'lost' | 'absent' | 'superseded' | 'error',
  seq: number,
  reason?: string,
];

/**
 * The Redis bus, an agent's side: appends the frames of one epoch to the agent's stream, each exactly
 * behind its predecessor, and tells from the stream itself what is there. Connections are dialled
 * when they are needed, one at a time.
 */
export class RedisBusSender implements BusSender {
  readonly #options: RedisSenderOptions;
  readonly #limits: RedisLimits;
  readonly #key: string;
  readonly #listeners: ((seq: number) => void)[] = [];
  readonly #watch: NodeJS.Timeout;
  #connection: Connection | null = null;
  #dialling: Promise<Connection> | null = null;
  /** The highest sequence that a checkpoint is known to cover. */
  #acknowledgedSeq = 0;
  /** What the stream had taken of the rest: the last sequence of each frame, rising. */
  #taken: number[] = [];
  #closed = false;

  constructor(options: RedisSenderOptions) {
    this.#options = options;
    this.#limits = { ...REDIS_LIMITS, ...options.limits };
    this.#key = streamKey(options.run, options.agent);
    this.#watch = setInterval(() => void this.#verify(), this.#limits.verifyMs);
    this.#watch.unref();
  }

  /**
   * Shows that the server can be reached and lets this agent write.
   * @throws SquallError SQ_BUS
   */
  async prepare(): Promise<void> {
    await this.#append([]);
  }

  async send(frames: readonly EncodedFrame[]): Promise<number> {
    const first = frames[0];
    if (first === undefined) throw new RangeError('a batch has at least one frame');
    const [word, seq, reason] = await this.#append(frames);
    switch (word) {
      case 'taken':
        return this.#take(frames, seq);
      case 'lost':
        this.#lose(this.#taken.filter((taken) => taken > seq).length);
        return Math.max(seq, this.#acknowledgedSeq);
      case 'absent':
        await this.#renew();
        return this.#acknowledgedSeq;
      case 'superseded':
        throw busError(this.#options.address, 'another process writes for this agent already');
      case 'error':
        // What went in before the error is taken; the rest is offered again and finds the error anew.
        if (seq >= first.seqTo) return this.#take(frames, seq);
        throw busFailure(this.#options.address, reason ?? 'it refused a frame');
    }
  }

  onAcknowledged(listener: (seq: number) => void): void {
    this.#listeners.push(listener);
  }

  /** The controller's `frame_ack`, which comes over the agent's link. */
  acknowledged(seq: number): void {
    this.#acknowledgedSeq = Math.max(this.#acknowledgedSeq, seq);
    this.#taken = this.#taken.filter((taken) => taken > this.#acknowledgedSeq);
    for (const listener of this.#listeners) listener(seq);
  }

  close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    this.#connection?.close();
    return Promise.resolve();
  }

  async #append(frames: readonly EncodedFrame[]): Promise<Answer> {
    const { address, epoch } = this.#options;
    const connection = await this.#connected();
    const parts = frames.flatMap(({ bytes, seqFrom, seqTo }) => [seqFrom, seqTo, asBuffer(bytes)]);
    const answer = await connection.ask((client) =>
      client.eval(APPEND, 1, this.#key, epoch, this.#acknowledgedSeq, this.#limits.ttlMs, ...parts),
    );
    if (isAnswer(answer)) return answer;
    throw busError(address, 'it gave an answer that is not one');
  }

  /** The stream has the frames up to `seq`. */
  #take(frames: readonly EncodedFrame[], seq: number): number {
    const newestSeq = this.#taken.at(-1) ?? 0;
    for (const { seqTo } of frames) {
      if (seqTo <= seq && seqTo > newestSeq && seqTo > this.#acknowledgedSeq) {
        this.#taken.push(seqTo);
      }
    }
    return seq;
  }

  /** The owner sends again whatever no checkpoint has. */
  #lose(frames: number): void {
    this.#taken = [];
    if (frames > 0) this.#options.lost?.(frames);
  }

  /** Looks whether what was taken is there still. A server that is away is the next batch's to find. */
  async #verify(): Promise<void> {
    const expected = this.#taken;
    if (expected.length === 0) return;
    try {
      const ids = expected.map((seq) => entryId(this.#options.epoch, seq));
      const connection = await this.#connected();
      const absent = await connection.ask((client) =>
        client.eval(COUNT_ABSENT, 1, this.#key, ...ids),
      );
      // What was acknowledged meanwhile may have been trimmed; what was lost meanwhile is told.
      if (absent !== 0 && expected === this.#taken) this.#lose(Number(absent));
    } catch (error) {
      if (!(error instanceof SquallError)) throw error;
    }
  }

  async #renew(): Promise<void> {
    const { epoch } = this.#options;
    const connection = await this.#connected();
    await connection.ask((client) => client.eval(RENEW, 1, this.#key, epoch, this.#limits.ttlMs));
    this.#taken = [];
  }

  #connected(): Promise<Connection> {
    if (this.#connection?.isOpen === true) return Promise.resolve(this.#connection);
    this.#dialling ??= this.#dial().finally(() => {
      this.#dialling = null;
    });
    return this.#dialling;
  }

  async #dial(): Promise<Connection> {
    const { address, agent } = this.#options;
    if (this.#closed) throw busError(address, 'the agent has left the run');
    const name = `squall-agent-${agent}`;
    const connection = await Connection.dial({ address, name, limits: this.#limits });
    if (this.#closed) connection.close();
    this.#connection = connection;
    return connection;
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isAnswer(value: unknown): value is Answer {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number';
}
