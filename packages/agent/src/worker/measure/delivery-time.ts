// Data path
import { DUE, type StampReader } from '@squall/core/stamp';
import type { PeerClocks } from '../clients/peer-clocks.ts';
import type { Meter } from './meter.ts';
import { DELIVERY_TIME } from './series.ts';

/** The clocks that a receiver knows. */
export interface KnownClocks {
  /** Of this host. */
  readonly clockDomain: number;
  /** Of hosts with other clocks. */
  readonly peers: PeerClocks;
}

/**
 * Records when a message came after it was due, by its stamp. Moments of one clock are subtracted as
 * they are; those of another host's are converted first, and those of an unknown one are left out.
 */
export function recordDelivery(meter: Meter, stamp: StampReader, clocks: KnownClocks): void {
  const { clockDomain, peers } = clocks;
  if (stamp.clockDomain === clockDomain) {
    meter.elapsed(DELIVERY_TIME, stamp.timesUs, DUE);
  } else if (peers.convert(stamp.clockDomain, stamp.timesUs, DUE)) {
    meter.elapsed(DELIVERY_TIME, peers.convertedUs, 0);
    meter.widen(DELIVERY_TIME, peers.boundUs);
  }
}
