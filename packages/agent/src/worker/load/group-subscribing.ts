import type { SubscriberBook } from '@squall/core/ledger/worker';
import { type MetricName, NOT_SENT } from '@squall/core/metrics';
import type { MqttVersion, Plan, Qos, SubscribeEntry } from '@squall/core/plan';
import { compileTemplate, type Template } from '@squall/core/template';
import {
  type InboundPublish,
  type InboundSuback,
  type MqttClients,
  reasonCodeName,
  subackFailure,
  SUBSCRIBE_PACKET_IDS,
} from '@squall/mqtt';
import { CONNECTED } from '../clients/connection-state.ts';
import { EntryFinder } from '../clients/entry-finder.ts';
import { Receiver } from '../clients/receiver.ts';
import { type SubscribedEntries, subscribedEntries } from '../clients/subscribed-entries.ts';
import { SessionLives } from '../clients/session-lives.ts';
import { Subscriptions, type Unanswered } from '../clients/subscriptions.ts';
import { momentOf } from '../clock.ts';
import { at, item } from '../element.ts';
import type { Meter } from '../measure/meter.ts';
import {
  SUBSCRIBE_CONNECTION_LOST,
  SUBSCRIBE_TIMED_OUT,
  UNKNOWN_SUBACK,
  UNKNOWN_UNSUBACK,
  UNSUBSCRIBE_CONNECTION_LOST,
  UNSUBSCRIBE_TIMED_OUT,
} from '../measure/reasons.ts';
import { SUBSCRIBE_TIME, SUBSCRIBED, UNSUBSCRIBE_TIME, UNSUBSCRIBED } from '../measure/series.ts';
import type { GroupConnections } from './group-connections.ts';
import type { MqttServices } from './group-services.ts';

/** Codes from here on refuse [MQTT-3.11.3]. */
const FIRST_FAILURE_CODE = 0x80;

/** Who takes what comes for responders and requesters. */
export interface RequestListener {
  /** A client received what a respond entry of the group is for. */
  onRequest(entry: number, position: number, request: InboundPublish): void;
  /** Something came by a response topic that answers nothing. */
  onStrayAnswer(subject: string): void;
}

/** The subscriptions of one group and what they receive. */
export class GroupSubscribing {
  readonly #services: MqttServices;
  readonly #clients: () => MqttClients;
  readonly #connections: GroupConnections;
  readonly #entries: readonly SubscribeEntry[];
  readonly #row: SubscribedEntries;
  readonly #finder: EntryFinder;
  readonly #listener: RequestListener;
  /** Filter templates, an entry each. */
  readonly #filters: readonly (readonly Template[])[];
  readonly #subscriptions: Subscriptions;
  readonly #receiver: Receiver;
  readonly #book: SubscriberBook;
  readonly #lives: SessionLives;
  readonly #askedUs = new Float64Array(1);

  constructor(
    services: MqttServices,
    clients: () => MqttClients,
    around: { readonly connections: GroupConnections; readonly listener: RequestListener },
  ) {
    const { group, plan, order } = services;
    this.#services = services;
    this.#clients = clients;
    this.#connections = around.connections;
    this.#listener = around.listener;
    this.#row = subscribedEntries(group);
    this.#entries = this.#row.entries;
    this.#filters = this.#entries.map((entry) => entry.topics.map(compileTemplate));
    this.#subscriptions = new Subscriptions({
      clients: order.count,
      entries: this.#entries.length,
      timeoutUs: group.connect.timeoutUs,
      actions: {
        subscribe: (position, entry) => this.#subscribe(position, entry),
        unsubscribe: (position, entry) => this.#unsubscribe(position, entry),
        failed: (position, entry, what) => this.#failed(position, entry, what),
      },
    });
    this.#book = services.ledger.subscribers.book(services.groupIndex, order.numbers, (position) =>
      group.subscribe.flatMap((_, entry) => this.#filtersOf(position, entry)),
    );
    const identifiers = this.#entries.map(({ options }) => options.identifier);
    this.#finder = new EntryFinder(identifiers, (position, entry) =>
      this.#filtersOf(position, entry),
    );
    this.#lives = new SessionLives(group, services.target, order.count);
    this.#receiver = new Receiver({
      book: this.#book,
      runHash: services.runHash,
      clockDomain: services.clockDomain,
      peers: services.peers,
      stages: plan.stages.length,
      seeksText: hasTextStamps(plan),
      currentStage: () => services.timeline.currentStage(),
      meter: (entry, stage, qos) => this.#receiveMeter(entry, stage, qos),
    });
  }

  /** Where the respond entries and the response topics of streams stand among the entries. */
  get row(): SubscribedEntries {
    return this.#row;
  }

  /** Every client of the group is to hold this entry. */
  want(entry: number): void {
    this.#subscriptions.want(
      entry,
      momentOf(this.#services.moment),
      (position) => at(this.#connections.states, position) === CONNECTED,
    );
  }

  /** No client of the group is to hold this entry any more. */
  release(entry: number): void {
    this.#subscriptions.release(
      entry,
      momentOf(this.#services.moment),
      (position) => at(this.#connections.states, position) === CONNECTED,
    );
  }

  released(entry: number): boolean {
    return this.#subscriptions.released(entry);
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
    this.#book.states.connected(position, sessionPresent, this.#lives.keepsUs(position));
    this.#lives.begin(position, at(this.#clients().limits.sessionExpiryS, position));
    this.#subscriptions.onConnected(position, sessionPresent, momentOf(this.#services.moment));
  }

  onClosed(position: number): void {
    this.#subscriptions.onClosed(position);
    this.#book.states.disconnected(position);
  }

  /** The plan ends the client's connection, and its subscriptions with it unless its session is kept. */
  onDisconnecting(position: number, keep: boolean): void {
    if (keep) {
      this.onClosed(position);
      return;
    }
    this.#subscriptions.onLeft(position);
    this.#book.states.ended(position);
  }

  /** Whether the client waits for no SUBACK. */
  isReady(position: number): boolean {
    return this.#subscriptions.isReady(position);
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
    const refusals = subackRefusals(suback, this.#services.target.version);
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

  onUnsuback(position: number, unsuback: InboundSuback): void {
    const entry = unsuback.packetId - SUBSCRIBE_PACKET_IDS.first;
    const nowUs = momentOf(this.#services.moment);
    const isKnown = entry >= 0 && entry < this.#entries.length;
    const tookUs = isKnown ? this.#subscriptions.onUnsuback(position, entry, nowUs) : -1;
    if (tookUs < 0) {
      this.#connections.onProtocolError(position, UNKNOWN_UNSUBACK);
      return;
    }
    this.#askedUs[0] = nowUs - tookUs;
    const meter = this.#subscribeMeter(entry);
    meter.elapsed(UNSUBSCRIBE_TIME, this.#askedUs, 0);
    const filters = item(this.#filters, entry).length;
    let refused = 0;
    // Before MQTT 5 an UNSUBACK has no codes.
    for (let k = 0; k < unsuback.codesLength; k++) {
      const code = at(unsuback.bytes, unsuback.codesAt + k);
      if (code < FIRST_FAILURE_CODE) continue;
      refused += 1;
      const reason = reasonCodeName(code);
      meter.fail('unsubscribe_failed', reason);
      this.#example('unsubscribe_failed', { position, entry, reason });
    }
    meter.add(UNSUBSCRIBED, filters - refused);
  }

  onPublish(position: number, publish: InboundPublish): void {
    const entry = this.#finder.find(position, publish);
    if (entry >= 0 && entry < this.#row.own) {
      this.#receiver.onPublish(position, entry, publish);
      if (publish.identifierCount > 1 && this.#book.isIdentified) this.#alsoFor(entry, publish);
    } else if (entry >= 0) this.#onOther(entry, position, publish);
  }

  #alsoFor(first: number, { identifiers, identifierCount }: InboundPublish): void {
    for (let k = 0; k < identifierCount; k++) {
      const entry = this.#finder.byIdentifier(at(identifiers, k));
      if (entry >= 0 && entry !== first && entry < this.#row.own) this.#receiver.also(entry);
    }
  }

  /** What responders and requesters receive is theirs, and no part of the ledger. */
  #onOther(entry: number, position: number, publish: InboundPublish): void {
    const request = entry - this.#row.own - this.#services.group.respond.length;
    if (request < 0) this.#listener.onRequest(entry - this.#row.own, position, publish);
    else this.#listener.onStrayAnswer(item(this.#entries, entry).subject);
  }

  /** Opens the series of a stage, so that they show even where nothing comes. */
  show(stage: number): void {
    const { recorder } = this.#services;
    for (const [entry, { subject, qos }] of this.#entries.entries()) {
      recorder.meter({ kind: 'subscribe', subject, stage });
      if (entry < this.#row.own) this.#receiveMeter(entry, stage, qos);
    }
  }

  /** Meters of retired stages went with the slice. */
  afterCut(): void {
    this.#receiver.forget();
  }

  /** The broker's word counts for the ledger, even where it comes too late for us. */
  #bookGrants(position: number, entry: number, suback: InboundSuback): void {
    if (entry >= this.#row.own) return;
    const first = this.#firstFilter(entry);
    const filters = Math.min(suback.codesLength, item(this.#filters, entry).length);
    for (let k = 0; k < filters; k++) {
      const code = at(suback.bytes, suback.codesAt + k);
      if (subackFailure(code, this.#services.target.version) === null)
        this.#book.states.granted(position, first + k, code);
      else this.#book.states.refused(position, first + k);
    }
  }

  /** Filters are numbered over all entries of the group. */
  #firstFilter(entry: number): number {
    let first = 0;
    for (let k = 0; k < entry; k++) first += item(this.#filters, k).length;
    return first;
  }

  #subscribe(position: number, entry: number): void {
    const refusal = this.#refusal(position, entry);
    if (refusal === null) return;
    const nowUs = momentOf(this.#services.moment);
    this.#subscriptions.onSuback(position, entry, { granted: false, nowUs });
    const reason = `${NOT_SENT}${refusal}`;
    this.#subscribeMeter(entry).fail('subscribe_failed', reason, item(this.#filters, entry).length);
    this.#example('subscribe_failed', { position, entry, reason });
  }

  /** Sends the SUBSCRIBE of an entry, or says why it cannot be or the broker would not take it. */
  #refusal(position: number, entry: number): string | null {
    const { qos, options } = item(this.#entries, entry);
    const { identifier, ...rest } = options;
    try {
      return this.#clients().subscribe(position, {
        packetId: SUBSCRIBE_PACKET_IDS.first + entry,
        filters: this.#filtersOf(position, entry),
        qos,
        ...rest,
        identifier: identifier ?? undefined,
      });
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** The client is not to hold the entry any more: from now on nothing is owed to it. */
  #unsubscribe(position: number, entry: number): void {
    const first = this.#firstFilter(entry);
    const filters = this.#filtersOf(position, entry);
    for (let k = 0; k < filters.length; k++) this.#book.states.unsubscribed(position, first + k);
    this.#clients().unsubscribe(position, {
      packetId: SUBSCRIBE_PACKET_IDS.first + entry,
      filters,
    });
  }

  #failed(position: number, entry: number, { asked, why }: Unanswered): void {
    const isLate = why === 'timed_out';
    const filters = item(this.#filters, entry).length;
    const [metric, reason] =
      asked === 'subscribe'
        ? (['subscribe_failed', isLate ? SUBSCRIBE_TIMED_OUT : SUBSCRIBE_CONNECTION_LOST] as const)
        : ([
            'unsubscribe_failed',
            isLate ? UNSUBSCRIBE_TIMED_OUT : UNSUBSCRIBE_CONNECTION_LOST,
          ] as const);
    this.#subscribeMeter(entry).fail(metric, reason, filters);
    this.#example(metric, { position, entry, reason });
  }

  #filtersOf(position: number, entry: number): string[] {
    const { context, order } = this.#services;
    context.n = at(order.numbers, position);
    context.seq = 0;
    return item(this.#filters, entry).map((filter) => filter.render(context));
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

function subackRefusals(suback: InboundSuback, version: MqttVersion): string[] {
  const refusals: string[] = [];
  for (let k = 0; k < suback.codesLength; k++) {
    const refusal = subackFailure(at(suback.bytes, suback.codesAt + k), version);
    if (refusal !== null) refusals.push(refusal);
  }
  return refusals;
}

/** Whether messages of the plan carry their stamp as text. */
function hasTextStamps({ groups }: Plan): boolean {
  return groups.some(({ publish }) =>
    publish.some(({ verify, payload }) => verify && payload.kind !== 'size'),
  );
}
