// Data path
import { type Moment, momentOf } from '../clock.ts';
import { MAX_WAITING_ANSWERS } from '../limits.ts';
import type { Meter } from '../measure/meter.ts';
import { NO_RESPONSE_TOPIC, TOO_MANY_ANSWERS } from '../measure/reasons.ts';
import { PLANNED, SCHEDULED } from '../measure/series.ts';
import type { Feed } from '../publish/feed.ts';
import { OPEN, type Outlet } from '../publish/outlet.ts';
import { dropReason } from '../publish/paced-schedule.ts';
import type { AnswerSource } from './answer-source.ts';
import { copyOf, type RequestView } from './request-view.ts';

export interface AnswerFeedOptions {
  readonly source: AnswerSource;
  readonly outlet: Outlet;
  readonly meter: Meter;
  readonly moment: Moment;
  /** How long a client thinks before it answers, µs. */
  readonly delayUs: number;
}

interface Waiting {
  readonly position: number;
  readonly atUs: number;
  readonly request: RequestView;
}

/**
 * Answers requests as they come, or after the time that a client thinks. What a client cannot send
 * when its answer is due is dropped with its reason: whoever asked counts it as unanswered, too.
 */
export class AnswerFeed implements Feed {
  readonly #options: AnswerFeedOptions;
  readonly #dueUs = new Float64Array(1);
  /** Answers that are thought about, the earliest first. */
  #waiting: Waiting[] = [];
  #next = 0;

  constructor(options: AnswerFeedOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.length - this.#next;
  }

  /** There is nothing to come that is known before. */
  get exhausted(): boolean {
    return true;
  }

  nextUs(): number {
    return this.#waiting[this.#next]?.atUs ?? Number.POSITIVE_INFINITY;
  }

  /** A request came. */
  ask(position: number, request: RequestView): void {
    const { meter, delayUs, moment, source } = this.#options;
    if (!source.canAnswer(request)) {
      meter.fail('answer_failed', NO_RESPONSE_TOPIC);
      return;
    }
    if (delayUs === 0) {
      meter.add(PLANNED, 1);
      this.#answer(position, request, moment);
      return;
    }
    if (this.waiting >= MAX_WAITING_ANSWERS) {
      meter.fail('answer_failed', TOO_MANY_ANSWERS);
      return;
    }
    meter.add(PLANNED, 1);
    const atUs = momentOf(moment) + delayUs;
    this.#waiting.push({ position, atUs, request: copyOf(request) });
  }

  pick(beforeUs: number): void {
    for (;;) {
      const first = this.#waiting[this.#next];
      if (first === undefined || first.atUs >= beforeUs) return;
      this.#next += 1;
      this.#dueUs[0] = first.atUs;
      this.#answer(first.position, first.request, this.#dueUs);
      if (this.#next === this.#waiting.length || this.#next > MAX_WAITING_ANSWERS) this.#shrink();
    }
  }

  abandon(): number {
    const left = this.waiting;
    this.#options.meter.add(SCHEDULED, left);
    this.#waiting = [];
    this.#next = 0;
    return left;
  }

  dropWaiting(): void {
    const { meter, outlet } = this.#options;
    for (let k = this.#next; k < this.#waiting.length; k++) {
      const position = this.#waiting[k]?.position ?? 0;
      meter.add(SCHEDULED, 1);
      outlet.drop(position, dropReason(outlet.refusal(position)), 1);
    }
    this.#waiting = [];
    this.#next = 0;
  }

  /** Answers are not kept for a client that cannot send them: the four below have nothing to do. */
  expire(): void {}

  pump(): void {}

  giveUp(): void {}

  endAfter(): void {}

  #answer(position: number, request: RequestView, dueUs: Float64Array): void {
    const { source, outlet, meter } = this.#options;
    meter.add(SCHEDULED, 1);
    const refusal = outlet.refusal(position);
    if (refusal !== OPEN) {
      outlet.drop(position, dropReason(refusal), 1);
      return;
    }
    source.take(request);
    outlet.hand(position, dueUs);
  }

  #shrink(): void {
    this.#waiting = this.#waiting.slice(this.#next);
    this.#next = 0;
  }
}
