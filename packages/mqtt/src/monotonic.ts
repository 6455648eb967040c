// Data path: read once a tick and once a socket read.
import { performance } from 'node:perf_hooks';

/**
 * `performance.now()` reads CLOCK_MONOTONIC too, but counts from the start of this process. The
 * difference to `process.hrtime()` is therefore one constant, taken once: of several pairs of
 * readings the tightest one counts.
 */
function originUs(): number {
  let best = 0;
  let bestGapUs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 16; i += 1) {
    const beforeUs = performance.now() * 1000;
    const [seconds, nanos] = process.hrtime();
    const afterUs = performance.now() * 1000;
    if (afterUs - beforeUs < bestGapUs) {
      bestGapUs = afterUs - beforeUs;
      best = seconds * 1e6 + nanos / 1e3 - (beforeUs + afterUs) / 2;
    }
  }
  return best;
}

const ORIGIN_US = originUs();

/**
 * Now on CLOCK_MONOTONIC, µs as a double (resolution well below 1 µs). All processes of a host
 * share this clock: the value equals `process.hrtime()` within a few µs.
 */
export function monotonicUs(): number {
  return performance.now() * 1000 + ORIGIN_US;
}
