import type { BusReceiver } from './bus.ts';

/** What `assign` tells an agent about its end of the bus. The address may hold a password. */
export type BusAssignment =
  | { readonly kind: 'link' }
  | { readonly kind: 'redis'; readonly url: string };

/** Controller side, of the whole process: gives every run a receiver of its own. */
export interface RunBus {
  readonly assignment: BusAssignment;
  /**
   * How long the last frames of a run may take after every agent has said `finished`, µs. It ends
   * early when all are in, so only a run whose bus is out of order ever waits for it.
   */
  readonly patienceUs: number;
  /**
   * How long the bus may be out of order before anybody notices, µs. Until then the absence of an
   * agent's frames says nothing about the agent, and nothing is judged without them.
   */
  readonly noticeUs: number;
  /**
   * Opens the way of a run's frames, before its agents get their shares.
   * @throws SquallError SQ_BUS where the bus cannot carry the run, and why.
   */
  open(run: BusRun): Promise<BusReceiver>;
  /** This process ends. What is on the bus of runs that are not over stays for who takes them up. */
  close(): Promise<void>;
}

export interface BusRun {
  readonly run: string;
  readonly agents: readonly BusAgent[];
  /** The agents' links: what the bus has to say to an agent goes there, whatever carries the frames. */
  readonly link: BusLink;
  /** Something happened to the bus that a person should know. */
  notice(notice: BusNotice): void;
}

export interface BusAgent {
  readonly agent: string;
  readonly epoch: number;
  /** What the checkpoint holds of this epoch; 0 for a run that begins. */
  readonly afterSeq: number;
}

export interface BusLink {
  /**
   * `frame_ack`: everything up to `seq` is in a checkpoint. False: there is no link now, so the agent
   * does not know; it is said again on the next one.
   */
  acknowledge(agent: string, epoch: number, seq: number): boolean;
  /** `frame_resend`: frames are missing in the row, so all that is unacknowledged goes again. */
  resend(agent: string, epoch: number): void;
}

/** What can happen to a bus that is more than the agents' links. Texts hold no secrets. */
export type BusNotice =
  /** It cannot be reached, or refuses to work. */
  | { readonly kind: 'interrupted'; readonly reason: string }
  /** It works again, `afterUs` after it stopped. */
  | { readonly kind: 'resumed'; readonly afterUs: number }
  /** Its server is another process than before. */
  | { readonly kind: 'restarted' }
  /** It may lose entries, or refuse them, because of how its memory is set or filled. */
  | { readonly kind: 'memory'; readonly reason: string }
  /** More entries of an agent than a healthy run ever has. */
  | { readonly kind: 'long'; readonly agent: string; readonly entries: number }
  /** A frame came whose predecessors were not there. The agent is asked for them. */
  | {
      readonly kind: 'gap';
      readonly agent: string;
      readonly seqFrom: number;
      readonly seqTo: number;
    };
