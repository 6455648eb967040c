import type { MetricName } from '@squall/core/metrics';
import type { Template } from '@squall/core/template';
import type { ConnectOptions, MqttClients } from '@squall/mqtt';
import { Connector, type Leaving } from '../clients/connector.ts';
import { Recovery } from '../clients/recovery.ts';
import { CONNECTED as IS_CONNECTED } from '../clients/connection-state.ts';
import type { TakeoverClients } from '../clients/takeover-clients.ts';
import { BrokerRoutes } from '../clients/broker-routes.ts';
import { Introductions } from '../clients/introductions.ts';
import { momentOf } from '../clock.ts';
import { at } from '../element.ts';
import type { Meter } from '../measure/meter.ts';
import { NEW_FAILED, NO_CONNECT, OLD_STAYS } from '../measure/reasons.ts';
import {
  CONNECT_ATTEMPTS,
  CONNECT_MISSED,
  CONNECT_TIME,
  CONNECTED,
  CONNECTIONS,
  DISCONNECTS,
  FAILOVERS,
  RECOVERY_TIME,
  SESSION_PRESENT,
  TAKEOVERS,
  TLS_RESUMED,
  WIRE_RECEIVED,
  WIRE_SENT,
} from '../measure/series.ts';
import type { MqttServices } from './group-services.ts';

/** What follows from a connection's fate for the rest of the group. */
export interface ConnectionListener {
  onGaveUp(position: number): void;
  /** The plan ends the client's connection. */
  onDisconnecting(position: number, leaving: Leaving): void;
}

/** The connections of one group: identities, attempts, time-outs, and their books. */
export class GroupConnections {
  readonly states: Uint8Array;
  readonly connector: Connector;
  readonly #services: MqttServices;
  readonly #clients: () => MqttClients;
  /** Null where no stage takes clients of the group over. */
  readonly #takeovers: () => TakeoverClients | null;
  readonly #introductions: Introductions;
  readonly #routes: BrokerRoutes;
  /** Stage that owns a client's attempt: where it began. */
  readonly #attemptStage: Uint8Array;
  readonly #recovery: Recovery;
  #wireSent = 0;
  #wireReceived = 0;
  #resumed = 0;

  constructor(
    services: MqttServices,
    clients: { readonly all: () => MqttClients; readonly takeovers: () => TakeoverClients | null },
    listener: ConnectionListener,
  ) {
    const { group, order } = services;
    this.#services = services;
    this.#clients = clients.all;
    this.#takeovers = clients.takeovers;
    const render = (template: Template, position: number) => this.#render(template, position);
    this.#introductions = new Introductions({
      group,
      isVersion5: services.target.version === '5',
      files: services.files,
      context: services.context,
      render,
    });
    this.#attemptStage = new Uint8Array(order.count);
    this.#routes = new BrokerRoutes({
      group,
      target: services.target,
      order,
      files: services.files,
      render,
    });
    this.states = new Uint8Array(order.count);
    this.#recovery = new Recovery(order.count);
    this.connector = new Connector({
      order,
      connect: group.connect,
      states: this.states,
      actions: {
        attempt: (position) => this.#attempt(position),
        disconnect: (position, leaving) => {
          this.#leave(position, leaving);
          listener.onDisconnecting(position, leaving);
          if (leaving.abrupt) this.#clients().reset(position);
          else this.#clients().disconnect(position);
        },
        gaveUp: (position) => listener.onGaveUp(position),
        missed: () => this.#meter(services.timeline.currentStage()).add(CONNECT_MISSED, 1),
        takeOver: (position) => this.#takeOver(position),
      },
    });
  }

  onConnected(position: number, sessionPresent: boolean): void {
    const meter = this.#meter(at(this.#attemptStage, position));
    meter.add(CONNECTED, 1);
    if (sessionPresent) meter.add(SESSION_PRESENT, 1);
    meter.elapsed(CONNECT_TIME, this.connector.startedUs, position);
    this.connector.onConnected(position, momentOf(this.#services.moment));
  }

  /** The client is connected and holds its subscriptions: if it was lost before, it is back now. */
  onReady(position: number): void {
    const stage = this.#recovery.stageOf(position);
    if (stage < 0) return;
    this.#meter(stage).elapsed(RECOVERY_TIME, this.#recovery.lostUs, position);
    this.#recovery.forget(position);
  }

  /** Whether `onReady` is of any use. */
  isRecovering(position: number): boolean {
    return this.#recovery.stageOf(position) >= 0;
  }

  onConnectFailed(position: number, reason: string): void {
    this.#meter(at(this.#attemptStage, position)).fail('connect_failed', reason);
    this.#example('connect_failed', position, reason);
    if (this.#routes.attemptFailed(position)) {
      this.#meter(this.#services.timeline.currentStage()).add(FAILOVERS, 1);
    }
    this.connector.onAttemptFailed(position, momentOf(this.#services.moment));
  }

  onClosed(position: number, reason: string): void {
    this.#meter(this.#services.timeline.currentStage()).fail('disconnected', reason);
    this.#example('disconnected', position, reason);
    if (!this.connector.isChurning) this.#lose(position);
    this.connector.onClosed(position, momentOf(this.#services.moment));
  }

  /** The broker sent what fits nothing, and the connection goes on. */
  onProtocolError(position: number, reason: string): void {
    this.#meter(this.#services.timeline.currentStage()).fail('protocol_errors', reason);
    this.#example('protocol_errors', position, reason);
  }

  /** The broker ended the old connection of a client that connected again. */
  onOldClosed(position: number, reason: string): void {
    this.#meter(at(this.#attemptStage, position)).fail('taken_over', reason);
  }

  /** The new connection of a takeover is there. */
  onTakenOver(position: number, sessionPresent: boolean): void {
    this.#meter(at(this.#attemptStage, position)).add(TAKEOVERS, 1);
    this.connector.onTakeoverOver();
    this.onConnected(position, sessionPresent);
  }

  /** It came to nothing: the client has its old connection, or none. */
  onTakeoverFailed(position: number, reason: string): void {
    const meter = this.#meter(at(this.#attemptStage, position));
    this.#failTakeover(position, NEW_FAILED);
    this.connector.onTakeoverOver();
    if (at(this.states, position) !== IS_CONNECTED) {
      this.onConnectFailed(position, reason);
      return;
    }
    meter.fail('connect_failed', reason);
    this.#example('connect_failed', position, reason);
  }

  onOldStays(position: number): void {
    this.#failTakeover(position, OLD_STAYS);
  }

  /** The load is over: sends DISCONNECT, or cuts where it stands. */
  closeAll(hard: boolean): void {
    const clients = this.#clients();
    for (let position = 0; position < this.states.length; position++) {
      if (hard) clients.destroy(position);
      else clients.disconnect(position);
    }
    this.connector.forgetAll();
  }

  /** Opens the series of a stage, so that it shows even where nothing happens. */
  show(stage: number): void {
    this.#meter(stage);
  }

  /** Brings gauges and byte counters up to date for a slice. */
  beforeCut(): void {
    const clients = this.#clients();
    const meter = this.#meter(this.#services.timeline.currentStage());
    // Connections are the current stage's alone: stated by a draining one, too, they would count
    // twice.
    meter.gauge(CONNECTIONS, this.connector.connected);
    meter.add(WIRE_SENT, clients.wireSent - this.#wireSent);
    meter.add(WIRE_RECEIVED, clients.wireReceived - this.#wireReceived);
    this.#wireSent = clients.wireSent;
    this.#wireReceived = clients.wireReceived;
    const resumed = this.#routes.tls?.sessions?.resumed ?? 0;
    meter.add(TLS_RESUMED, resumed - this.#resumed);
    this.#resumed = resumed;
  }

  /** Client id and broker of a client, for failure examples. */
  describe(position: number): { client: string; address: string } {
    const { host, port } = this.#routes.url(position);
    return { client: this.#introductions.clientId(position), address: `${host}:${port}` };
  }

  /** Renders every identity once. @throws SquallError where a template lacks a value. */
  checkTemplates(): void {
    if (this.#services.order.count > 0) this.#introductions.of(0, null);
    this.#routes.check();
  }

  /** The plan ends a connection: who comes back by itself is timed until then. */
  #leave(position: number, { returns }: Leaving): void {
    this.#meter(this.#services.timeline.currentStage()).add(DISCONNECTS, 1);
    if (returns && !this.connector.isChurning) this.#lose(position);
    else this.#recovery.forget(position);
  }

  #lose(position: number): void {
    const { moment, timeline } = this.#services;
    this.#recovery.lose(position, momentOf(moment), timeline.currentStage());
  }

  #takeOver(position: number): void {
    const takeovers = this.#takeovers();
    const stage = this.#services.timeline.currentStage();
    this.#attemptStage[position] = stage;
    this.#meter(stage).add(CONNECT_ATTEMPTS, 1);
    try {
      takeovers?.takeOver(position, this.#options(position));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.onTakeoverFailed(position, `${NO_CONNECT}${why}`);
    }
  }

  #failTakeover(position: number, reason: string): void {
    this.#meter(at(this.#attemptStage, position)).fail('takeover_failed', reason);
    this.#example('takeover_failed', position, reason);
  }

  #attempt(position: number): void {
    const stage = this.#services.timeline.currentStage();
    this.#attemptStage[position] = stage;
    this.#meter(stage).add(CONNECT_ATTEMPTS, 1);
    try {
      this.#clients().connect(position, this.#options(position));
    } catch (error) {
      // An identity that fits in no CONNECT, of this client only.
      const why = error instanceof Error ? error.message : String(error);
      this.onConnectFailed(position, `${NO_CONNECT}${why}`);
    }
  }

  #options(position: number): ConnectOptions {
    const assignedId = this.#clients().assignedClientId(position);
    return {
      ...this.#routes.route(position),
      ...this.#introductions.of(position, assignedId),
    };
  }

  #render(template: Template, position: number): string {
    const { context, order } = this.#services;
    context.n = at(order.numbers, position);
    context.seq = 0;
    return template.render(context);
  }

  #meter(stage: number): Meter {
    const subject = this.#services.group.name;
    return this.#services.recorder.meter({ kind: 'connections', subject, stage });
  }

  #example(metric: MetricName, position: number, reason: string): void {
    const { recorder, group, moment, timeline } = this.#services;
    if (!recorder.wantsExample(metric, group.name, reason)) return;
    const atUs = timeline.sinceStart(momentOf(moment));
    recorder.example({ metric, subject: group.name, reason, ...this.describe(position), atUs });
  }
}
