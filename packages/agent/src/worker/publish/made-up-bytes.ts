import { Buffer } from 'node:buffer';

/** Bytes that no compression shrinks and that are the same in every run: a chain of checksums. */
export function incompressible(bytes: number): Uint8Array {
  const payload = new Uint8Array(bytes);
  let word = 0x9e3779b9;
  for (let place = 0; place < bytes; place++) {
    if (place % 4 === 0) word = Math.imul(word ^ (word >>> 15), 0x2c1b3c6d) + place;
    payload[place] = word >>> ((place % 4) * 8);
  }
  return payload;
}

/**
 * Words of the English language in an order that does not come again, the same in every run: deflate
 * makes about a quarter of it.
 */
export function compressible(bytes: number): Uint8Array {
  const payload = new Uint8Array(bytes);
  const choices = incompressible(bytes);
  let place = 0;
  let choice = 0;
  while (place < bytes) {
    const word = WORDS[(choices[choice] ?? 0) % WORDS.length] ?? SPACE;
    choice += 1;
    payload.set(word.subarray(0, bytes - place), place);
    place += word.length;
  }
  return payload;
}

const SPACE = Buffer.from(' ');
const WORDS = (
  'temperature pressure humidity voltage current frequency position velocity status alarm normal ' +
  'warning sensor device gateway measured reported received calibrated maintenance north south ' +
  'building machine conveyor turbine reservoir threshold'
)
  .split(' ')
  .map((word) => Buffer.from(`${word} `));
