export type { ClientHandlers, InboundPublish, InboundSuback } from './clients/client-handlers.ts';
export type { ConnectOptions } from './clients/connect-options.ts';
export type { MqttClients, MqttClientsOptions, SubscribeRequest } from './clients/mqtt-clients.ts';
export type { PublishMessage } from './clients/publish-message.ts';
export { TopicTable } from './clients/topic-table.ts';
export {
  InflightTable,
  PUBACK_LATE,
  PUBACK_UNKNOWN,
  type InflightOptions,
} from './inflight/inflight-table.ts';
export { PUBLISH_PACKET_ID_MAX, SUBSCRIBE_PACKET_IDS } from './inflight/packet-ids.ts';
export { monotonicUs } from './monotonic.ts';
