import type { BusSender } from '@squall/core/bus';
import type { FromController } from '@squall/core/control';
import { SquallError } from '@squall/core/errors';
import { parseRedisAddress, RedisBusSender } from '@squall/redis-bus';
import type { Link } from './link.ts';
import { LinkBusSender } from './link-bus-sender.ts';

/** The agent's end of whatever bus the controller names. */
export interface BusEnd extends BusSender {
  /** The controller's `frame_ack`, which comes over the link in any case. */
  acknowledged(seq: number): void;
}

export interface BusEndOptions {
  readonly assign: Extract<FromController, { type: 'assign' }>;
  readonly link: Link;
  /** The bus had taken so many frames and has lost them; they are sent again. */
  lost(frames: number): void;
}

/** @throws SquallError SQ_USAGE for an address of Redis that is none. */
export function busEndFor(options: BusEndOptions): BusEnd {
  const { bus, epoch, run, share } = options.assign;
  if (bus.kind === 'link') return new LinkBusSender(options.link);
  return new RedisBusSender({
    address: parseRedisAddress(bus.url),
    run,
    epoch,
    agent: share.agent,
    lost: (frames) => options.lost(frames),
  });
}

/** Why frames could not be sent from here, or null: asked before the agent says that it is ready. */
export async function troubleOf(end: BusEnd): Promise<string | null> {
  if (!(end instanceof RedisBusSender)) return null;
  try {
    await end.prepare();
    return null;
  } catch (error) {
    if (!(error instanceof SquallError)) throw error;
    return error.hint === undefined ? error.message : `${error.message}; ${error.hint}`;
  }
}
