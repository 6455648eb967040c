export type { ClientHandlers, InboundPublish, InboundSuback } from './clients/client-handlers.ts';
export { createMqttClients } from './clients/client-pool.ts';
export type { ConnectOptions } from './clients/connect-options.ts';
export type { MqttClients, MqttClientsOptions } from './clients/mqtt-clients.ts';
export { subackFailure } from './clients/reasons.ts';
export type { PublishMessage } from './codec/publish-message.ts';
export { TopicTable } from './codec/topic-table.ts';
export type { SubscribeRequest } from './codec/v311/subscribe-packet.ts';
export {
  InflightTable,
  type InflightOptions,
  PUBACK_LATE,
  PUBACK_UNKNOWN,
} from './inflight/inflight-table.ts';
export { PUBLISH_PACKET_ID_MAX, SUBSCRIBE_PACKET_IDS } from './inflight/packet-ids.ts';
export { monotonicUs, readMonotonicUs } from './monotonic.ts';
export {
  createTlsContext,
  type TlsMaterial,
  type TlsRequest,
} from './transport/tls/tls-request.ts';
export { TlsSessions } from './transport/tls/tls-sessions.ts';
export type { Route } from './transport/transport.ts';
export type { WsRequest } from './transport/ws/upgrade.ts';
