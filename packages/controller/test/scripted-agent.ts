import type { FromAgent, FromController } from '@squall/core/control';
import {
  encodeFrame,
  type Frame,
  Histogram,
  type SeriesDelta,
  type Slice,
} from '@squall/core/metrics';
import type { Plan } from '@squall/core/plan';
import { stageNeeds } from '@squall/core/schedule';
import { systemTime } from '../src/time-source.ts';
import { FakeAgent, type FakeAgentOptions } from './fake-agent.ts';
import { type LedgerScript, ledgerPages } from './scripted-ledger.ts';

type Assign = Extract<FromController, { type: 'assign' }>;

/** What a scripted agent does other than its duty. */
export interface Script {
  /** Refuses its share with these reasons. */
  readonly refuse?: readonly string[];
  /** Never answers `assign`. */
  readonly mute?: boolean;
  /** Never says that a stage is complete. */
  readonly neverComplete?: boolean;
  /** Never says that it is drained. */
  readonly neverDrained?: boolean;
  /** Does not send the frame with this sequence. */
  readonly loseFrame?: number;
  /** Clients of `devices` that finally failed in each stage. */
  readonly failed?: number;
  /** Messages published (and acknowledged) a slice. */
  readonly perSlice?: number;
  /** publish_time of each of them. */
  readonly latencyUs?: number;
  /** Last sequence that it claims beyond the truth. */
  readonly claimExtraFrames?: number;
  /** Receives something in each second of settle until this many have passed, which is not all that is awaited. */
  readonly receiveInSettle?: number;
  /** What its ledger says, where the plan subscribes. */
  readonly ledger?: LedgerScript;
}

/**
 * An agent whose load is arithmetic: it walks through the stages as a real one would, cuts slices
 * each second and reports the same few figures in each. Nothing is sent to any broker.
 */
export class ScriptedAgent extends FakeAgent {
  readonly script: Script;
  /** Frames as they were sent, for sending them again. */
  readonly sent: Uint8Array[] = [];
  readonly #said: FromAgent[] = [];
  #assign: Assign | null = null;
  #seq = 0;
  #timers: NodeJS.Timeout[] = [];
  #startUs = 0;
  #stage = -1;
  #phase: Slice['phase'] = 'main';
  #n = 0;
  #sliceFromUs = 0;
  #over = false;
  #toldSent = false;

  constructor(options: FakeAgentOptions, script: Script = {}) {
    super(options);
    this.script = script;
    this.onMessage = (message) => this.#obey(message);
  }

  get lastSeq(): number {
    return this.#seq;
  }

  get plan(): Plan {
    if (this.#assign === null) throw new Error('not assigned');
    return this.#assign.plan;
  }

  get resumeKey(): { run: string; epoch: number } {
    if (this.#assign === null) throw new Error('not assigned');
    return { run: this.#assign.run, epoch: this.#assign.epoch };
  }

  /** As SIGKILL would: the line is cut, nothing is done any more. */
  die(): void {
    this.#over = true;
    this.#clearTimers();
    this.kill();
  }

  /** As SIGSTOP would: the line stands, nothing is done any more. */
  freeze(): void {
    this.#over = true;
    this.#clearTimers();
    this.fallSilent();
  }

  /** The line is cut; the load goes on. */
  cut(): void {
    this.kill();
  }

  /** With everything that was ever said, as a real agent would: to the same controller or another. */
  async comeBack(url = this.url): Promise<void> {
    this.url = url;
    await this.join(this.resumeKey);
  }

  override say(message: FromAgent): void {
    if ('run' in message) this.#said.push(message);
    super.say(message);
  }

  protected override repeat(): void {
    for (const message of this.#said) super.say(message);
    this.#resend();
  }

  #resend(): void {
    for (const frame of this.sent) this.sayBytes(frame);
  }

  #obey(message: FromController): void {
    switch (message.type) {
      case 'assign':
        this.#answer(message);
        return;
      case 'advance':
        if (message.stage <= this.#stage) return;
        if (message.stage === 0) this.#startUs = message.at;
        this.#at(message.at, () => this.#enter(message.stage, message.at));
        return;
      case 'clock':
        this.#hearClock(message);
        return;
      case 'stop':
        this.#stop(message.mode);
        return;
      case 'finish':
        this.#finish();
        return;
      case 'frame_resend':
        this.#resend();
        return;
      case 'welcome':
      case 'rejected':
      case 'clock_answer':
      case 'clocks':
      case 'frame_ack':
      case 'release':
    }
  }

  #hearClock({ stage, at }: Extract<FromController, { type: 'clock' }>): void {
    if (stage !== this.#stage || this.#phase !== 'prologue') return;
    this.#at(at, () => this.#startClock(at));
  }

  #answer(assign: Assign): void {
    this.#assign = assign;
    if (this.script.mute === true) return;
    const { refuse } = this.script;
    if (refuse === undefined) this.say({ type: 'ready', ...this.resumeKey });
    else this.say({ type: 'refused', ...this.resumeKey, reasons: [...refuse] });
  }

  #stop(mode: 'graceful' | 'hard'): void {
    this.#clearTimers();
    if (mode === 'graceful') this.#enter(this.plan.stages.length, systemTime.monotonicUs());
  }

  #enter(stage: number, atUs: number): void {
    if (this.#over || stage <= this.#stage) return;
    this.#clearTimers();
    if (this.#stage >= 0) this.#cutSlice(atUs);
    else this.say({ type: 'started', ...this.resumeKey, skewUs: 1_500 });
    this.#stage = stage;
    const sketch = this.plan.stages[stage];
    if (sketch === undefined) {
      this.#beginPhase('settle', atUs);
      this.#stage = stage - 1;
      if (this.script.neverDrained !== true) {
        this.#later(30, () => {
          this.#sayState('drained', {});
          this.#sendLedger('sent');
        });
      }
      return;
    }
    const prologue = stageNeeds(this.plan)[stage]?.prologue ?? false;
    if (!prologue) {
      this.#startClock(atUs);
      return;
    }
    this.#beginPhase('prologue', atUs);
    this.#later(30, () => this.#sayState('prologue_done', this.#failed()));
  }

  #startClock(atUs: number): void {
    if (this.#over) return;
    this.#clearTimers();
    if (this.#phase === 'prologue' && this.#sliceFromUs < atUs) this.#cutSlice(atUs);
    this.#beginPhase('main', atUs);
    const stage = this.plan.stages[this.#stage];
    const next = this.#stage + 1;
    if (stage === undefined) return;
    if (stage.forUs !== null) {
      const endUs = atUs + stage.forUs;
      this.#at(endUs, () => this.#enter(next, endUs));
    } else if (stage.until === null && this.script.neverComplete !== true) {
      this.#later(50, () => this.#sayState('complete', this.#failed()));
    }
  }

  #beginPhase(phase: Slice['phase'], atUs: number): void {
    this.#phase = phase;
    this.#n = 0;
    this.#sliceFromUs = atUs;
    const tick = (dueUs: number) =>
      this.#at(dueUs, () => {
        this.#cutSlice(dueUs);
        tick(dueUs + 1_000_000);
      });
    tick(atUs + 1_000_000);
  }

  #cutSlice(toUs: number): void {
    if (toUs <= this.#sliceFromUs) return;
    const phase = this.#phase;
    const stage = this.#stage;
    const slice: Slice = {
      stage,
      phase,
      n: this.#n,
      span: 1,
      fromUs: this.#sliceFromUs - this.#startUs,
      toUs: toUs - this.#startUs,
      series: this.#series(stage, phase),
      examples: [],
    };
    this.#n++;
    this.#sliceFromUs = toUs;
    this.sendSlices([slice]);
  }

  sendSlices(slices: Slice[]): void {
    this.sendFrame({ slices });
  }

  /** A frame for each page, as a real agent would. */
  #sendLedger(part: 'sent' | 'arrived'): void {
    if (
      this.#assign === null ||
      this.plan.groups.every(({ subscribe }) => subscribe.length === 0)
    ) {
      return;
    }
    const script = this.script.ledger ?? { sent: 0, arrived: 0 };
    if (part === 'sent') this.#toldSent = true;
    else if (!this.#toldSent) this.#sendLedger('sent');
    for (const page of ledgerPages(this.#assign.share, script, part)) {
      this.sendFrame({ slices: [], pages: [page] });
    }
  }

  sendFrame(contents: Pick<Frame, 'slices' | 'pages'>): void {
    const seq = ++this.#seq;
    if (seq === this.script.loseFrame) return;
    const bytes = encodeFrame({
      ...this.resumeKey,
      agent: this.id,
      seqFrom: seq,
      seqTo: seq,
      ...contents,
    });
    this.sent.push(bytes);
    this.sayBytes(bytes);
  }

  #series(stage: number, phase: Slice['phase']): SeriesDelta[] {
    const mine = this.#assign?.share.workers
      .flatMap((worker) => worker.groups.map((range) => range.clients))
      .reduce((a, b) => a + b, 0);
    const clients = mine ?? 0;
    const series: SeriesDelta[] = [
      { metric: 'connections', subject: 'devices', stage, value: clients },
    ];
    if (this.#seq === 0) {
      series.push(
        { metric: 'connect_attempts', subject: 'devices', stage, value: clients },
        { metric: 'connected', subject: 'devices', stage, value: clients },
      );
    }
    if (phase === 'settle' && this.#n < (this.script.receiveInSettle ?? 0)) {
      series.push({ metric: 'received', subject: 'devices', stage, qos: 1, value: 1 });
    }
    if (phase === 'settle') series.push(...this.#arrived(stage));
    const publishes = (this.plan.stages[stage]?.run ?? []).some((work) =>
      work.activities.some((activity) => activity.kind === 'publish'),
    );
    return phase === 'main' && publishes ? [...series, ...this.#published(stage)] : series;
  }

  #arrived(stage: number): SeriesDelta[] {
    const value = this.script.ledger?.told?.[this.#n] ?? 0;
    if (value === 0) return [];
    const key = { subject: 'devices', stage, qos: 1 } as const;
    return [
      { metric: 'received', ...key, value },
      { metric: 'arrived', ...key, value },
    ];
  }

  #published(stage: number): SeriesDelta[] {
    const value = this.script.perSlice ?? 5;
    const key = { subject: 'devices', stage, qos: 1 } as const;
    const times = (us: number) => {
      const histogram = new Histogram();
      for (let i = 0; i < value; i++) histogram.record(us);
      return histogram.drainSparse();
    };
    const counters = ['planned', 'scheduled', 'sent', 'acked', 'published'] as const;
    const series: SeriesDelta[] = counters.map((metric) => ({ metric, ...key, value }));
    const latencyUs = this.script.latencyUs ?? 2_000;
    for (const [metric, us] of [
      ['publish_time', latencyUs],
      ['service_time', latencyUs],
      ['lateness', 200],
    ] as const) {
      const histogram = times(us);
      if (histogram !== null) series.push({ metric, ...key, histogram });
    }
    return series;
  }

  #finish(): void {
    if (this.#over) return;
    if (this.#stage >= 0) this.#cutSlice(systemTime.monotonicUs());
    this.#over = true;
    this.#clearTimers();
    this.#sendLedger('arrived');
    this.say({
      type: 'finished',
      ...this.resumeKey,
      lastSeq: this.#seq + (this.script.claimExtraFrames ?? 0),
      cpuSeconds: 1.5,
      rssBytesMax: 2_000_000,
    });
  }

  #failed(): Record<string, number> {
    return this.script.failed === undefined ? {} : { devices: this.script.failed };
  }

  #sayState(state: 'prologue_done' | 'complete' | 'drained', failed: Record<string, number>): void {
    this.say({ type: 'stage_state', ...this.resumeKey, stage: this.#stage, state, failed });
  }

  #at(momentUs: number, action: () => void): void {
    this.#later(Math.max(0, (momentUs - systemTime.monotonicUs()) / 1_000), action);
  }

  #later(ms: number, action: () => void): void {
    this.#timers.push(setTimeout(action, ms));
  }

  #clearTimers(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
  }
}
