import type { AclSigner } from '../codec/acl-signer.ts';
import type { BrokerSockets, BrokerSocketsEvents } from '../connections/broker-sockets.ts';
import type { Requester } from '../connections/requester.ts';
import type { SharedSockets } from '../connections/shared-sockets.ts';
import type { NameServers } from '../route/name-servers.ts';
import type { TopicRoutes } from '../route/topic-routes.ts';

/** What the producers, consumers and the administration of one client have in common. */
export interface ClientParts {
  readonly nameServers: NameServers;
  readonly routes: TopicRoutes;
  readonly requester: Requester;
  readonly signer: AclSigner | null;
  readonly nowUs: () => number;
  readonly requestTimeoutUs: number;
  readonly routeWaitMs: number;
  readonly socketsPerBroker: number;
  /** The sockets of all producers. */
  readonly shared: SharedSockets;
  /** How brokers know this process; consumers have ids of their own. */
  readonly clientId: string;
  newSockets(perBroker: number, events: BrokerSocketsEvents): BrokerSockets;
}
