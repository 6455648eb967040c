import type { RemotingCommand } from '../../codec/command.ts';
import { CommandFlag, RequestCode } from '../../codec/request-code.ts';
import { ResponseCode } from '../../codec/response-code.ts';
import type { StoreFault } from '../fault.ts';
import type { Reply } from '../reply.ts';
import type { BrokerState } from './broker-state.ts';
import { heartbeat, locks, memberList, unregister } from './membership.ts';
import { endTransaction, send, sendBack } from './sends.ts';
import { clusterBody, routeBody } from './routes.ts';

interface Asked {
  readonly request: RemotingCommand;
  readonly reply: Reply;
}

type Answer = (state: BrokerState, asked: Asked) => void;

/** What a broker that is in order does; what stands in no row it does not know (code 3). */
const USUAL: Readonly<Record<number, Answer>> = {
  [RequestCode.getRouteInfoByTopic]: (state, { request, reply }) => {
    const body = routeBody(state, request.ext['topic'] ?? '');
    if (body === null) reply.answer({ code: ResponseCode.topicNotExist, remark: 'No topic route' });
    else reply.answer({ body });
  },
  [RequestCode.getBrokerClusterInfo]: (state, { reply }) =>
    reply.answer({ body: clusterBody(state) }),
  [RequestCode.pullMessage]: ({ held }, { request, reply }) => held.pull(request, reply),
  [RequestCode.consumerSendMessageBack]: (state, { request, reply }) =>
    sendBack(state, request, reply),
  [RequestCode.endTransaction]: (state, { request, reply }) =>
    endTransaction(state, request, reply),
  [RequestCode.heartbeat]: heartbeat,
  [RequestCode.unregisterClient]: unregister,
  [RequestCode.getConsumerListByGroup]: memberList,
  [RequestCode.lockBatchQueues]: locks,
  [RequestCode.unlockBatchQueues]: locks,
  [RequestCode.queryConsumerOffset]: ({ groups }, { request, reply }) => {
    const offset = groups.offset(request.ext['consumerGroup'] ?? '', queueKey(request));
    if (offset === null) reply.answer({ code: ResponseCode.queryNotFound });
    else reply.answer({ ext: { offset: String(offset) } });
  },
  [RequestCode.updateConsumerOffset]: ({ groups }, { request, reply }) => {
    const { ext } = request;
    groups.commit(ext['consumerGroup'] ?? '', queueKey(request), Number(ext['commitOffset']));
    if ((request.flag & CommandFlag.oneWay) === 0) reply.answer();
  },
  [RequestCode.getMaxOffset]: (state, asked) => answerOffset(asked, rangeOf(state, asked).max),
  [RequestCode.getMinOffset]: (state, asked) => answerOffset(asked, rangeOf(state, asked).min),
  [RequestCode.searchOffsetByTimestamp]: ({ store }, asked) => {
    const { ext } = asked.request;
    const at = Number(ext['timestamp'] ?? 0);
    answerOffset(asked, store.offsetAt(ext['topic'] ?? '', Number(ext['queueId']), at));
  },
  [RequestCode.getConsumeStats]: (state, { request, reply }) =>
    reply.answer({ body: consumeStats(state, request.ext['consumerGroup'] ?? '') }),
  [RequestCode.getBrokerRuntimeInfo]: (_state, { reply }) =>
    reply.answer({ body: json({ table: { brokerVersionDesc: 'V5_3_3', brokerVersion: '479' } }) }),
  [RequestCode.getBrokerConfig]: (_state, { reply }) =>
    reply.answer({ body: Buffer.from('flushDiskType=ASYNC_FLUSH\nbrokerRole=ASYNC_MASTER\n') }),
  [RequestCode.updateAndCreateTopic]: ({ store }, { request, reply }) => {
    store.create(request.ext['topic'] ?? '', Number(request.ext['writeQueueNums'] ?? 8));
    reply.answer({ remark: 'not set any response code' });
  },
  [RequestCode.deleteTopicInBroker]: ({ store }, { request, reply }) => {
    store.delete(request.ext['topic'] ?? '');
    reply.answer();
  },
  [RequestCode.deleteTopicInNameServer]: (_state, { reply }) => reply.answer(),
  [RequestCode.updateAndCreateSubscriptionGroup]: ({ groups }, { request, reply }) => {
    const body: unknown = JSON.parse(request.body.toString());
    const name: unknown =
      typeof body === 'object' && body !== null && Reflect.get(body, 'groupName');
    groups.make(String(name));
    reply.answer();
  },
  [RequestCode.getAllSubscriptionGroups]: ({ groups }, { reply }) => {
    const table = Object.fromEntries(groups.made.map((groupName) => [groupName, { groupName }]));
    reply.answer({ body: json({ subscriptionGroupTable: table }) });
  },
  [RequestCode.deleteSubscriptionGroup]: ({ groups }, { request, reply }) => {
    groups.delete(request.ext['groupName'] ?? '');
    reply.answer();
  },
};

/** Answers as a broker in order would, but for what a fault does to a message. */
export function answerUsually(state: BrokerState, asked: Asked, fault: StoreFault | null): void {
  const { code } = asked.request;
  if (code === RequestCode.sendMessageV2 || code === RequestCode.sendBatchMessage) {
    send(state, asked, fault);
    return;
  }
  const usual = USUAL[code];
  if (usual !== undefined) usual(state, asked);
  else if ((asked.request.flag & CommandFlag.oneWay) === 0) {
    asked.reply.answer({ code: ResponseCode.requestCodeNotSupported });
  }
}

function rangeOf({ store }: BrokerState, { request }: Asked): { min: number; max: number } {
  return store.range(request.ext['topic'] ?? '', Number(request.ext['queueId']));
}

function answerOffset({ reply }: Asked, value: number): void {
  reply.answer({ ext: { offset: String(value) } });
}

function queueKey({ ext }: RemotingCommand): string {
  return `${ext['topic'] ?? ''} ${ext['queueId'] ?? ''}`;
}

/** Whole objects are keys here, in every version. */
function consumeStats({ groups, store, name }: BrokerState, group: string): Buffer {
  const rows = [...groups.offsets(group)].map(([queue, consumerOffset]) => {
    const [topic = '', queueId = '0'] = queue.split(' ');
    const key = JSON.stringify({ brokerName: name, queueId: Number(queueId), topic });
    const brokerOffset = store.range(topic, Number(queueId)).max;
    return `${key}:${JSON.stringify({ brokerOffset, consumerOffset, lastTimestamp: 0 })}`;
  });
  return Buffer.from(`{"consumeTps":0.0,"offsetTable":{${rows.join(',')}}}`);
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
