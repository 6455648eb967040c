import { type Figure, ProbeError, type Reading } from '../probe.ts';

/** The one number of an answer of one row and one column. @throws ProbeError */
export function onlyNumber(rows: readonly (readonly unknown[])[]): Reading {
  const [row] = rows;
  if (rows.length !== 1 || row?.length !== 1) {
    throw new ProbeError('not one number', `the query gave ${rows.length} rows`);
  }
  const [value] = row;
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) {
    throw new ProbeError('not a number', 'the query gave something else');
  }
  const figure: Figure = { value: number, kind: 'counter', unit: 'count' };
  return new Map([['value', figure]]);
}
