/** The wire by itself, without sockets, timers or clocks. */
export { type AclCredentials, AclSigner } from './acl-signer.ts';
export { type BatchEntry, BATCH_ENTRY_BYTES, decodeBatch, writeBatchEntry } from './batch-blob.ts';
export { type RemotingCommand, request, type RequestParts, Serialization } from './command.ts';
export { bodyCrc } from './crc32.ts';
export { decodeFrame, encodeFrame } from './frame.ts';
export { FRAME_LENGTH_MAX, FrameFramer, type FrameSink, type FrameView } from './frame-framer.ts';
export { HeaderScan } from './header-scan.ts';
export { javaHash } from './java-hash.ts';
export { parseLenientJson } from './lenient-json.ts';
export {
  decodeProperties,
  encodeProperties,
  findProperty,
  type MessageProperties,
  Property,
} from './message-properties.ts';
export { commitLogOffset } from './offset-message-id.ts';
export { MessageFlag, RecordReader } from './record-reader.ts';
export { CommandFlag, RequestCode } from './request-code.ts';
export { RequestTemplate } from './request-template.ts';
export { ResponseCode, responseName } from './response-code.ts';
export { RocketmqError, type RocketmqErrorCode } from './rocketmq-error.ts';
export { parseClusterBrokers, parseTopicRoute, Permission, type TopicRoute } from './route-data.ts';
export {
  crcMatches,
  decodeRecords,
  plainBody,
  type StoredMessage,
  storedMessage,
} from './stored-message.ts';
export { UniqueKeys } from './unique-keys.ts';
