/**
 * Where the controller gets its time and its timers from. Everything that waits takes one of these,
 * so that tests can shorten a minute to nothing without patching globals.
 */
export interface TimeSource {
  /** µs of the host's CLOCK_MONOTONIC, which all processes of a host share. */
  monotonicUs(): number;
  /** ms since the epoch; only ever written down, never computed with. */
  utcMs(): number;
  /** Calls `action` once, not before `delayUs` from now. The returned function calls it off. */
  after(delayUs: number, action: () => void): () => void;
}

/** Node's longest timer; longer delays are taken in several steps. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemTime: TimeSource = {
  monotonicUs() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1_000_000 + nanoseconds / 1_000;
  },
  utcMs: () => Date.now(),
  after(delayUs, action) {
    const dueUs = systemTime.monotonicUs() + delayUs;
    let timer: NodeJS.Timeout;
    const arm = () => {
      const leftMs = Math.ceil((dueUs - systemTime.monotonicUs()) / 1_000);
      timer = setTimeout(fire, Math.min(Math.max(leftMs, 0), MAX_TIMER_MS));
    };
    // A Node timer can fire a little before its time: what is not due yet is armed again.
    const fire = () => (systemTime.monotonicUs() < dueUs ? arm() : action());
    arm();
    return () => clearTimeout(timer);
  },
};
