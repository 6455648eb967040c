/**
 * What decides when a stage's messages of one stream go out: the open loop (`PacedSchedule`) or the
 * closed one (`ClosedLoop`). Both book `planned`, `scheduled` and `dropped`.
 */
export interface Feed {
  /** Due messages that wait for their client. */
  readonly waiting: number;
  /** Whether every message of the stage was picked up. */
  readonly exhausted: boolean;
  /** When there is something to do next, µs of CLOCK_MONOTONIC; Infinity where nothing is left. */
  nextUs(): number;
  /** Picks up what is due before `beforeUs`. */
  pick(beforeUs: number): void;
  /** Drops what has waited longer than the backlog. */
  expire(): void;
  /** The client may have room again: hands over what waits for it. */
  pump(position: number): void;
  /** The client finally failed: what waits for it is dropped at once. */
  giveUp(position: number): void;
  /** The stage ends, `lengthUs` after the feed's own clock. */
  endAfter(lengthUs: number): void;
  /** The drain is over: drops what still waits. */
  dropWaiting(): void;
  /** The load was cut off: forgets what waits and gives its number. */
  abandon(): number;
}
