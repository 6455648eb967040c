import type { Group, RocketmqTarget } from '@squall/core/plan';
import { compileTemplate } from '@squall/core/template';
import type { ClientOptions, RocketmqClient, TlsSettings } from '@squall/rocketmq';
import type { Moment } from '../clock.ts';
import type { PlanFiles } from '../plan-files.ts';
import type { RenderContext } from '../publish/render-context.ts';

/** Makes a client whose reads of the clock set the worker's moment, too. */
export type CreateRocketmq = (
  options: Omit<ClientOptions, 'readClock'>,
  moment: Moment,
) => RocketmqClient;

interface ClientNeeds {
  readonly target: RocketmqTarget;
  /** The first one of the target says how long connecting may take. */
  readonly group: Group;
  readonly context: RenderContext;
}

/** One client a target: all senders of a worker share its sockets. */
export class RocketmqClients {
  readonly #create: CreateRocketmq;
  readonly #moment: Moment;
  readonly #files: PlanFiles;
  readonly #clients = new Map<string, RocketmqClient>();

  constructor(
    create: CreateRocketmq,
    scene: { readonly moment: Moment; readonly files: PlanFiles },
  ) {
    this.#create = create;
    this.#moment = scene.moment;
    this.#files = scene.files;
  }

  /** @throws SquallError where a key lacks its value, Error where a file is not there. */
  of({ target, group, context }: ClientNeeds): {
    readonly client: RocketmqClient;
    readonly isNew: boolean;
  } {
    const known = this.#clients.get(target.name);
    if (known !== undefined) return { client: known, isNew: false };
    const { nameServers, connections, acl } = target;
    const connectTimeoutMs = group.connect.timeoutUs / 1_000;
    const rendered = (text: string): string => compileTemplate(text).render(context);
    const client = this.#create(
      {
        nameServers,
        connections,
        connectTimeoutMs,
        // A broker may register some time after its start.
        routeWaitMs: connectTimeoutMs,
        tls: this.#tls(target),
        acl:
          acl === null
            ? null
            : { accessKey: rendered(acl.accessKey), secretKey: rendered(acl.secretKey) },
      },
      this.#moment,
    );
    this.#clients.set(target.name, client);
    return { client, isNew: true };
  }

  async end(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.end()));
  }

  #tls({ tls }: RocketmqTarget): TlsSettings | null {
    if (tls === null) return null;
    const { ca, cert, key, servername, minVersion } = tls;
    return {
      rejectUnauthorized: tls.verify,
      ...(ca !== null && { ca: this.#files.text(ca) }),
      ...(cert !== null && { cert: this.#files.text(cert) }),
      ...(key !== null && { key: this.#files.text(key) }),
      ...(servername !== null && { servername }),
      ...(minVersion !== null && { minVersion }),
    };
  }
}
