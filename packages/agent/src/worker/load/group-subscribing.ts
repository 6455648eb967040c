import type { SubscriberBook } from '@squall/core/ledger/worker';
import type { MetricName } from '@squall/core/metrics';
import type { Qos, SubscribeEntry } from '@squall/core/plan';
import { compileTemplate, type Template } from '@squall/core/template';
import {
  type InboundPublish,
  type InboundSuback,
  type MqttClients,
  SUBSCRIBE_PACKET_IDS,
  subackFailure,
} from '@squall/mqtt';
import { CONNECTED } from '../clients/connection-state.ts';
import { Receiver } from '../clients/receiver.ts';
import { Subscriptions } from '../clients/subscriptions.ts';
import { topicMatches } from '../clients/topic-filter.ts';
import { momentOf } from '../clock.ts';
import { at, item } from '../element.ts';
import type { Meter } from '../measure/meter.ts';
import {
  SUBSCRIBE_CONNECTION_LOST,
  SUBSCRIBE_TIMED_OUT,
  UNKNOWN_SUBACK,
} from '../measure/reasons.ts';
import { SUBSCRIBE_TIME, SUBSCRIBED } from '../measure/series.ts';
import type { GroupConnections } from './group-connections.ts';
import type { GroupServices } from './group-services.ts';

/** The subscriptions of one group and what they receive. */
export class GroupSubscribing {
  readonly #services: GroupServices;
  readonly #clients: () => MqttClients;
  readonly #connections: GroupConnections;
  readonly #entries: readonly SubscribeEntry[];
  /** Filter templates, an entry each. */
  readonly #filters: readonly (readonly Template[])[];
  readonly #subscriptions: Subscriptions;
  readonly #receiver: Receiver;
  readonly #book: SubscriberBook;
  readonly #askedUs = new Float64Array(1);

  constructor(services: GroupServices, clients: () => MqttClients, connections: GroupConnections) {
    const { group, plan, order } = services;
    this.#services = services;
    this.#clients = clients;
    this.#connections = connections;
    this.#entries = group.subscribe;
    this.#filters = group.subscribe.map((entry) => entry.topics.map(compileTemplate));
    this.#subscriptions = new Subscriptions({
      clients: order.count,
      entries: group.subscribe.length,
      timeoutUs: group.connect.timeoutUs,
      actions: {
        subscribe: (position, entry) => this.#subscribe(position, entry),
        failed: (position, entry, why) => this.#failed(position, entry, why),
      },
    });
    this.#book = services.ledger.subscribers.book(services.groupIndex, order.numbers);
    this.#receiver = new Receiver({
      book: this.#book,
      runHash: services.runHash,
      clockDomain: services.clockDomain,
      peers: services.peers,
      stages: plan.stages.length,
      currentStage: () => services.timeline.currentStage(),
      meter: (entry, stage, qos) => this.#receiveMeter(entry, stage, qos),
    });
  }

  /** Every client of the group is to hold this entry. */
  want(entry: number): void {
    this.#subscriptions.want(
      entry,
      momentOf(this.#services.moment),
      (position) => at(this.#connections.states, position) === CONNECTED,
    );
  }

  settled(entry: number): boolean {
    return this.#subscriptions.settled(entry);
  }

  /** Whether SUBACKs are awaited, so that their time-out is looked for. */
  get pending(): boolean {
    return this.#subscriptions.pending > 0;
  }

  scan(): void {
    this.#subscriptions.scan(momentOf(this.#services.moment));
  }

  onConnected(position: number, sessionPresent: boolean): void {
    this.#subscriptions.onConnected(position, sessionPresent, momentOf(this.#services.moment));
  }

  onClosed(position: number): void {
    this.#subscriptions.onClosed(position);
    this.#book.disconnected(position);
  }

  /** The plan disconnects the client, which ends its subscriptions. */
  onDisconnecting(position: number): void {
    this.#book.ended(position);
  }

  onGaveUp(position: number): void {
    this.#subscriptions.onGaveUp(position);
  }

  reset(): void {
    this.#subscriptions.reset();
  }

  onSuback(position: number, suback: InboundSuback): void {
    const entry = suback.packetId - SUBSCRIBE_PACKET_IDS.first;
    if (entry < 0 || entry >= this.#entries.length) {
      this.#connections.onProtocolError(position, UNKNOWN_SUBACK);
      return;
    }
    const nowUs = momentOf(this.#services.moment);
    this.#bookGrants(position, entry, suback);
    const refusals = subackRefusals(suback);
    const granted = refusals.length === 0;
    const tookUs = this.#subscriptions.onSuback(position, entry, { granted, nowUs });
    if (tookUs < 0) return;
    this.#askedUs[0] = nowUs - tookUs;
    const meter = this.#subscribeMeter(entry);
    meter.add(SUBSCRIBED, suback.codesLength - refusals.length);
    meter.elapsed(SUBSCRIBE_TIME, this.#askedUs, 0);
    for (const reason of refusals) {
      meter.fail('subscribe_failed', reason);
      this.#example('subscribe_failed', { position, entry, reason });
    }
  }

  onPublish(position: number, publish: InboundPublish): void {
    // With one entry there is no question which one a message is for.
    const entry = this.#entries.length === 1 ? 0 : this.#entryOf(position, publish);
    if (entry >= 0) this.#receiver.onPublish(position, entry, publish);
  }

  /** Opens the series of a stage, so that they show even where nothing comes. */
  show(stage: number): void {
    const { recorder } = this.#services;
    for (const [entry, { subject, qos }] of this.#entries.entries()) {
      recorder.meter({ kind: 'subscribe', subject, stage });
      this.#receiveMeter(entry, stage, qos);
    }
  }

  /** Meters of retired stages went with the slice. */
  afterCut(): void {
    this.#receiver.forget();
  }

  /** The broker's word counts for the ledger, even where it comes too late for us. */
  #bookGrants(position: number, entry: number, suback: InboundSuback): void {
    const first = this.#firstFilter(entry);
    const filters = Math.min(suback.codesLength, item(this.#filters, entry).length);
    for (let k = 0; k < filters; k++) {
      const code = at(suback.bytes, suback.codesAt + k);
      if (subackFailure(code) === null) this.#book.granted(position, first + k, code);
      else this.#book.refused(position, first + k);
    }
  }

  /** Filters are numbered over all entries of the group. */
  #firstFilter(entry: number): number {
    let first = 0;
    for (let k = 0; k < entry; k++) first += item(this.#filters, k).length;
    return first;
  }

  #subscribe(position: number, entry: number): void {
    this.#clients().subscribe(position, {
      packetId: SUBSCRIBE_PACKET_IDS.first + entry,
      filters: this.#filtersOf(position, entry),
      qos: item(this.#entries, entry).qos,
    });
  }

  #failed(position: number, entry: number, why: 'timed_out' | 'connection_lost'): void {
    const reason = why === 'timed_out' ? SUBSCRIBE_TIMED_OUT : SUBSCRIBE_CONNECTION_LOST;
    const filters = item(this.#filters, entry).length;
    this.#subscribeMeter(entry).fail('subscribe_failed', reason, filters);
    this.#example('subscribe_failed', { position, entry, reason });
  }

  #filtersOf(position: number, entry: number): string[] {
    const { context, order } = this.#services;
    context.n = at(order.numbers, position);
    context.blockN = context.n;
    context.seq = 0;
    return item(this.#filters, entry).map((filter) => filter.render(context));
  }

  /** The first entry of the client with a filter that matches; -1 where none does. */
  #entryOf(position: number, publish: InboundPublish): number {
    const { bytes, topicAt, topicLength } = publish;
    const topic = bytes.toString('utf8', topicAt, topicAt + topicLength);
    for (let entry = 0; entry < this.#entries.length; entry++) {
      const filters = this.#filtersOf(position, entry);
      if (filters.some((filter) => topicMatches(filter, topic))) return entry;
    }
    return this.#entries.length > 0 ? 0 : -1;
  }

  #subscribeMeter(entry: number): Meter {
    const { recorder, timeline } = this.#services;
    const { subject } = item(this.#entries, entry);
    return recorder.meter({ kind: 'subscribe', subject, stage: timeline.currentStage() });
  }

  #receiveMeter(entry: number, stage: number, qos: Qos): Meter {
    const { subject } = item(this.#entries, entry);
    return this.#services.recorder.meter({ kind: 'receive', subject, stage, qos });
  }

  #example(metric: MetricName, failure: { position: number; entry: number; reason: string }): void {
    const { recorder, moment, timeline } = this.#services;
    const { subject } = item(this.#entries, failure.entry);
    const { reason } = failure;
    if (!recorder.wantsExample(metric, subject, reason)) return;
    const atUs = timeline.sinceStart(momentOf(moment));
    const who = this.#connections.describe(failure.position);
    recorder.example({ metric, subject, reason, ...who, atUs });
  }
}

function subackRefusals(suback: InboundSuback): string[] {
  const refusals: string[] = [];
  for (let k = 0; k < suback.codesLength; k++) {
    const refusal = subackFailure(at(suback.bytes, suback.codesAt + k));
    if (refusal !== null) refusals.push(refusal);
  }
  return refusals;
}
