// Data path: read once a tick and once a socket read.
import { performance } from 'node:perf_hooks';

/**
 * Which reading V8 compiles to one that allocates nothing (measured): up to Node 22 it is
 * `hrtime`, destructured at once, so that its array is never built (36 ns; `performance.now` takes
 * 46 ns and 16 bytes). From Node 24 on it is `performance.now` (35 ns; `hrtime` 51 ns and 32 bytes).
 */
const HRTIME_IS_LEAN = Number.parseInt(process.versions.node, 10) < 23;

const { hrtime } = process;

/** What `performance.now()` lacks to `hrtime`, both of one clock; the tightest of some pairs, µs. */
const ORIGIN_US = originUs();

/**
 * Now on CLOCK_MONOTONIC, µs as a double (finer than 1 µs). All processes of a host share this
 * clock: it is that of `process.hrtime()`. A double that leaves a function which V8 does not inline
 * costs 16 bytes; where that counts, use `readMonotonicUs`.
 */
export function monotonicUs(): number {
  if (!HRTIME_IS_LEAN) return performance.now() * 1e3 + ORIGIN_US;
  const [seconds, nanos] = hrtime();
  return seconds * 1e6 + nanos / 1e3;
}

/** Like `monotonicUs`, into `cell[0]`: allocates nothing, whoever calls it. */
export function readMonotonicUs(cell: Float64Array): void {
  if (!HRTIME_IS_LEAN) {
    cell[0] = performance.now() * 1e3 + ORIGIN_US;
    return;
  }
  const [seconds, nanos] = hrtime();
  cell[0] = seconds * 1e6 + nanos / 1e3;
}

function originUs(): number {
  let best = 0;
  let tightestUs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 16; i += 1) {
    const beforeUs = performance.now() * 1e3;
    const [seconds, nanos] = hrtime();
    const afterUs = performance.now() * 1e3;
    if (afterUs - beforeUs < tightestUs) {
      tightestUs = afterUs - beforeUs;
      best = seconds * 1e6 + nanos / 1e3 - (beforeUs + afterUs) / 2;
    }
  }
  return best;
}
