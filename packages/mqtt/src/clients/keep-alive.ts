import { byteAt, element } from '../codec/bytes.ts';
import { Reason } from './reasons.ts';
import { Phase, type SlotTable } from './slot-table.ts';

/** Pings go out this much before the keep-alive is over: the next look may come a scan later. */
const PING_EARLY_US = 300_000;
/** A PINGRESP that takes longer than this share of the keep-alive does not come any more. */
const PINGRESP_SHARE = 1.5;

/** Why the client has waited too long for the broker, or null. */
export function deadlineReason(table: SlotTable, slot: number, nowUs: number): string | null {
  if (byteAt(table.phase, slot) !== Phase.connected) {
    return nowUs >= element(table.connectDeadlineUs, slot) ? Reason.timedOut : null;
  }
  const pingSentUs = element(table.pingSentUs, slot);
  if (pingSentUs === 0) return null;
  const waitedUs = nowUs - pingSentUs;
  return waitedUs > PINGRESP_SHARE * element(table.keepAliveUs, slot) ? Reason.keepAlive : null;
}

/** Whether a connected client must say something for the broker not to give it up [MQTT-3.1.2-23]. */
export function pingIsDue(table: SlotTable, slot: number, nowUs: number): boolean {
  const keepAliveUs = element(table.keepAliveUs, slot);
  if (keepAliveUs === 0 || byteAt(table.phase, slot) !== Phase.connected) return false;
  return nowUs - element(table.lastSentUs, slot) >= keepAliveUs - PING_EARLY_US;
}
