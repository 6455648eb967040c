import type { GroupRows } from '@squall/core/partition';
import type { Group, Plan } from '@squall/core/plan';
import type { ProtocolVersion } from '@squall/mqtt';
import { type Arrival, AwaitedClients, type Outcome } from '../awaited/awaited-clients.ts';
import { topicMatches } from '../worker/clients/topic-filter.ts';
import { PlanFiles } from '../worker/plan-files.ts';
import { explainConnect, explainLater } from './explain.ts';
import { TrialGroup, type TrialMessage } from './trial-group.ts';

export interface TrialOptions {
  readonly plan: Plan;
  readonly secrets: Readonly<Record<string, string>>;
  /** Contents of the files that the plan names, base64. */
  readonly files: Readonly<Record<string, string>>;
  /** Rows of CSV files, by the group's name. */
  readonly rows: Readonly<Record<string, GroupRows>>;
  /** Stands for `{{run}}`. */
  readonly shortRun: string;
  readonly limits?: Partial<TrialLimits>;
}

/** Each step's longest time; all groups take theirs side by side. */
interface TrialLimits {
  readonly connectMs: number;
  readonly answerMs: number;
  /** From the first message to the last that comes back. */
  readonly backMs: number;
}

const LIMITS: TrialLimits = { connectMs: 4_000, answerMs: 2_500, backMs: 2_500 };

/** `unknown`: nothing speaks against it, and nothing shows it. */
type StepState = 'ok' | 'failed' | 'unknown';

export interface TrialStep {
  readonly step: 'connect' | 'subscribe' | 'publish' | 'come back';
  readonly state: StepState;
  /** What was done, or found, in a few words. */
  readonly text: string;
  /** Of a step that is not ok. */
  readonly hint: string | null;
}

export interface GroupTrial {
  readonly group: string;
  readonly client: string;
  readonly address: string;
  readonly steps: readonly TrialStep[];
}

/**
 * Before any load: one client of each group connects, subscribes and sends, and its messages are
 * looked for at those who subscribe, else at the sender itself, which subscribes to its own topic for
 * that. Each group stops at its first failure. Nothing is left on the broker.
 */
export async function tryPlan(options: TrialOptions): Promise<GroupTrial[]> {
  const trial = new Trial(options);
  try {
    return await trial.run();
  } finally {
    await trial.end();
  }
}

const NOT_TRIED: TrialStep = {
  step: 'connect',
  state: 'unknown',
  text: 'groups of RocketMQ are not tried yet',
  hint: 'a short run tells: squall run PLAN --scale 0.01 --timeout 30s',
};

/** A group in the trial. */
interface Place {
  readonly name: string;
  readonly made: TrialGroup | null;
  readonly clients: AwaitedClients;
  readonly slot: number;
  readonly steps: TrialStep[];
  /** What it holds: filters that were granted. */
  readonly filters: string[];
}

class Trial {
  readonly #options: TrialOptions;
  readonly #limits: TrialLimits;
  readonly #places: Place[];
  readonly #arrivals: Arrival[] = [];
  readonly #pools = new Map<string, AwaitedClients>();
  #onArrival: () => void = () => undefined;

  constructor(options: TrialOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    const topics = publishedTopics(options);
    this.#places = options.plan.groups.map((group, slot) => {
      const target = options.plan.targets[group.target];
      const clients = this.#pool(target?.protocol === 'mqtt' ? target.version : '3.1.1');
      const steps: TrialStep[] = [];
      const place = { name: group.name, clients, slot, steps, filters: [] };
      if (target?.protocol === 'rocketmq') {
        steps.push(NOT_TRIED);
        return { ...place, made: null };
      }
      try {
        return { ...place, made: listenerOf(options, group, topics) };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        steps.push(failed('connect', reason, 'correct this in the plan'));
        return { ...place, made: null };
      }
    });
  }

  async run(): Promise<GroupTrial[]> {
    await this.#each((place, made) => this.#connect(place, made));
    await this.#each((place, made) => this.#subscribe(place, made));
    const sent = await Promise.all(
      this.#alive().map(({ place, made }) => this.#publish(place, made)),
    );
    await this.#comeBack(sent.flat());
    return this.#places.map(({ name, made, steps }) => ({
      group: name,
      client: made?.clientId ?? '',
      address: made?.address ?? '',
      steps,
    }));
  }

  async end(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((clients) => clients.end()));
  }

  /** Clients of one MQTT version share a pool; a slot a group, whichever pool it is in. */
  #pool(version: ProtocolVersion): AwaitedClients {
    const known = this.#pools.get(version);
    if (known !== undefined) return known;
    const made = new AwaitedClients({
      slots: this.#options.plan.groups.length,
      version,
      answerMs: this.#limits.answerMs,
      onMessage: (arrival) => {
        this.#arrivals.push(arrival);
        this.#onArrival();
      },
    });
    this.#pools.set(version, made);
    return made;
  }

  #alive(): { place: Place; made: TrialGroup }[] {
    return this.#places.flatMap((place) =>
      place.made === null || place.steps.some(({ state }) => state === 'failed')
        ? []
        : [{ place, made: place.made }],
    );
  }

  async #each(step: (place: Place, made: TrialGroup) => Promise<void>): Promise<void> {
    await Promise.all(this.#alive().map(({ place, made }) => step(place, made)));
  }

  /** With `spread: first` the next address is tried where one fails, as the load does. */
  async #connect(place: Place, made: TrialGroup): Promise<void> {
    const timeoutUs = (this.#limits.connectMs * 1_000) / made.addresses;
    const reasons: string[] = [];
    for (let attempt = 1; attempt <= made.addresses; attempt++) {
      const startedMs = performance.now();
      const outcome = await guarded(() =>
        place.clients.connect(place.slot, made.connectOptions(timeoutUs)),
      );
      if (outcome.ok) {
        const tookMs = Math.max(1, Math.round(performance.now() - startedMs));
        const before = reasons.length === 0 ? '' : `, after ${reasons.join(', ')}`;
        place.steps.push(done('connect', `MQTT ${made.version}, ${tookMs} ms${before}`));
        return;
      }
      reasons.push(`${outcome.reason} at ${made.address}`);
      if (made.addresses > 1) made.moveOn();
      else reasons[0] = outcome.reason;
    }
    const [first = ''] = reasons;
    place.steps.push(failed('connect', reasons.join('; '), explainConnect(first)));
  }

  async #subscribe(place: Place, made: TrialGroup): Promise<void> {
    const { subscribe, respond } = made.group;
    for (const entry of [...subscribe, ...respond.map((one) => ({ ...one, options: null }))]) {
      const filters = made.filters(entry.topics);
      const { noLocal, retainAsPublished, retainHandling, identifier } = entry.options ?? {};
      const outcome = await place.clients.subscribe(place.slot, {
        filters,
        qos: entry.qos,
        noLocal,
        retainAsPublished,
        retainHandling,
        identifier: identifier ?? undefined,
      });
      if (!outcome.ok) {
        place.steps.push(failed('subscribe', outcome.reason, explainLater(outcome.reason)));
        return;
      }
      place.filters.push(...filters);
      const granted = outcome.value.map((qos, k) => `${filters[k]} (QoS ${qos})`).join(', ');
      place.steps.push(done('subscribe', `${granted} granted`));
    }
  }

  /** Sends the first message of each stream. */
  async #publish(place: Place, made: TrialGroup): Promise<Sent[]> {
    const sent: Sent[] = [];
    for (let index = 0; index < made.group.publish.length; index++) {
      const message = made.message(index);
      const watcher = await this.#watcher(place, message);
      const outcome = await place.clients.publish(place.slot, message.message);
      const { qos, payload } = message.message;
      if (!outcome.ok) {
        const what = `${message.topic} (QoS ${qos}, ${payload.length} bytes): ${outcome.reason}`;
        place.steps.push(failed('publish', what, explainLater(outcome.reason)));
        return sent;
      }
      const told = qos === 0 ? 'sent, which is never acknowledged' : 'acknowledged';
      place.steps.push(
        done('publish', `${message.topic} (QoS ${qos}, ${payload.length} bytes) ${told}`),
      );
      sent.push({ place, message, watcher });
    }
    return sent;
  }

  /** Who is to see the message: a group that subscribes to its topic, else the sender itself. */
  async #watcher(place: Place, { topic, message }: TrialMessage): Promise<Watcher> {
    const group = this.#alive().find(({ place: { filters } }) =>
      filters.some((filter) => topicMatches(filter, topic)),
    );
    if (group !== undefined) {
      const filter = group.place.filters.find((one) => topicMatches(one, topic)) ?? '';
      return { place: group.place, filter, refusal: null };
    }
    const qos = message.qos;
    const outcome = await place.clients.subscribe(place.slot, { filters: [topic], qos });
    return { place, filter: topic, refusal: outcome.ok ? null : outcome.reason };
  }

  async #comeBack(all: readonly Sent[]): Promise<void> {
    const open = all.filter(({ watcher }) => watcher.refusal === null);
    await this.#waitFor(() => open.every((sent) => this.#cameBack(sent)));
    for (const sent of all) sent.place.steps.push(this.#backStep(sent));
  }

  #backStep(sent: Sent): TrialStep {
    const { message, watcher, place } = sent;
    const { topic } = message;
    const self = watcher.place === place;
    const who = self ? 'its own client' : `group ${watcher.place.name}`;
    if (watcher.refusal !== null) return unseen(sent, watcher.refusal);
    if (this.#cameBack(sent)) return done('come back', `${topic} came to ${who}`);
    const lost = watcher.place.clients.lostBy(watcher.place.slot);
    const gone = lost === null ? '' : `; its connection is gone: ${lost}`;
    return failed(
      'come back',
      `no message on ${topic} within ${this.#limits.backMs} ms, though ${who} is subscribed to ${watcher.filter}${gone}`,
      'the broker took it and did not pass it on: look at its access rules, limits of queues and sizes, and rules that rewrite topics; a shared subscription gives it to another member, if there is one',
    );
  }

  #cameBack({ watcher, message: { topic, message } }: Sent): boolean {
    return this.#arrivals.some(
      (arrival) =>
        arrival.slot === watcher.place.slot &&
        arrival.topic === topic &&
        arrival.payload.equals(message.payload),
    );
  }

  #waitFor(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(patience);
        this.#onArrival = () => undefined;
        resolve();
      };
      const patience = setTimeout(end, this.#limits.backMs);
      this.#onArrival = () => {
        if (holds()) end();
      };
      this.#onArrival();
    });
  }
}

/** Clients of a group among which one is looked for that subscribes to what is sent. */
const MAX_LOOKED_AT = 200;

/** What the first client of each group publishes, as far as that can be made. */
function publishedTopics(options: TrialOptions): string[] {
  return options.plan.groups.flatMap((group) => {
    try {
      const made = madeOf(options, group, 0);
      return group.publish.map((_, index) => made.message(index).topic);
    } catch {
      // What is wrong with it is said when its turn comes.
      return [];
    }
  });
}

/** The first client of a group, or the first that subscribes to one of the topics. */
function listenerOf(options: TrialOptions, group: Group, topics: readonly string[]): TrialGroup {
  const looked = group.publish.length > 0 ? 0 : Math.min(group.clients, MAX_LOOKED_AT);
  for (let client = 0; client < looked; client++) {
    const made = madeOf(options, group, client);
    const filters = made.allFilters();
    if (topics.some((topic) => filters.some((filter) => topicMatches(filter, topic)))) return made;
  }
  return madeOf(options, group, 0);
}

function madeOf(options: TrialOptions, group: Group, client: number): TrialGroup {
  return new TrialGroup({ ...options, group, files: new PlanFiles(options.files), client });
}

interface Watcher {
  readonly place: Place;
  readonly filter: string;
  /** Why nobody could watch; null where somebody does. */
  readonly refusal: string | null;
}

interface Sent {
  readonly place: Place;
  readonly message: TrialMessage;
  readonly watcher: Watcher;
}

/** Nobody of the plan subscribes, and the sender may not: what is acknowledged has arrived. */
function unseen({ message }: Sent, refusal: string): TrialStep {
  const { topic } = message;
  const text = `nobody in the plan subscribes to ${topic}, and its own client may not: ${refusal}`;
  if (message.message.qos > 0) {
    return {
      step: 'come back',
      state: 'ok',
      text: `${text}; the broker acknowledged it`,
      hint: null,
    };
  }
  return {
    step: 'come back',
    state: 'unknown',
    text,
    hint: 'at QoS 0 nothing tells whether it arrived: let a group subscribe, or publish at QoS 1',
  };
}

function done(step: TrialStep['step'], text: string): TrialStep {
  return { step, state: 'ok', text, hint: null };
}

function failed(step: TrialStep['step'], text: string, hint: string): TrialStep {
  return { step, state: 'failed', text, hint };
}

/** Options that cannot be made, such as of a certificate that cannot be read, fail the step. */
async function guarded<T>(step: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await step();
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}
