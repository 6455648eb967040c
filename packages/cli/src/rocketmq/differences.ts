import { formatCount } from '@squall/core/units';
import { TOOL_NAMES, type ToolKind } from './flags.ts';
import type { ToolTotals } from './tool-totals.ts';

/** What their tool would have counted otherwise in a run that came to these figures. */
export function differences(kind: ToolKind, totals: ToolTotals): string[] {
  const name = TOOL_NAMES[kind];
  if (kind === 'consumer') return [ofConsumer(name)];
  const { unconfirmed, sendFailed, responseFailed } = totals;
  const notes = [
    `${name} gives the mean of successful sends, in whole ms, and their maximum since its start; the report has the percentiles of each stage, in µs`,
  ];
  if (unconfirmed > 0) {
    const counts =
      kind === 'producer' ? 'as sent, without a word' : 'as failed, though they are stored';
    notes.push(
      `${name} would count ${formatCount(unconfirmed)} messages ${counts}: the disk or a slave did not confirm them in time (codes 10, 11, 12)`,
    );
  }
  if (sendFailed > 0) {
    notes.push(
      `${name} would have sent ${formatCount(sendFailed)} failed messages up to two times more, and counted the last answer only; here nothing is sent again`,
    );
  }
  if (responseFailed > 0) {
    notes.push(
      `${name} would have slept 3 s in a sender behind each of ${formatCount(responseFailed)} refusals, which lowers its rate; here senders go on`,
    );
  }
  if (kind === 'tproducer' && sendFailed + responseFailed > 0) {
    notes.push(`${name} of 4.x counts failures into Send TPS`);
  }
  return notes;
}

function ofConsumer(name: string): string {
  return `${name} gives means and maxima in whole ms; B2C mixes the clocks of producers and consumer, S2C those of broker and consumer, and with a backlog both measure the backlog (born_time, stored_time in the report)`;
}
