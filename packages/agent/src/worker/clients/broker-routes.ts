import { AddressSpread } from '@squall/core/partition';
import type { BrokerUrl, Group, MqttTarget } from '@squall/core/plan';
import { compileTemplate, type Template } from '@squall/core/template';
import type { Route } from '@squall/mqtt';
import { at, item } from '../element.ts';
import type { PlanFiles } from '../plan-files.ts';
import type { ClientOrder } from './client-order.ts';
import { TlsIdentities } from './tls-identities.ts';

export interface BrokerRoutesOptions {
  readonly group: Group;
  readonly target: MqttTarget;
  readonly order: ClientOrder;
  readonly files: PlanFiles;
  /** Fills in a template for the client at a position. */
  readonly render: (template: Template, position: number) => string;
}

/**
 * By which way each client of a group reaches its broker: which of the target's addresses, from which
 * address of this host, with what certificate and headers.
 */
export class BrokerRoutes {
  readonly tls: TlsIdentities | null;
  readonly #options: BrokerRoutesOptions;
  readonly #spread: AddressSpread;
  /** Index of the address that a client is at, with `spread: first`. */
  readonly #movedTo: Uint8Array | null;
  readonly #headers: readonly (readonly [string, Template])[];

  /** @throws Error where a file of the plan is not there, SquallError where a template is none. */
  constructor(options: BrokerRoutesOptions) {
    const { group, target, order, files, render } = options;
    this.#options = options;
    this.#spread = new AddressSpread(target.spread, target.urls.length, group.clients);
    this.#movedTo =
      target.spread === 'first' && target.urls.length > 1 ? new Uint8Array(order.count) : null;
    this.tls = target.tls === null ? null : new TlsIdentities({ spec: target.tls, files, render });
    this.#headers = Object.entries(target.ws?.headers ?? {}).map(([name, value]) => [
      name,
      compileTemplate(value),
    ]);
  }

  url(position: number): BrokerUrl {
    const { target, order } = this.#options;
    const index =
      this.#movedTo === null
        ? this.#spread.urlOf(at(order.numbers, position))
        : at(this.#movedTo, position);
    return item(target.urls, index);
  }

  /** @throws Error for a certificate that cannot be used, SquallError where a template lacks a value. */
  route(position: number): Route {
    const { scheme, host, port, path } = this.url(position);
    const secured = scheme === 'mqtts' || scheme === 'wss';
    return {
      host,
      port,
      localAddress: this.#source(position),
      tls: secured ? this.tls?.of(position) : undefined,
      ws: scheme === 'ws' || scheme === 'wss' ? this.#webSocket(path, position) : undefined,
    };
  }

  /** An attempt failed: says whether the client's next one goes to another address. */
  attemptFailed(position: number): boolean {
    if (this.#movedTo === null) return false;
    this.#movedTo[position] = (at(this.#movedTo, position) + 1) % this.#options.target.urls.length;
    return true;
  }

  /** @throws Error or SquallError where a client of this worker could not connect for what it lacks. */
  check(): void {
    const { count } = this.#options.order;
    if (count === 0) return;
    this.tls?.mustHaveAll(count);
    // The first client's are read here, so that a plan with useless ones does not even begin.
    this.tls?.of(0);
    this.route(0);
  }

  /**
   * By turns among the clients of one broker address: so each pair of addresses gets its even part of
   * the local ports.
   */
  #source(position: number): string | undefined {
    const { group, order } = this.#options;
    const { sourceAddresses } = group;
    if (sourceAddresses.length === 0) return undefined;
    const turn = this.#spread.blockNOf(at(order.numbers, position));
    return sourceAddresses[turn % sourceAddresses.length];
  }

  #webSocket(path: string, position: number): Route['ws'] {
    const headers: Record<string, string> = {};
    for (const [name, value] of this.#headers) {
      headers[name] = this.#options.render(value, position);
    }
    return { path, headers, subprotocol: this.#options.target.ws?.subprotocol ?? 'mqtt' };
  }
}
