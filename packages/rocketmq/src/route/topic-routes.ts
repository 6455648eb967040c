import { RocketmqError } from '../codec/rocketmq-error.ts';
import type { TopicRoute } from '../codec/route-data.ts';
import type { NameServers } from './name-servers.ts';

/** As often as official clients ask. */
const REFRESH_US = 30e6;
/** A broker that left is seen by a new route at once, but not a hundred times a second. */
const REFRESH_MIN_US = 1e6;
/** A route that is not there yet is asked for so often: a broker may register 10 s after its start. */
const POLL_MS = 100;

export interface RouteListener {
  /** The route is another than before. */
  routeChanged(topic: string, route: TopicRoute): void;
  /** The route could not be asked for; what is known stays in force. */
  routeFailed(topic: string, error: RocketmqError): void;
}

interface Watched {
  readonly listeners: Set<RouteListener>;
  text: string;
  askedAtUs: number;
  asking: boolean;
}

/** The routes of the topics that a client works with, kept up to date. */
export class TopicRoutes {
  readonly #nameServers: NameServers;
  readonly #nowUs: () => number;
  readonly #watched = new Map<string, Watched>();

  constructor(nameServers: NameServers, nowUs: () => number) {
    this.#nameServers = nameServers;
    this.#nowUs = nowUs;
  }

  /**
   * The route of a topic, awaited for up to `waitMs`: a topic that was just made, or a broker that just
   * started, may not be known yet.
   *
   * @throws RocketmqError ROUTE
   */
  async find(topic: string, waitMs: number): Promise<TopicRoute> {
    const deadlineUs = this.#nowUs() + waitMs * 1e3;
    for (;;) {
      const route = await this.#nameServers.route(topic);
      if (route !== null) return route;
      if (this.#nowUs() >= deadlineUs) throw noRoute(topic, this.#nameServers.current);
      await new Promise((resolve) => {
        setTimeout(resolve, POLL_MS);
      });
    }
  }

  /** Keeps `listener` told of changes from what `route` says, until `unwatch`. */
  watch(topic: string, route: TopicRoute, listener: RouteListener): void {
    const known = this.#watched.get(topic);
    if (known !== undefined) {
      known.listeners.add(listener);
      return;
    }
    const watched = { text: textOf(route), askedAtUs: this.#nowUs(), asking: false };
    this.#watched.set(topic, { ...watched, listeners: new Set([listener]) });
  }

  unwatch(topic: string, listener: RouteListener): void {
    const watched = this.#watched.get(topic);
    watched?.listeners.delete(listener);
    if (watched?.listeners.size === 0) this.#watched.delete(topic);
  }

  /** Something says that routes are old: they are asked for with the next ticks. */
  suspect(): void {
    const nowUs = this.#nowUs();
    for (const watched of this.#watched.values()) {
      watched.askedAtUs = Math.min(watched.askedAtUs, nowUs - REFRESH_US + REFRESH_MIN_US);
    }
  }

  tick(): void {
    const nowUs = this.#nowUs();
    for (const [topic, watched] of this.#watched) {
      if (watched.asking || nowUs - watched.askedAtUs < REFRESH_US) continue;
      watched.asking = true;
      watched.askedAtUs = nowUs;
      void this.#refresh(topic, watched);
    }
  }

  async #refresh(topic: string, watched: Watched): Promise<void> {
    try {
      const route = await this.#nameServers.route(topic);
      const text = route === null ? watched.text : textOf(route);
      if (route === null)
        for (const each of watched.listeners)
          each.routeFailed(topic, noRoute(topic, this.#nameServers.current));
      else if (text !== watched.text)
        for (const each of watched.listeners) each.routeChanged(topic, route);
      watched.text = text;
    } catch (error) {
      if (!(error instanceof RocketmqError)) throw error;
      for (const each of watched.listeners) each.routeFailed(topic, error);
    } finally {
      watched.asking = false;
    }
  }
}

function noRoute(topic: string, nameServer: string): RocketmqError {
  return new RocketmqError('ROUTE', `topic ${topic} has no route at name server ${nameServer}`, {
    hint: 'the topic does not exist (create it, or let the plan create it), or its brokers have not registered',
  });
}

/** One text for one route. */
function textOf(route: TopicRoute): string {
  const brokers = route.brokers.map((broker) => ({ ...broker, addresses: [...broker.addresses] }));
  return JSON.stringify({ ...route, brokers });
}
