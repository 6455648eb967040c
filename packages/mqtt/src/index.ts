export {
  AS_ASKED,
  BrokerLimits,
  PUBLISH_LIMITS,
  SUBSCRIBE_LIMITS,
} from './clients/broker-limits.ts';
export type { ClientHandlers, InboundPublish, InboundSuback } from './clients/client-handlers.ts';
export { createMqttClients } from './clients/client-pool.ts';
export type { ConnectOptions, ScramCredentials } from './clients/connect-options.ts';
export type { MqttClients, MqttClientsOptions } from './clients/mqtt-clients.ts';
export { subackFailure } from './clients/reasons.ts';
export type { SubscribeRequest, UnsubscribeRequest } from './clients/subscribe-request.ts';
export { NO_PROPERTIES, type PublishMessage } from './codec/publish-message.ts';
export type { Will } from './codec/packet.ts';
export type { PublishProperties, WillProperties } from './codec/properties/properties.ts';
export { encodePublishProperties } from './codec/properties/write-properties.ts';
export type { ProtocolVersion } from './codec/protocol-version.ts';
export { FIRST_FAILURE_CODE, reasonCodeName } from './codec/reason-code.ts';
export { TopicTable } from './codec/topic-table.ts';
export {
  InflightTable,
  type InflightOptions,
  PUBACK_LATE,
  PUBACK_UNKNOWN,
  RELEASED,
  RELEASED_AGAIN,
  UNRELEASED,
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
