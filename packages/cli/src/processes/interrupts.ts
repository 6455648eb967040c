/** What each further interrupt asks for, in this order. */
export interface InterruptSteps {
  /** End the load gracefully and write the report. */
  graceful(): void;
  /** Cut the load off; still a report. */
  hard(): void;
  /** Leave at once. */
  leave(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Listens to Ctrl-C and its relatives and takes one step further at each. Returns the function that
 * stops listening, after which a signal ends the process as usual and its exit code is lost: not to
 * be called before everything else has ended. Listening alone holds no process.
 */
export function onInterrupts(steps: InterruptSteps): () => void {
  let seen = 0;
  const listener = (): void => {
    seen++;
    if (seen === 1) steps.graceful();
    else if (seen === 2) steps.hard();
    else steps.leave();
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener);
  };
}

/**
 * For a child process: calls `leave` once when its parent is gone. No parent, no call. Whoever has
 * nothing else to do any more ends all the same: a listener makes Node hold the channel open, and
 * with it the process.
 */
export function onParentGone(leave: () => void): void {
  if (process.channel === undefined) return;
  process.once('disconnect', leave);
  process.channel.unref();
}
