// Data path
import { scheduleOf, spacingOf } from '@squall/core/schedule';
import {
  FIRST_FAILURE_CODE,
  InflightTable,
  type MqttClients,
  PUBACK_LATE,
  PUBACK_UNKNOWN,
  reasonCodeName,
  RELEASED,
  RELEASED_AGAIN,
  UNRELEASED,
} from '@squall/mqtt';
import type { ClientOrder } from '../clients/client-order.ts';
import { type Moment, momentOf } from '../clock.ts';
import { at, item } from '../element.ts';
import type { Meter } from '../measure/meter.ts';
import {
  CONNECTION_LOST,
  SESSION_LOST,
  UNKNOWN_PUBACK,
  UNKNOWN_PUBCOMP,
  UNKNOWN_PUBREC,
} from '../measure/reasons.ts';
import { ClosedLoop } from '../publish/closed-loop.ts';
import type { Feed } from '../publish/feed.ts';
import { KeptMessages } from '../publish/kept-messages.ts';
import type { Outlet } from '../publish/outlet.ts';
import { PacedSchedule } from '../publish/paced-schedule.ts';
import type { PublishFailure, PublishGroup } from '../publish/publish-group.ts';
import { publishStream } from '../publish/publish-stream.ts';
import { StageRun } from '../publish/stage-run.ts';
import type { Stream } from '../publish/stream.ts';
import { tableWindow } from '../publish/table-window.ts';
import { openRequests } from '../requests/open-requests.ts';
import { GroupAnswers } from './group-answers.ts';
import type { GroupConnections } from './group-connections.ts';
import type { PublishActivity } from './group-load.ts';
import type { MqttServices } from './group-services.ts';

/** Everything that one group publishes: its streams, their live stages, their in-flight messages. */
export class GroupPublishing implements PublishGroup {
  readonly order: ClientOrder;
  readonly moment: Moment;
  readonly states: Uint8Array;
  readonly blocked: Uint8Array;
  readonly table: InflightTable;
  readonly seqs: Uint32Array;
  readonly kept: KeptMessages | null;
  readonly streams: readonly Stream[];
  readonly answers: GroupAnswers;
  readonly #services: MqttServices;
  readonly #clients: () => MqttClients;
  readonly #connections: Pick<GroupConnections, 'states' | 'describe' | 'onProtocolError'>;
  /** The shortest acknowledgement time-out of the streams: no entry can be late before it. */
  readonly #ackTimeoutUs: number;
  readonly isLimited: boolean;
  /** What is still to be sent again, by client: more than the broker takes at once. */
  readonly #toResend = new Map<number, number[]>();
  /** All live runs, the oldest stage first. */
  readonly #runs: StageRun[] = [];

  constructor(
    services: MqttServices,
    clients: () => MqttClients,
    connections: Pick<GroupConnections, 'states' | 'describe' | 'onProtocolError'>,
  ) {
    const { group, order } = services;
    this.#services = services;
    this.#clients = clients;
    this.order = order;
    this.moment = services.moment;
    this.states = connections.states;
    this.#connections = connections;
    this.blocked = new Uint8Array(order.count);
    const window = tableWindow(services.plan, group);
    this.table = new InflightTable({ clients: order.count, window });
    this.seqs = new Uint32Array(this.table.entries);
    this.isLimited = services.target.version === '5';
    this.kept = keepsSession(services) ? new KeptMessages() : null;
    const scene = { services, group: this };
    const streams = Array.from(group.publish, (_, index) => publishStream(index, scene));
    this.answers = new GroupAnswers(services, this);
    this.streams = [...streams, ...this.answers.streams];
    this.#ackTimeoutUs = Math.min(...Array.from(this.streams, (each) => each.ackTimeoutUs));
  }

  get clients(): MqttClients {
    return this.#clients();
  }

  receiveMaximumOf(position: number): number {
    return at(this.#clients().limits.receiveMaximum, position);
  }

  unsentOf(position: number): number {
    return this.#clients().writableLength(position);
  }

  failed(meter: Meter, failure: PublishFailure): void {
    const { metric, reason, position, n } = failure;
    const { recorder, timeline } = this.#services;
    const { subject } = meter.key;
    meter.fail(metric, reason, n);
    if (!recorder.wantsExample(metric, subject, reason)) return;
    const atUs = timeline.sinceStart(momentOf(this.moment));
    const who = this.#connections.describe(position);
    recorder.example({ metric, subject, reason, ...who, atUs });
  }

  /** Begins a stream in a stage; its tick 0 is due at `clockUs`. */
  begin(activity: PublishActivity, stage: number, clockUs: number): StageRun {
    const stream = item(this.streams, activity.stream);
    const spec = item(this.#services.group.publish, activity.stream);
    const paced = activity.pace.kind !== 'max';
    const { subject, qos } = stream;
    const meter = this.#services.recorder.meter({ kind: 'publish', subject, stage, qos });
    const { ledger, firstSubject } = this.#services;
    const book = ledger.publishers.book({
      stream: firstSubject + activity.stream,
      stage,
      numbers: this.order.numbers,
    });
    const requests = openRequests(spec, { meter, window: activity.inflight, group: this });
    const { inflight: window } = activity;
    const options = { stage, stream, meter, book, window, paced, requests, answers: false };
    const common = { order: this.order, clockUs, count: spec.count, meter, moment: this.moment };
    const makeFeed = (outlet: Outlet): Feed =>
      paced
        ? new PacedSchedule({
            ...common,
            outlet,
            schedule: scheduleOf(activity.pace, this.order.total, spacingOf(spec, stage)),
            backlogUs: this.#services.plan.backlogUs,
          })
        : new ClosedLoop({ ...common, outlet, polled: qos === 0 });
    return this.#add(stream, new StageRun(options, makeFeed));
  }

  /** Whether acknowledgements or answers are awaited, so that their time-outs are looked for. */
  get isAwaiting(): boolean {
    if (this.table.total > 0) return true;
    return this.#runs.some(({ requests }) => requests !== null && requests.total > 0);
  }

  /** From here on the answers of a respond entry belong to this stage. */
  beginAnswering(entry: number, stage: number): StageRun {
    const { stream, run } = this.answers.begin(entry, stage);
    return this.#add(stream, run);
  }

  #add(stream: Stream, run: StageRun): StageRun {
    stream.runs.push(run);
    this.#runs.push(run);
    return run;
  }

  /** Takes a run out that has come to its end. */
  remove(run: StageRun): void {
    this.#runs.splice(this.#runs.indexOf(run), 1);
    for (const stream of this.streams) {
      const place = stream.runs.indexOf(run);
      if (place >= 0) stream.runs.splice(place, 1);
    }
  }

  /** When there is something to pick up or to drop next, µs. */
  nextUs(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const run of this.#runs) next = Math.min(next, run.feed.nextUs());
    return next;
  }

  pick(beforeUs: number): void {
    for (const run of this.#runs) run.feed.pick(beforeUs);
  }

  expire(): void {
    for (const run of this.#runs) run.feed.expire();
  }

  /** After a flush. */
  settleUnsent(): void {
    for (const run of this.#runs) run.settleUnsent();
  }

  /** Fails what got no acknowledgement, or no answer, in time. */
  scan(): void {
    for (const run of this.#runs) run.requests?.expire(this.#pumpOne);
    const { table } = this;
    const nowUs = momentOf(this.moment);
    let entry = table.oldest();
    while (entry >= 0 && nowUs - at(table.sentUs, entry) >= this.#ackTimeoutUs) {
      const next = table.after(entry);
      const stream = item(this.streams, at(table.stream, entry));
      if (nowUs - at(table.sentUs, entry) >= stream.ackTimeoutUs) {
        const position = table.clientOf(entry);
        const run = stream.runOf(at(table.stage, entry));
        run?.unresolved(position, entry);
        run?.timedOut(position);
        table.expire(entry);
        this.pump(position);
      }
      entry = next;
    }
  }

  onPuback(position: number, packetId: number, reasonCode: number): void {
    const { table } = this;
    const entry = table.settle(position, packetId);
    if (entry === PUBACK_UNKNOWN) this.#connections.onProtocolError(position, UNKNOWN_PUBACK);
    if (entry < 0) return;
    const stream = item(this.streams, at(table.stream, entry));
    if (stream.qos === 1) this.#settled(position, entry, reasonCode);
    else this.#connections.onProtocolError(position, UNKNOWN_PUBACK);
  }

  /** Whether the id is that of a QoS 2 message in flight. */
  onPubrec(position: number, packetId: number, reasonCode: number): boolean {
    const { table } = this;
    const entry = table.find(position, packetId);
    if (entry === PUBACK_LATE) {
      // Its PUBCOMP frees the id, unless there is to be none.
      if (reasonCode >= FIRST_FAILURE_CODE) table.settle(position, packetId);
      return true;
    }
    if (entry < 0 || item(this.streams, at(table.stream, entry)).qos !== 2) {
      this.#connections.onProtocolError(position, UNKNOWN_PUBREC);
      return false;
    }
    if (reasonCode >= FIRST_FAILURE_CODE) this.#settled(position, entry, reasonCode);
    else if (at(table.progress, entry) === UNRELEASED) table.progress[entry] = RELEASED;
    return true;
  }

  onPubcomp(position: number, packetId: number, reasonCode: number): void {
    const { table } = this;
    const entry = table.settle(position, packetId);
    if (entry === PUBACK_LATE) return;
    const progress = entry < 0 ? UNRELEASED : at(table.progress, entry);
    if (progress === UNRELEASED) {
      this.#connections.onProtocolError(position, UNKNOWN_PUBCOMP);
      return;
    }
    // A broker that does not know the id any more had finished before the connection went.
    this.#settled(position, entry, progress === RELEASED_AGAIN ? 0 : reasonCode);
  }

  onConnected(position: number, sessionPresent: boolean): void {
    this.#toResend.delete(position);
    if (this.kept === null) this.table.resetClient(position);
    else if (this.isLimited && !sessionPresent) this.#forget(position, SESSION_LOST);
    else this.#resend(position, this.kept);
    this.pump(position);
  }

  onDrained(position: number): void {
    this.blocked[position] = 0;
    for (const run of this.#runs) run.allSent(position);
    this.pump(position);
  }

  /** The connection went. `forGood`: the plan ended the session, even a kept one. */
  onLost(position: number, forGood = false): void {
    this.blocked[position] = 0;
    if (this.kept !== null && !forGood) {
      for (const run of this.#runs) run.lostKeeping(position);
      return;
    }
    this.#forget(position, CONNECTION_LOST);
  }

  onGaveUp(position: number): void {
    for (const run of this.#runs) run.feed.giveUp(position);
  }

  readonly #pumpOne = (position: number): void => this.pump(position);

  /** The client may have room again. */
  pump(position: number): void {
    for (const run of this.#runs) run.feed.pump(position);
  }

  /** The drain of a run is over. */
  drainOver(run: StageRun): void {
    this.#expireAll(run);
    run.drainOver();
  }

  /** The load was cut off in the middle of a run. */
  cutOff(run: StageRun): void {
    this.#expireAll(run);
    run.cutOff();
  }

  showGauges(): void {
    for (const run of this.#runs) run.showGauges();
  }

  /** Gives up all that a run has in flight. */
  #expireAll(run: StageRun): void {
    const { table } = this;
    let entry = table.oldest();
    while (entry >= 0) {
      const next = table.after(entry);
      const stream = item(this.streams, at(table.stream, entry));
      if (at(table.stage, entry) === run.stage && stream.runs.includes(run)) {
        run.unresolved(table.clientOf(entry), entry);
        table.expire(entry);
      }
      entry = next;
    }
  }

  /** The last acknowledgement of a message came: it is published, or the broker refused it. */
  #settled(position: number, entry: number, reasonCode: number): void {
    const { table } = this;
    const run = item(this.streams, at(table.stream, entry)).runOf(at(table.stage, entry));
    if (reasonCode < FIRST_FAILURE_CODE) run?.acked(position, entry);
    else run?.rejected(position, entry, reasonCodeName(reasonCode));
    table.release(entry);
    if (this.#toResend.size > 0) this.#resendMore(position);
    this.pump(position);
  }

  /** Fails all that a client has in flight: nobody will acknowledge it. */
  #forget(position: number, reason: string): void {
    const { table } = this;
    this.#toResend.delete(position);
    let entry = table.nextOf(position, 0);
    while (entry >= 0) {
      const run = item(this.streams, at(table.stream, entry)).runOf(at(table.stage, entry));
      run?.unresolved(position, entry);
      table.release(entry);
      entry = table.nextOf(position, table.positionOf(entry) + 1);
    }
    table.resetClient(position);
    for (const run of this.#runs) run.lost(position, reason);
  }

  /** A kept session goes on: what has no acknowledgement goes out again [MQTT-4.4.0-1]. */
  #resend(position: number, kept: KeptMessages): void {
    const { table } = this;
    const entries: number[] = [];
    let entry = table.nextOf(position, 0);
    while (entry >= 0) {
      entries.push(entry);
      entry = table.nextOf(position, table.positionOf(entry) + 1);
    }
    if (entries.length === 0) return;
    this.#toResend.set(position, kept.inOrder(entries));
    this.#resendMore(position);
  }

  /** As much as the broker takes: each acknowledgement makes room for one more. */
  #resendMore(position: number): void {
    const { table } = this;
    const waiting = this.#toResend.get(position);
    if (waiting === undefined) return;
    const counts = new Map<StageRun, number>();
    let room = this.receiveMaximumOf(position) - table.countOf(position) + waiting.length;
    while (waiting.length > 0 && room > 0) {
      const entry = waiting.shift() ?? 0;
      const run = item(this.streams, at(table.stream, entry)).runOf(at(table.stage, entry));
      if (run === undefined || !this.#resendOne(position, entry)) continue;
      counts.set(run, (counts.get(run) ?? 0) + 1);
      room -= 1;
    }
    if (waiting.length === 0) this.#toResend.delete(position);
    for (const [run, count] of counts) run.resent(position, count);
  }

  #resendOne(position: number, entry: number): boolean {
    const { table, kept } = this;
    if (at(table.progress, entry) !== UNRELEASED) {
      table.progress[entry] = RELEASED_AGAIN;
      this.clients.release(position, table.packetId(entry));
      return true;
    }
    const message = kept?.message(entry);
    if (message === undefined) return false;
    this.clients.publish(position, message);
    return true;
  }
}

/** Whether clients have a session that outlives their connections. */
function keepsSession({ group, target }: MqttServices): boolean {
  const { cleanStart, sessionExpiryS } = group.connect;
  if (cleanStart) return false;
  return target.version !== '5' || (sessionExpiryS !== null && sessionExpiryS > 0);
}
