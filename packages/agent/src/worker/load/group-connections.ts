import type { MetricName } from '@squall/core/metrics';
import type { BrokerUrl } from '@squall/core/plan';
import { compileTemplate, type Template } from '@squall/core/template';
import type { ConnectOptions, MqttClients } from '@squall/mqtt';
import { Connector } from '../clients/connector.ts';
import { momentOf } from '../clock.ts';
import { at, item } from '../element.ts';
import type { Meter } from '../measure/meter.ts';
import { NO_CONNECT } from '../measure/reasons.ts';
import {
  CONNECT_ATTEMPTS,
  CONNECT_TIME,
  CONNECTED,
  CONNECTIONS,
  WIRE_RECEIVED,
  WIRE_SENT,
} from '../measure/series.ts';
import type { GroupServices } from './group-services.ts';

/** What follows from a connection's fate for the rest of the group. */
export interface ConnectionListener {
  onGaveUp(position: number): void;
  /** The plan disconnects the client: what it has in flight is lost. */
  onDisconnecting(position: number): void;
}

/** The connections of one group: identities, attempts, time-outs, and their books. */
export class GroupConnections {
  readonly states: Uint8Array;
  readonly connector: Connector;
  readonly #services: GroupServices;
  readonly #clients: () => MqttClients;
  readonly #clientId: Template;
  readonly #username: Template | null;
  readonly #password: Template | null;
  /** Stage that owns a client's attempt: where it began. */
  readonly #attemptStage: Uint8Array;
  #wireSent = 0;
  #wireReceived = 0;

  constructor(services: GroupServices, clients: () => MqttClients, listener: ConnectionListener) {
    const { group, order } = services;
    this.#services = services;
    this.#clients = clients;
    this.#clientId = compileTemplate(group.clientId);
    this.#username = group.username === null ? null : compileTemplate(group.username);
    this.#password = group.password === null ? null : compileTemplate(group.password);
    this.#attemptStage = new Uint8Array(order.count);
    this.states = new Uint8Array(order.count);
    this.connector = new Connector({
      order,
      connect: group.connect,
      states: this.states,
      actions: {
        attempt: (position) => this.#attempt(position),
        disconnect: (position) => {
          listener.onDisconnecting(position);
          this.#clients().disconnect(position);
        },
        gaveUp: (position) => listener.onGaveUp(position),
      },
    });
  }

  onConnected(position: number): void {
    const meter = this.#meter(at(this.#attemptStage, position));
    meter.add(CONNECTED, 1);
    meter.elapsed(CONNECT_TIME, this.connector.startedUs, position);
    this.connector.onConnected(position);
  }

  onConnectFailed(position: number, reason: string): void {
    this.#meter(at(this.#attemptStage, position)).fail('connect_failed', reason);
    this.#example('connect_failed', position, reason);
    this.connector.onAttemptFailed(position, momentOf(this.#services.moment));
  }

  onClosed(position: number, reason: string): void {
    this.#meter(this.#services.timeline.currentStage()).fail('disconnected', reason);
    this.#example('disconnected', position, reason);
    this.connector.onClosed(position, momentOf(this.#services.moment));
  }

  /** The broker sent what fits nothing, and the connection goes on. */
  onProtocolError(position: number, reason: string): void {
    this.#meter(this.#services.timeline.currentStage()).fail('protocol_errors', reason);
    this.#example('protocol_errors', position, reason);
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
  }

  /** Client id and broker of a client, for failure examples. */
  describe(position: number): { client: string; address: string } {
    const { host, port } = this.#url(position);
    return { client: this.#render(this.#clientId, position), address: `${host}:${port}` };
  }

  /** Renders every identity once. @throws SquallError where a template lacks a value. */
  checkTemplates(): void {
    if (this.#services.order.count > 0) this.#options(0);
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
    const { connect } = this.#services.group;
    const { host, port } = this.#url(position);
    return {
      host,
      port,
      clientId: this.#render(this.#clientId, position),
      username: this.#username === null ? undefined : this.#render(this.#username, position),
      password: this.#password === null ? undefined : this.#render(this.#password, position),
      keepAliveS: connect.keepAliveS,
      cleanStart: connect.cleanStart,
      timeoutUs: connect.timeoutUs,
    };
  }

  /** Clients go round the addresses of the target by their index. */
  #url(position: number): BrokerUrl {
    const { target, order } = this.#services;
    return item(target.urls, at(order.numbers, position) % target.urls.length);
  }

  #render(template: Template, position: number): string {
    const { context, order } = this.#services;
    context.n = at(order.numbers, position);
    context.blockN = context.n;
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
