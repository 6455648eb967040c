import type { ToolKind } from './flags.ts';
import type { TimeSum, ToolTotals } from './tool-totals.ts';

/** Whose lines are written. */
export type OutputStyle = '4.8' | '4.9' | '5.x';
export const OUTPUT_STYLES: readonly OutputStyle[] = ['4.8', '4.9', '5.x'];

export interface LineOptions {
  readonly kind: ToolKind;
  readonly style: OutputStyle;
  /** Messages of one request. */
  readonly batch: number;
}

/** What one line is made of: two moments, and the longest times, µs. */
export interface LineFigures {
  readonly first: ToolTotals;
  readonly last: ToolTotals;
  readonly now: Date;
  readonly maxUs: {
    readonly roundTrip: number;
    readonly bornToReceived: number;
    readonly storedToReceived: number;
  };
}

type Field = readonly [label: string, value: string];

/** A line as their tool writes it at each report. */
export function officialLine(options: LineOptions, figures: LineFigures): string {
  const { kind, style } = options;
  const time: Field = ['Current Time', timeText(figures.now, options)];
  return written([time, ...fieldsOf(options, figures)], style === '5.x', kind === 'tproducer');
}

/** The last line of a producer that was given a quantity. */
export function completeLine(options: LineOptions, figures: LineFigures): string {
  const { last } = figures;
  const total: Field = ['[Complete] Send Total', String(last.done + last.sendFailed)];
  return written([total, ...fieldsOf(options, figures)], options.style === '5.x', false);
}

function fieldsOf(options: LineOptions, figures: LineFigures): Field[] {
  switch (options.kind) {
    case 'producer':
      return producerFields(figures);
    case 'batchproducer':
      return batchFields(figures, options.batch);
    case 'tproducer':
      return transactionFields(figures, options.style);
    case 'consumer':
      return consumerFields(figures, options.style);
  }
}

/** In 4.x the transaction producer has no blank behind its colons but for the counts. */
function written(fields: readonly Field[], bars: boolean, tight: boolean): string {
  const parts = fields.map(([label, value]) =>
    tight && !bars && /TPS|RT/.test(label) ? `${label}:${value}` : `${label}: ${value}`,
  );
  return parts.join(bars ? ' | ' : ' ');
}

function producerFields(figures: LineFigures): Field[] {
  const { last, maxUs } = figures;
  return [
    ['Send TPS', String(perSecond(figures, doneIn(figures)))],
    ['Max RT(ms)', whole(maxUs.roundTrip)],
    ['Average RT(ms)', meanMs(figures, 'roundTrip').toFixed(3).padStart(7)],
    ['Send Failed', String(last.sendFailed)],
    ['Response Failed', String(last.responseFailed)],
  ];
}

function batchFields(figures: LineFigures, batch: number): Field[] {
  const { last, maxUs } = figures;
  const mean = meanMs(figures, 'roundTrip');
  const failed = last.sendFailed + last.responseFailed;
  return [
    ['Send TPS', String(perSecond(figures, doneIn(figures) / batch))],
    ['Send MPS', String(perSecond(figures, doneIn(figures)))],
    ['Max RT(ms)', whole(maxUs.roundTrip)],
    ['Average RT(ms)', mean.toFixed(3).padStart(7)],
    ['Average Message RT(ms)', (mean / batch).toFixed(3).padStart(7)],
    ['Send Failed', String(Math.ceil(failed / batch))],
    ['Send Message Failed', String(failed)],
  ];
}

function transactionFields(figures: LineFigures, style: OutputStyle): Field[] {
  const { first, last, maxUs } = figures;
  const failed = failedOf(last) - failedOf(first);
  // Up to 4.9 failures count as sent there.
  const sent = doneIn(figures) + (style === '5.x' ? 0 : failed);
  const [check, unexpected, duplicated] =
    style === '5.x'
      ? (['Check', 'UnexpectedCheck', 'DuplicatedCheck'] as const)
      : (['check', 'unexpectedCheck', 'duplicatedCheck'] as const);
  return [
    ['Send TPS', String(perSecond(figures, sent)).padStart(5)],
    ['Max RT(ms)', whole(maxUs.roundTrip).padStart(5)],
    ['AVG RT(ms)', meanMs(figures, 'roundTrip').toFixed(1)],
    ['Send Failed', String(failed)],
    [check, String(last.checks - first.checks)],
    // Told apart nowhere here: what is decided is never decided again, whoever asks.
    [unexpected, NOT_COUNTED],
    [duplicated, NOT_COUNTED],
  ];
}

const NOT_COUNTED = '-';

function consumerFields(figures: LineFigures, style: OutputStyle): Field[] {
  const { last, maxUs } = figures;
  const tps = String(perSecond(figures, doneIn(figures)));
  const failed = String(last.consumeFailed);
  const times: Field[] = [
    ['AVG(B2C) RT(ms)', meanMs(figures, 'bornToReceived').toFixed(3).padStart(7)],
    ['AVG(S2C) RT(ms)', meanMs(figures, 'storedToReceived').toFixed(3).padStart(7)],
    ['MAX(B2C) RT(ms)', whole(maxUs.bornToReceived)],
    ['MAX(S2C) RT(ms)', whole(maxUs.storedToReceived)],
  ];
  if (style === '5.x') return [['Consume TPS', tps], ...times, ['Consume Fail', failed]];
  return [['TPS', tps], ['FAIL', failed], ...times];
}

function failedOf({ sendFailed, responseFailed }: ToolTotals): number {
  return sendFailed + responseFailed;
}

function doneIn({ first, last }: LineFigures): number {
  return last.done - first.done;
}

function perSecond({ first, last }: LineFigures, count: number): number {
  const us = last.atUs - first.atUs;
  return us <= 0 ? 0 : Math.floor((count * 1_000_000) / us);
}

/** Of what was recorded between the two moments; 0 where nothing was. */
function meanMs(
  { first, last }: LineFigures,
  of: 'roundTrip' | 'bornToReceived' | 'storedToReceived',
): number {
  const [before, after]: [TimeSum, TimeSum] = [first[of], last[of]];
  const count = after.count - before.count;
  return count === 0 ? 0 : (after.sumUs - before.sumUs) / count / 1_000;
}

function whole(us: number): string {
  return String(Math.round(us / 1_000));
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** ms since the epoch in 4.8, and in 4.9 but for the producer; else local time. */
function timeText(now: Date, { kind, style }: LineOptions): string {
  if (style === '4.8' || (style === '4.9' && kind !== 'producer')) return String(now.getTime());
  const day = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join('-');
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map((part) => two(part));
  return `${day} ${time.join(':')},${String(now.getMilliseconds()).padStart(3, '0')}`;
}
