import { at } from './element.ts';
import { MAX_ROW_WORDS } from './limits.ts';
import { RUN_ONES, RUN_WORDS, RUN_ZEROS } from './page.ts';

const ALL_ONES = 0xffff_ffff;
const FORMS = 4;

/** Words of bits as they stand in a page: long runs of zeros and ones are said by their length. */
export function runsOf(words: Uint32Array, from: number, to: number): number[] {
  const runs: number[] = [];
  let place = from;
  while (place < to) {
    const form = formOf(at(words, place));
    let end = place + 1;
    while (end < to && formOf(at(words, end)) === form) end += 1;
    runs.push((end - place) * FORMS + form);
    if (form === RUN_WORDS) for (let k = place; k < end; k++) runs.push(at(words, k));
    place = end;
  }
  return runs;
}

/**
 * Reads runs `from … to` of a row and gives each word that is not 0 with its place.
 * @returns how many words there are, or -1 where the runs are not whole or more than a row has.
 */
export function readRuns(
  {
    rows,
    from,
    to,
  }: { readonly rows: readonly number[]; readonly from: number; readonly to: number },
  word: (place: number, value: number) => void,
): number {
  let words = 0;
  let place = from;
  while (place < to) {
    const run = at(rows, place);
    const form = run % FORMS;
    const length = Math.floor(run / FORMS);
    place += 1;
    if (form > RUN_WORDS || length === 0 || words + length > MAX_ROW_WORDS) return -1;
    if (form === RUN_WORDS && place + length > to) return -1;
    if (form !== RUN_ZEROS) {
      for (let k = 0; k < length; k++)
        word(words + k, form === RUN_ONES ? ALL_ONES : at(rows, place + k));
    }
    if (form === RUN_WORDS) place += length;
    words += length;
  }
  return words;
}

function formOf(word: number): number {
  if (word === 0) return RUN_ZEROS;
  return word === ALL_ONES ? RUN_ONES : RUN_WORDS;
}
