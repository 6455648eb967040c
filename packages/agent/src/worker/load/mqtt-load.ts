// Data path
import type { Activity, DropSpec, Stage, StageWork } from '@squall/core/plan';
import { connectRate, type StageNeeds } from '@squall/core/schedule';
import type {
  ClientHandlers,
  InboundPublish,
  InboundSuback,
  MqttClients,
  MqttClientsOptions,
} from '@squall/mqtt';
import type { Leaving } from '../clients/connector.ts';
import { TakeoverClients, type TakeoverListener } from '../clients/takeover-clients.ts';
import { momentOf } from '../clock.ts';
import { StageRun } from '../publish/stage-run.ts';
import { GroupConnections } from './group-connections.ts';
import type { GroupLoad, GroupRun, PublishActivity } from './group-load.ts';
import { GroupPublishing } from './group-publishing.ts';
import type { MqttServices } from './group-services.ts';
import { GroupRequests } from './group-requests.ts';
import { GroupSubscribing, type RequestListener } from './group-subscribing.ts';

/** A group of MQTT clients: its clients and all that they do. */
export class MqttLoad implements GroupLoad, ClientHandlers, RequestListener, TakeoverListener {
  readonly lastDuties = null;
  readonly name: string;
  readonly connections: GroupConnections;
  readonly publishing: GroupPublishing;
  readonly subscribing: GroupSubscribing;
  readonly clients: MqttClients;
  /** The same clients, where a stage takes them over. */
  readonly #takeovers: TakeoverClients | null;
  /** Null where nothing of the group asks for answers. */
  readonly #requests: GroupRequests | null;
  /** Respond entries that have begun to answer. */
  readonly #answering = new Set<number>();
  readonly #services: MqttServices;

  /** @throws SquallError or RangeError where the group cannot be run as the plan wants it. */
  constructor(services: MqttServices) {
    const clients = (): MqttClients => this.clients;
    this.#services = services;
    this.name = services.group.name;
    const takeovers = (): TakeoverClients | null => this.#takeovers;
    this.connections = new GroupConnections(services, { all: clients, takeovers }, this);
    this.subscribing = new GroupSubscribing(services, clients, {
      connections: this.connections,
      listener: this,
    });
    this.publishing = new GroupPublishing(services, clients, this.connections);
    const asks = services.group.publish.some(({ request }) => request !== null);
    this.#requests = asks ? new GroupRequests(services, this.publishing) : null;
    this.connections.checkTemplates();
    const maxPacketBytes = services.group.connect.properties?.maximumPacketSize ?? null;
    const options: MqttClientsOptions = {
      slots: services.order.count,
      handlers: this,
      momentUs: services.moment,
      version: services.target.version,
      ...(maxPacketBytes !== null && { maxPacketBytes }),
    };
    this.#takeovers = isTakenOver(services)
      ? new TakeoverClients(options, services.createClients, this)
      : null;
    this.clients = this.#takeovers ?? services.createClients(options);
  }

  /** Starts what a stage needs before its clock, or what connecting and subscribing it is made of. */
  prepare(needs: StageNeeds, stage: Stage, atUs: number): void {
    const { group, groupIndex } = this.#services;
    if (needs.connects.has(groupIndex)) {
      this.connections.connector.connectAll(atUs, connectRate(stage, groupIndex, group));
    }
    for (const entry of needs.responds.get(groupIndex) ?? []) this.#answering.add(entry);
    for (const entry of this.#newEntries(needs)) this.subscribing.want(entry);
  }

  /** The answers of a stage, from where it is entered: of all entries that have begun by then. */
  beginAnswering(stage: number): StageRun[] {
    const runs: StageRun[] = [];
    for (const entry of this.#answering) runs.push(this.publishing.beginAnswering(entry, stage));
    return runs;
  }

  /** Whether `prepare` has come to its end: every client has done it or finally failed. */
  prepared(needs: StageNeeds): boolean {
    const { groupIndex } = this.#services;
    if (needs.churns.has(groupIndex)) return true;
    if (needs.connects.has(groupIndex) && !this.connections.connector.settled) return false;
    return this.#newEntries(needs).every((entry) => this.subscribing.settled(entry));
  }

  /** What the stage subscribes to, among all that the group may. */
  #newEntries({ subscribes, responds, requests }: StageNeeds): number[] {
    const { groupIndex } = this.#services;
    const { row } = this.subscribing;
    return [
      ...(subscribes.get(groupIndex) ?? []),
      ...Array.from(responds.get(groupIndex) ?? [], (entry) => row.respond(entry)),
      ...Array.from(requests.get(groupIndex) ?? [], (stream) => row.request(stream)),
    ];
  }

  /** Starts what the stage does to connections, at its clock. */
  begin(work: StageWork, clockUs: number): void {
    for (const activity of work.activities) this.#begin(activity, clockUs);
  }

  #drop(drop: DropSpec | undefined, clockUs: number): void {
    const { connector } = this.connections;
    // Who goes for good holds no subscription any more, whenever its turn is.
    const isForGood = drop === undefined || (!drop.keep && drop.back === null);
    if (isForGood && (drop?.share ?? 1) === 1) this.subscribing.reset();
    if (drop === undefined) connector.disconnectAll(clockUs);
    else connector.drop(drop, clockUs);
  }

  /** Whether what `begin` started is done. */
  isDone(work: StageWork): boolean {
    if (!this.connections.connector.isDoneMoving) return false;
    return work.activities.every(
      (activity) => activity.kind !== 'unsubscribe' || this.subscribing.released(activity.entry),
    );
  }

  #begin(activity: Activity, clockUs: number): void {
    const { connector } = this.connections;
    switch (activity.kind) {
      case 'churn':
        connector.churn(activity, clockUs);
        return;
      case 'takeover':
        connector.takeOver(activity, clockUs);
        return;
      case 'unsubscribe':
        this.subscribing.release(activity.entry);
        return;
      case 'disconnect':
        this.#drop(activity.drop, clockUs);
        return;
      case 'connect':
      case 'subscribe':
      case 'publish':
      case 'respond':
      case 'consume':
      case 'idle':
        return;
    }
  }

  get failed(): number {
    return this.connections.connector.failed;
  }

  beginStream(activity: PublishActivity, stage: number, clockUs: number): StageRun {
    return this.publishing.begin(activity, stage, clockUs);
  }

  endTurns(clockUs: number, lengthUs: number): void {
    this.connections.connector.endTurns(clockUs, lengthUs);
  }

  stopWalking(): void {
    this.connections.connector.stopWalking();
  }

  work(nowUs: number): void {
    this.connections.connector.work(nowUs);
  }

  pick(beforeUs: number): void {
    this.publishing.pick(beforeUs);
  }

  expire(): void {
    this.publishing.expire();
  }

  afterCut(): void {
    this.subscribing.afterCut();
  }

  drainOver(run: GroupRun): void {
    if (run instanceof StageRun) this.publishing.drainOver(run);
  }

  cutOff(run: GroupRun): void {
    if (run instanceof StageRun) this.publishing.cutOff(run);
  }

  remove(run: GroupRun): void {
    if (run instanceof StageRun) this.publishing.remove(run);
  }

  closeAll(hard: boolean): void {
    this.connections.closeAll(hard);
  }

  abort(): void {
    this.clients.close();
  }

  /** Opens the series of a stage. */
  show(stage: number): void {
    this.connections.show(stage);
    this.subscribing.show(stage);
  }

  /** When there is something to do next, µs. */
  nextUs(): number {
    return Math.min(this.publishing.nextUs(), this.connections.connector.nextUs());
  }

  /** Looks for time-outs. */
  scan(): void {
    const { group, moment } = this.#services;
    this.publishing.scan();
    this.subscribing.scan();
    this.#takeovers?.scan(momentOf(moment), group.connect.timeoutUs);
  }

  /** Whether anything is awaited that may time out. */
  get isAwaiting(): boolean {
    if (this.publishing.isAwaiting || this.subscribing.pending) return true;
    return this.#takeovers !== null && this.#takeovers.lingering > 0;
  }

  beforeCut(): void {
    this.connections.beforeCut();
    this.publishing.showGauges();
  }

  /** Hands everything written to the kernel and books what it took. */
  flush(): void {
    this.clients.flush();
    this.publishing.settleUnsent();
  }

  onConnected(position: number, sessionPresent: boolean): void {
    this.connections.onConnected(position, sessionPresent);
    this.#greeted(position, sessionPresent);
  }

  #greeted(position: number, sessionPresent: boolean): void {
    this.subscribing.onConnected(position, sessionPresent);
    this.publishing.onConnected(position, sessionPresent);
    this.#tellReady(position);
    this.#services.wake();
  }

  onConnectFailed(position: number, reason: string): void {
    this.connections.onConnectFailed(position, reason);
    this.#services.wake();
  }

  onClosed(position: number, reason: string): void {
    this.connections.onClosed(position, reason);
    this.subscribing.onClosed(position);
    this.publishing.onLost(position);
    this.#services.wake();
  }

  onSuperseded(position: number, reason: string | null): void {
    const { cleanStart, sessionExpiryS } = this.#services.group.connect;
    if (reason !== null) this.connections.onOldClosed(position, reason);
    this.connections.connector.onSuperseded(position);
    this.onDisconnecting(position, { keep: !cleanStart && sessionExpiryS !== 0 });
  }

  onTakenOver(position: number, sessionPresent: boolean): void {
    this.connections.onTakenOver(position, sessionPresent);
    this.#greeted(position, sessionPresent);
  }

  onTakeoverFailed(position: number, reason: string): void {
    this.connections.onTakeoverFailed(position, reason);
    this.#services.wake();
  }

  onOldClosed(position: number, reason: string): void {
    this.connections.onOldClosed(position, reason);
  }

  onOldStays(position: number): void {
    this.connections.onOldStays(position);
  }

  onPuback(position: number, packetId: number, reasonCode: number): void {
    this.publishing.onPuback(position, packetId, reasonCode);
    this.#services.wake();
  }

  onPubrec(position: number, packetId: number, reasonCode: number): boolean {
    const isKnown = this.publishing.onPubrec(position, packetId, reasonCode);
    this.#services.wake();
    return isKnown;
  }

  onPubcomp(position: number, packetId: number, reasonCode: number): void {
    this.publishing.onPubcomp(position, packetId, reasonCode);
    this.#services.wake();
  }

  onSuback(position: number, suback: InboundSuback): void {
    this.subscribing.onSuback(position, suback);
    this.#tellReady(position);
    this.#services.wake();
  }

  onUnsuback(position: number, unsuback: InboundSuback): void {
    this.subscribing.onUnsuback(position, unsuback);
    this.#services.wake();
  }

  onPublish(position: number, publish: InboundPublish): void {
    if (this.#requests?.take(position, publish) === true) this.#services.wake();
    else this.subscribing.onPublish(position, publish);
  }

  onRequest(entry: number, position: number, request: InboundPublish): void {
    this.publishing.answers.onRequest(entry, position, request);
    this.#services.wake();
  }

  onStrayAnswer(subject: string): void {
    this.#requests?.onStray(subject);
  }

  onDrained(position: number): void {
    this.publishing.onDrained(position);
    this.#services.wake();
  }

  onGaveUp(position: number): void {
    this.subscribing.onGaveUp(position);
    this.publishing.onGaveUp(position);
  }

  onDisconnecting(position: number, { keep }: Pick<Leaving, 'keep'>): void {
    this.subscribing.onDisconnecting(position, keep);
    this.publishing.onLost(position, !keep);
  }

  #tellReady(position: number): void {
    if (!this.connections.isRecovering(position)) return;
    if (this.subscribing.isReady(position)) this.connections.onReady(position);
  }
}

function isTakenOver({ plan, groupIndex }: MqttServices): boolean {
  return plan.stages.some(({ run }) =>
    run.some(
      ({ group, activities }) =>
        group === groupIndex && activities.some(({ kind }) => kind === 'takeover'),
    ),
  );
}
