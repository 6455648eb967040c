/** µs of the host's CLOCK_MONOTONIC, which all processes of a host share. A double holds it exactly. */
export function monotonicUs(): number {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1_000_000 + nanos / 1000;
}
