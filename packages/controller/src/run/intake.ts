import type { BusReceiver } from '@squall/core/bus';
import type { TimeSource } from '../time-source.ts';
import type { Acknowledger } from './acknowledger.ts';
import type { Measurements } from './measurements.ts';
import type { Roster } from './roster.ts';

/** Rhythm in which late windows are closed and the live view is fed. */
const TICK_US = 1_000_000;

export interface IntakeScene {
  readonly time: TimeSource;
  readonly bus: BusReceiver;
  readonly acknowledger: Acknowledger;
  readonly roster: Roster;
  readonly measurements: Measurements;
  /** Figures changed. */
  changed(): void;
  /** A second has passed. */
  tick(): void;
}

/** Brings frames from the bus into the measurements, acknowledges them, and keeps the rhythm. */
export class Intake {
  readonly #scene: IntakeScene;
  #stopTimer: () => void;
  #stopped = false;

  /** `fromUs`: the moment of the first tick. */
  constructor(scene: IntakeScene, fromUs: number) {
    this.#scene = scene;
    scene.bus.onFrame((frame) => this.#take(frame.agent, frame.bytes));
    this.#stopTimer = this.#arm(fromUs + TICK_US);
  }

  stop(): void {
    this.#stopped = true;
    this.#stopTimer();
  }

  #take(id: string, bytes: Uint8Array): void {
    const { acknowledger, measurements, roster } = this.#scene;
    if (this.#stopped) return;
    const agent = roster.agents.find((candidate) => candidate.id === id);
    // What an agent measured before it was lost, or before it left too early, is true all the same.
    if (agent === undefined) return;
    if (measurements.accept(agent, bytes)) acknowledger.folded(measurements.position(agent));
    this.#scene.changed();
  }

  #arm(dueUs: number): () => void {
    const { time } = this.#scene;
    return time.after(Math.max(0, dueUs - time.monotonicUs()), () => {
      this.#scene.measurements.close();
      this.#scene.changed();
      this.#scene.tick();
      // From the plan of ticks, not from now, so that the rhythm does not drift into the seconds.
      this.#stopTimer = this.#arm(Math.max(dueUs + TICK_US, time.monotonicUs()));
    });
  }
}
