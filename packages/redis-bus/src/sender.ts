import type { BusSender, EncodedFrame } from '@squall/core/bus';
import type { RedisAddress } from './address.ts';
import { Connection } from './connection.ts';
import { busError } from './failure.ts';
import { REDIS_LIMITS, type RedisLimits } from './limits.ts';
import { APPEND, RENEW } from './scripts.ts';
import { streamKey } from './stream-key.ts';

export interface RedisSenderOptions {
  readonly address: RedisAddress;
  readonly run: string;
  readonly agent: string;
  readonly epoch: number;
  /** Called with the number of frames that Redis had taken and then lost; they are sent again. */
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
  #connection: Connection | null = null;
  /** The highest sequence that a checkpoint is known to cover. */
  #acknowledgedSeq = 0;
  /** The highest that the stream had. */
  #takenSeq = 0;
  #closed = false;

  constructor(options: RedisSenderOptions) {
    this.#options = options;
    this.#limits = { ...REDIS_LIMITS, ...options.limits };
    this.#key = streamKey(options.run, options.agent);
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
        this.#takenSeq = Math.max(this.#takenSeq, seq);
        return seq;
      case 'lost':
        return this.#lose(seq);
      case 'absent':
        await this.#renew();
        return this.#acknowledgedSeq;
      case 'superseded':
        throw busError(this.#options.address, 'another process writes for this agent already');
      case 'error':
        // What went in before the error is taken; the rest is offered again and finds the error anew.
        if (seq >= first.seqTo) return seq;
        throw busError(this.#options.address, `it refuses to take measurements (${reason ?? ''})`);
    }
  }

  onAcknowledged(listener: (seq: number) => void): void {
    this.#listeners.push(listener);
  }

  /** The controller's `frame_ack`, which comes over the agent's link. */
  acknowledged(seq: number): void {
    this.#acknowledgedSeq = Math.max(this.#acknowledgedSeq, seq);
    for (const listener of this.#listeners) listener(seq);
  }

  close(): Promise<void> {
    this.#closed = true;
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

  async #renew(): Promise<void> {
    const { epoch } = this.#options;
    const connection = await this.#connected();
    await connection.ask((client) => client.eval(RENEW, 1, this.#key, epoch, this.#limits.ttlMs));
  }

  /** What the stream had and has no more, without what nobody needs any more. */
  #lose(seq: number): number {
    const keptSeq = Math.max(seq, this.#acknowledgedSeq);
    const frames = this.#takenSeq - keptSeq;
    this.#takenSeq = keptSeq;
    if (frames > 0) this.#options.lost?.(frames);
    return keptSeq;
  }

  async #connected(): Promise<Connection> {
    const { address, agent } = this.#options;
    if (this.#closed) throw busError(address, 'the agent has left the run');
    if (this.#connection?.isOpen === true) return this.#connection;
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
