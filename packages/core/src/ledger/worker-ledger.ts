import type { Plan } from '../plan/plan.ts';
import type { TopicOf } from './known-topics.ts';
import { ledgerPlan } from './ledger-plan.ts';
import type { PageClock } from './page.ts';
import { PlanNames } from './plan-names.ts';
import { PublisherLedger } from './publisher-ledger.ts';
import { SubscriberLedger } from './subscriber-ledger.ts';
import { WorkerPages } from './worker-pages.ts';

export interface WorkerLedgerOptions {
  readonly plan: Plan;
  /** Index of the worker in its agent. */
  readonly worker: number;
  /** `runHash` of the run. */
  readonly runHash: number;
  /** The worker's moment: `[0]` is raw µs of the host's monotonic clock. */
  readonly moment: Float64Array;
  /** `clockDomainHash` of the host. */
  readonly clockDomain: number;
  /** As workers print `{{run}}`. */
  readonly shortRun: string;
  /** Values of `{{env.NAME}}`. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Both sides of one worker's ledger. */
export class WorkerLedger {
  readonly publishers: PublisherLedger;
  readonly subscribers: SubscriberLedger;
  readonly #worker: number;

  /** @throws SquallError SQ_PLAN where a topic or filter is not a template. */
  constructor({ plan: spec, worker, shortRun, secrets, ...options }: WorkerLedgerOptions) {
    const plan = ledgerPlan(spec);
    const topicOf = topicsOf(new PlanNames({ plan, shortRun, secrets }));
    this.#worker = worker;
    this.publishers = new PublisherLedger(options.moment);
    this.subscribers = new SubscriberLedger({ ...options, plan, topicOf });
  }

  /** What travels to the controller when the load is over. */
  pages(clock: PageClock): WorkerPages {
    const { publishers, subscribers } = this;
    return new WorkerPages({ worker: this.#worker, clock, publishers, subscribers });
  }
}

/** A worker has the rows of a CSV file for its own clients only: such topics of others it cannot know. */
export function topicsOf(names: PlanNames): TopicOf {
  const { streams } = names.plan;
  const known = streams.map(({ topic }) => topic.parts.every(({ kind }) => kind !== 'csv'));
  return (stream, publisher) => {
    const spec = streams[stream];
    if (spec === undefined || known[stream] !== true) return null;
    return names.render(spec.topic, spec.group, publisher);
  };
}
