/** What keeps a client from taking a message now; `OPEN` where nothing does. */
export const OPEN = 0;
export const NOT_CONNECTED = 1;
/** The client finally failed: it will take nothing any more. */
export const GONE = 2;
export const WINDOW_FULL = 3;
export const BACKPRESSURE = 4;

/**
 * Where the schedule of a stream hands its messages to: the clients of one group, by position. It
 * books `sent` and everything after it; the schedule books what comes before.
 */
export interface Outlet {
  /** One of the constants above. */
  refusal(position: number): number;
  /**
   * Hands the client's next message to its socket, at the worker's moment. Called only where
   * `refusal` says `OPEN`. False where the message could not be made: the outlet has booked that.
   * `dueUs[0]` is its due time, µs: in a cell, since a double passed on would be boxed.
   */
  hand(position: number, dueUs: Float64Array): boolean;
  /** Books `n` messages of a client that were due and will never be sent. */
  drop(position: number, reason: string, n: number): void;
}
