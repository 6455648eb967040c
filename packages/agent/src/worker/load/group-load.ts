// Data path
import type { StageWork } from '@squall/core/plan';
import type { StageNeeds } from '@squall/core/schedule';
import type { ClientHandlers, InboundPublish, InboundSuback, MqttClients } from '@squall/mqtt';
import { GroupConnections } from './group-connections.ts';
import { GroupPublishing } from './group-publishing.ts';
import type { GroupServices } from './group-services.ts';
import { GroupSubscribing } from './group-subscribing.ts';

/** One group's share of a worker: its clients and all that they do. */
export class GroupLoad implements ClientHandlers {
  readonly name: string;
  readonly connections: GroupConnections;
  readonly publishing: GroupPublishing;
  readonly subscribing: GroupSubscribing;
  readonly clients: MqttClients;
  readonly #services: GroupServices;

  /** @throws SquallError or RangeError where the group cannot be run as the plan wants it. */
  constructor(services: GroupServices) {
    const clients = (): MqttClients => this.clients;
    this.#services = services;
    this.name = services.group.name;
    this.connections = new GroupConnections(services, clients, this);
    this.subscribing = new GroupSubscribing(services, clients, this.connections);
    this.publishing = new GroupPublishing(services, clients, this.connections);
    this.connections.checkTemplates();
    this.clients = services.createClients({
      slots: services.order.count,
      handlers: this,
      momentUs: services.moment,
    });
  }

  /** Starts what a stage needs before its clock, or what connecting and subscribing it is made of. */
  prepare(group: number, needs: StageNeeds, atUs: number): void {
    if (needs.connects.has(group)) this.connections.connector.connectAll(atUs);
    for (const entry of needs.subscribes.get(group) ?? []) this.subscribing.want(entry);
  }

  /** Whether `prepare` has come to its end: every client has done it or finally failed. */
  prepared(group: number, needs: StageNeeds): boolean {
    if (needs.connects.has(group) && !this.connections.connector.settled) return false;
    for (const entry of needs.subscribes.get(group) ?? []) {
      if (!this.subscribing.settled(entry)) return false;
    }
    return true;
  }

  /** Starts the stage's disconnecting, if it has any. */
  disconnectIfAsked(work: StageWork, atUs: number): void {
    if (!work.activities.some((activity) => activity.kind === 'disconnect')) return;
    this.subscribing.reset();
    this.connections.connector.disconnectAll(atUs);
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
    this.connections.onConnected(position);
    this.subscribing.onConnected(position, sessionPresent);
    this.publishing.onConnected(position);
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

  onPuback(position: number, packetId: number): void {
    this.publishing.onPuback(position, packetId);
    this.#services.wake();
  }

  onSuback(position: number, suback: InboundSuback): void {
    this.subscribing.onSuback(position, suback);
    this.#services.wake();
  }

  onPublish(position: number, publish: InboundPublish): void {
    this.subscribing.onPublish(position, publish);
  }

  onDrained(position: number): void {
    this.publishing.onDrained(position);
    this.#services.wake();
  }

  onGaveUp(position: number): void {
    this.subscribing.onGaveUp(position);
    this.publishing.onGaveUp(position);
  }

  onDisconnecting(position: number): void {
    this.subscribing.onDisconnecting(position);
    this.publishing.onLost(position, true);
  }
}
