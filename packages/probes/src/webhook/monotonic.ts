/** µs of the host's CLOCK_MONOTONIC, as stamps have it. */
export function monotonicUs(): number {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1_000_000 + nanos / 1_000;
}
