export type { Admin, GroupSettings, QueueLag, QueueRange, TopicSettings } from './admin/admin.ts';
export { checkGroupName, checkTopicName } from './admin/names.ts';
export type { ClientOptions } from './client/client-options.ts';
export { RocketmqClient } from './client/rocketmq-client.ts';
export type { AclCredentials } from './codec/acl-signer.ts';
export { Serialization } from './codec/command.ts';
export {
  decodeProperties,
  encodeProperties,
  type MessageProperties,
  Property,
} from './codec/message-properties.ts';
export { RecordReader } from './codec/record-reader.ts';
export { RocketmqError, type RocketmqErrorCode } from './codec/rocketmq-error.ts';
export {
  crcMatches,
  plainBody,
  type StoredMessage,
  storedMessage,
} from './codec/stored-message.ts';
export type { ReadClock } from './connections/connection.ts';
export type { TlsSettings } from './connections/tls-settings.ts';
export type {
  ConsumerActivity,
  ConsumerCounts,
  ConsumerHandlers,
} from './consumer/consumer-handlers.ts';
export type { ConsumerMember } from './consumer/consumer-member.ts';
export type {
  ConsumerOptions,
  MessageFilter,
  QueueSharing,
  StartFrom,
} from './consumer/consumer-options.ts';
export type { MessageBatch } from './producer/message-batch.ts';
export type { Producer } from './producer/producer.ts';
export {
  isStored,
  Outcome,
  type ProducerHandlers,
  type Settlement,
} from './producer/producer-handlers.ts';
export { type ProducerMessage, Sent } from './producer/producer-message.ts';
export type {
  ProducerOptions,
  QueueChoice,
  TransactionOptions,
  TransactionState,
} from './producer/producer-options.ts';
export type { TransactionCounts } from './producer/transactions.ts';
export type { TopicQueue } from './route/topic-queues.ts';
