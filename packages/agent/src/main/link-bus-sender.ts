import type { BusSender, EncodedFrame } from '@squall/core/bus';
import { SquallError } from '@squall/core/errors';
import type { Link } from './link.ts';

/**
 * The link bus, sender's side: each frame is one binary message on the agent's own link, and the
 * controller's `frame_ack` is the checkpoint. What was written into a link that was then cut may
 * never have arrived, so the owner sends everything unacknowledged again once the link is back.
 */
export class LinkBusSender implements BusSender {
  readonly #link: Pick<Link, 'sendBinary' | 'isUp'>;
  readonly #listeners: ((seq: number) => void)[] = [];
  #closed = false;

  constructor(link: Pick<Link, 'sendBinary' | 'isUp'>) {
    this.#link = link;
  }

  async send(frames: readonly EncodedFrame[]): Promise<number> {
    if (this.#closed || !this.#link.isUp) {
      throw new SquallError('SQ_CONTROL', 'there is no link to the controller');
    }
    const last = frames.at(-1);
    if (last === undefined) throw new RangeError('a batch has at least one frame');
    // One after the other in the socket's own order; the last one's callback covers them all.
    await Promise.all(frames.map((frame) => this.#link.sendBinary(frame.bytes)));
    return last.seqTo;
  }

  onAcknowledged(listener: (seq: number) => void): void {
    this.#listeners.push(listener);
  }

  /** The controller's `frame_ack`. */
  acknowledged(seq: number): void {
    for (const listener of this.#listeners) listener(seq);
  }

  close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }
}
