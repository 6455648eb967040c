import { decodeBatch } from '../../codec/batch-blob.ts';
import type { RemotingCommand } from '../../codec/command.ts';
import { decodeProperties, Property } from '../../codec/message-properties.ts';
import { MessageFlag } from '../../codec/record-reader.ts';
import { ResponseCode } from '../../codec/response-code.ts';
import type { StoreFault } from '../fault.ts';
import type { Reply } from '../reply.ts';
import type { BrokerState } from './broker-state.ts';
import type { NewMessage } from './message-store.ts';

const COMMIT = 8;
const ROLLBACK = 12;
const TOPIC = /^[%|\w-]{1,127}$/;

/** A send as brokers of 5.x take it, or refuse it. */
export function send(
  state: BrokerState,
  { request, reply }: { readonly request: RemotingCommand; readonly reply: Reply },
  fault: StoreFault | null,
): void {
  const message = messageOf(request);
  const refusal = refusalOf(state, message);
  if (refusal !== null) {
    reply.answer(refusal);
    return;
  }
  const { store } = state;
  const isHalf = decodeProperties(message.properties)[Property.transaction] === 'true';
  const stored = isHalf
    ? [store.appendHalf(message)]
    : messagesOf(request, message).map((each) => store.append(each, fault));
  reply.answer({
    ext: {
      msgId: stored.map(({ position }) => messageId(position)).join(','),
      queueId: String(message.queueId),
      queueOffset: String(stored[0]?.queueOffset ?? 0),
    },
  });
  state.held.arrived(message.topic, message.queueId);
}

export function endTransaction(state: BrokerState, request: RemotingCommand, reply: Reply): void {
  const { ext } = request;
  const decision = Number(ext['commitOrRollback'] ?? 0);
  if (decision !== COMMIT && decision !== ROLLBACK) return;
  const position = Number(ext['commitLogOffset'] ?? -1);
  const found = state.store.endHalf(position, decision === COMMIT);
  const code = found ? ResponseCode.success : ResponseCode.systemError;
  if ((request.flag & 2) === 0) reply.answer({ code });
  const message = state.store.at(position + 1);
  if (found && message !== null) state.held.arrived(message.topic, message.queueId);
}

/** It comes again from the retry topic, and at once: a real broker waits 10 s. */
export function sendBack(state: BrokerState, request: RemotingCommand, reply: Reply): void {
  const { ext } = request;
  const message = state.store.at(Number(ext['offset'] ?? -1));
  const topic = `%RETRY%${ext['group'] ?? ''}`;
  if (message === null) {
    reply.answer({ code: ResponseCode.systemError, remark: 'look message by offset failed' });
    return;
  }
  if (!state.store.has(topic)) state.store.create(topic, 1);
  const origin = `${Property.retryTopic}\u0001${ext['originTopic'] ?? ''}\u0002`;
  const properties = `${message.properties}${origin}`;
  const reconsumeTimes = message.reconsumeTimes + 1;
  state.store.append({ ...message, topic, queueId: 0, properties, reconsumeTimes });
  reply.answer();
  state.held.arrived(topic, 0);
}

function messageOf({ ext, body }: RemotingCommand): NewMessage {
  return {
    topic: ext['b'] ?? '',
    queueId: Number(ext['e'] ?? 0),
    body,
    properties: ext['i'] ?? '',
    // The bits of transactions are the broker's own business.
    sysFlag: Number(ext['f'] ?? 0) & ~MessageFlag.rollback,
    bornAtMs: Number(ext['g'] ?? 0),
    reconsumeTimes: Number(ext['j'] ?? 0),
  };
}

/** Field `m` makes a batch, not the request's code. */
function messagesOf(request: RemotingCommand, message: NewMessage): NewMessage[] {
  if (request.ext['m'] !== 'true') return [message];
  return decodeBatch(request.body).map(({ body, properties }) => ({
    ...message,
    body: Buffer.from(body),
    properties: Buffer.from(properties).toString(),
  }));
}

function refusalOf(state: BrokerState, message: NewMessage): Partial<RemotingCommand> | null {
  const { store } = state;
  const { topic, queueId, body } = message;
  if (!TOPIC.test(topic)) return refused(ResponseCode.invalidParameter, 'the topic is illegal');
  if (!store.has(topic)) {
    if (!state.autoCreate) {
      return refused(ResponseCode.topicNotExist, `topic[${topic}] not exist`);
    }
    store.create(topic, state.queues);
  }
  if (!(queueId >= 0 && queueId < store.queuesOf(topic))) {
    return refused(ResponseCode.invalidParameter, `request queueId[${queueId}] is illegal`);
  }
  if (body.length > state.maxMessageBytes) {
    return refused(ResponseCode.messageIllegal, 'the message is illegal, maybe msg body too large');
  }
  if (store.isFull) {
    return refused(ResponseCode.serviceNotAvailable, 'service not available now [CL:  1.00]');
  }
  return null;
}

function refused(code: number, remark: string): Partial<RemotingCommand> {
  return { code, remark };
}

/** Store address 127.0.0.1:10911, then the position in the log. */
function messageId(position: number): string {
  return `7F00000100002A9F${position.toString(16).toUpperCase().padStart(16, '0')}`;
}
