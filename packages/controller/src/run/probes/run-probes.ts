import {
  type BalanceResult,
  BalanceWatch,
  type BalanceWatchState,
  type Queue,
  queuesOf,
} from '@squall/core/balance';
import type { RunAggregate } from '@squall/core/metrics';
import type { Plan } from '@squall/core/plan';
import {
  ProbeBook,
  type ProbeBookState,
  ProbeJudge,
  type ProbeJudgeState,
  type ProbeReading,
} from '@squall/core/probes';
import type { AbortDecision, ThresholdResult } from '@squall/core/thresholds';
import { FIRST_TRIES, ProbeKeeper, type ProbeScene, type Reading } from '@squall/probes';
import type { TimeSource } from '../../time-source.ts';
import type { StageRecord } from '../stage-walk.ts';
import { HURRY, type Waiter } from '../waiter.ts';
import { openProbes } from './open-probes.ts';

/** Between two looks at the sides of a balance that do not agree yet. */
const LOOK_AGAIN_US = 500_000;
/** Beyond the time-outs of the readings before the load: the pauses between them. */
const FIRST_MARGIN_US = 10_000_000;

export interface RunProbesScene {
  readonly plan: Plan;
  /** Values of `{{env.NAME}}`. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly time: TimeSource;
  readonly waiter: Waiter;
  warning(text: string): void;
  readonly outside: ProbeScene;
}

/** What there is of the run once T is known. */
interface Underway {
  /** T, µs of the monotonic clock. */
  readonly startUs: number;
  readonly aggregate: RunAggregate;
  /** The stage that runs or ran last. */
  stage(): StageRecord | null;
  /** A reading came in. */
  changed(): void;
}

export interface SavedProbes {
  readonly book: ProbeBookState;
  readonly judge: ProbeJudgeState;
  readonly balance: BalanceWatchState | null;
}

/**
 * The probes of one run: read before the load, at their intervals, and until the sides of the plan's
 * balance agree. Whatever fails here is counted and told, and never stands in the way of the load.
 */
export class RunProbes {
  readonly #scene: RunProbesScene;
  readonly #keeper: ProbeKeeper;
  readonly #judge: ProbeJudge;
  readonly #saved: SavedProbes | undefined;
  readonly book: ProbeBook;
  readonly #queues: readonly Queue[];
  #balance: BalanceWatch | null = null;
  #underway: Underway | null = null;
  /** Of before T: where they stand on the run's timeline is known only then. */
  readonly #early: { readonly probe: string; readonly figures: Reading; readonly us: number }[] =
    [];

  constructor(scene: RunProbesScene, saved?: SavedProbes) {
    const { outside, plan, secrets, time } = scene;
    this.#scene = scene;
    this.#saved = saved;
    this.book = new ProbeBook(
      plan.probes.map(({ name }) => name),
      saved?.book,
    );
    this.#queues = queuesOf(plan.probes);
    this.#judge = new ProbeJudge(plan, saved?.judge);
    this.#keeper = new ProbeKeeper({
      probes: openProbes(plan.probes, { ...outside, secrets }),
      time,
      listener: {
        reading: (probe, figures) => this.#take(probe, figures),
        failed: (probe, reason, detail) => this.book.failed(probe, reason, detail),
        skipped: (probe) => this.book.skipped(probe),
      },
    });
  }

  toJSON(): SavedProbes {
    return {
      book: this.book.toJSON(),
      judge: this.#judge.toJSON(),
      balance: this.#balance?.toJSON() ?? null,
    };
  }

  /** Reads all of them before there is load: counters count from there. */
  async first(): Promise<void> {
    if (this.#scene.plan.probes.length === 0) return;
    await this.#firstReadings();
    for (const [name, { errors, lastError }] of this.book.records()) {
      const isRead = this.#early.some(({ probe }) => probe === name);
      if (errors > 0 && !isRead) {
        this.#scene.warning(`probe ${name} could not be read before the load: ${lastError}`);
      }
    }
  }

  /** A probe that hangs keeps nobody from stopping the run before it began. */
  async #firstReadings(): Promise<void> {
    const { plan, time, waiter } = this.#scene;
    let isDone = false;
    const read = async () => {
      await this.#keeper.first();
      isDone = true;
      waiter.poke();
    };
    void read();
    const longestUs = Math.max(...plan.probes.map(({ timeoutUs }) => timeoutUs));
    await waiter.wait({
      until: () => isDone,
      deadlineUs: time.monotonicUs() + FIRST_TRIES * longestUs + FIRST_MARGIN_US,
      yieldsTo: HURRY.graceful,
    });
  }

  begin(underway: Underway): void {
    this.#underway = underway;
    for (const { probe, figures, us } of this.#early.splice(0)) this.#enter(probe, figures, us);
    const { balance } = this.#scene.plan;
    if (balance !== null) {
      const facts = { aggregate: underway.aggregate, probes: this.book, queues: this.#queues };
      this.#balance = new BalanceWatch(balance, facts, this.#saved?.balance ?? undefined);
    }
    this.#keeper.begin();
  }

  /**
   * Reads all once more, and then those of the balance until its sides agree and no queue holds anything
   * for them, or its `max` is over. `loadEndUs`: µs of the monotonic clock.
   */
  async settle(loadEndUs: number): Promise<void> {
    const { plan, time, waiter } = this.#scene;
    if (plan.probes.length > 0) await this.#keeper.fresh();
    if (plan.balance === null) return;
    const names = this.#namesOfBalance();
    const deadlineUs = loadEndUs + plan.balance.maxUs;
    while (!this.#look(loadEndUs) && time.monotonicUs() < deadlineUs && names.size > 0) {
      const reached = await waiter.reach(time.monotonicUs() + LOOK_AGAIN_US, HURRY.graceful);
      if (reached === 'interrupted') return;
      await this.#keeper.fresh(names);
    }
  }

  /** Probes that are read for the balance: those of its sides, and those that tell of queues. */
  #namesOfBalance(): ReadonlySet<string> {
    const equations = this.#scene.plan.balance?.equations ?? [];
    const sides = equations.flatMap(({ sides: all }) =>
      all.flatMap((side) => (side.kind === 'probe' ? [side.probe] : [])),
    );
    return new Set([...sides, ...this.#queues.map(({ probe }) => probe)]);
  }

  /** A threshold with `abort` that is broken by now; told once. */
  broken(): AbortDecision | null {
    return this.#judge.broken();
  }

  /** Results of the thresholds that speak of probes, by their place in the plan. */
  thresholds(): ReadonlyMap<number, ThresholdResult> {
    return this.#judge.results();
  }

  /** `loadEndUs`: µs of the monotonic clock; null: it never ended. */
  balance(loadEndUs: number | null): readonly BalanceResult[] {
    const startUs = this.#underway?.startUs ?? 0;
    return this.#balance?.results(loadEndUs === null ? null : loadEndUs - startUs) ?? [];
  }

  async close(): Promise<void> {
    await this.#keeper.close();
  }

  #take(probe: string, figures: Reading): void {
    const us = this.#scene.time.monotonicUs();
    if (this.#underway === null) this.#early.push({ probe, figures, us });
    else {
      this.#enter(probe, figures, us);
      this.#look();
      this.#underway.changed();
    }
  }

  #enter(probe: string, figures: Reading, us: number): void {
    const underway = this.#underway;
    if (underway === null) return;
    const reading: ProbeReading = { probe, figures, atUs: us - underway.startUs };
    this.book.add(reading);
    this.#judge.add(reading, placeOf(underway.stage(), us));
  }

  /**
   * Whether there is nothing to wait for: all sides agree and nothing is on its way to them, or those that
   * do not agree never will. `loadEndUs`: µs of the monotonic clock; null: the load goes on.
   */
  #look(loadEndUs: number | null = null): boolean {
    const underway = this.#underway;
    if (underway === null || this.#balance === null) return true;
    const { startUs } = underway;
    const endUs = loadEndUs === null ? null : loadEndUs - startUs;
    const states = this.#balance.look(this.#scene.time.monotonicUs() - startUs, endUs);
    return states.every(
      ({ holds, isBeyond, queued }) => isBeyond || (holds && Object.keys(queued).length === 0),
    );
  }
}

function placeOf(record: StageRecord | null, us: number) {
  if (record === null || record.clockUs === null || us < record.clockUs) return null;
  if (record.endUs !== null && us >= record.endUs) return null;
  return { stage: record.stage.index, sinceUs: us - record.clockUs };
}
