import type { RemotingCommand } from '../../codec/command.ts';
import { RequestCode } from '../../codec/request-code.ts';
import { ResponseCode } from '../../codec/response-code.ts';
import type { Reply } from '../reply.ts';
import type { BrokerState } from './broker-state.ts';

interface Asked {
  readonly request: RemotingCommand;
  readonly reply: Reply;
}

/** A member that is new is told to all, itself included, before its own answer. */
export function heartbeat(state: BrokerState, { request, reply }: Asked): void {
  const body: unknown = JSON.parse(request.body.toString());
  const clientId = textOf(body, 'clientID');
  for (const one of listOf(body, 'consumerDataSet')) {
    const group = textOf(one, 'groupName');
    if (state.groups.join(group, clientId, reply.socket)) state.notify(group);
  }
  reply.answer();
}

export function unregister(state: BrokerState, { request, reply }: Asked): void {
  const group = request.ext['consumerGroup'] ?? '';
  reply.answer();
  if (state.groups.leave(group, request.ext['clientID'] ?? '')) state.notify(group);
}

export function memberList({ groups }: BrokerState, { request, reply }: Asked): void {
  const consumerIdList = groups.members(request.ext['consumerGroup'] ?? '');
  if (consumerIdList.length === 0) {
    reply.answer({ code: ResponseCode.systemError, remark: 'no consumer for this group' });
    return;
  }
  reply.answer({ body: Buffer.from(JSON.stringify({ consumerIdList })) });
}

export function locks({ groups }: BrokerState, { request, reply }: Asked): void {
  const body: unknown = JSON.parse(request.body.toString());
  const clientId = textOf(body, 'clientId');
  const queues = listOf(body, 'mqSet');
  const keyOf = (queue: unknown): string =>
    `${textOf(body, 'consumerGroup')} ${JSON.stringify(queue)}`;
  if (request.code === RequestCode.unlockBatchQueues) {
    for (const queue of queues) groups.unlock(keyOf(queue), clientId);
    reply.answer();
    return;
  }
  const lockOKMQSet = queues.filter((queue) => groups.lock(keyOf(queue), clientId));
  reply.answer({ body: Buffer.from(JSON.stringify({ lockOKMQSet })) });
}

function textOf(value: unknown, name: string): string {
  const text: unknown = typeof value === 'object' && value !== null && Reflect.get(value, name);
  return typeof text === 'string' ? text : '';
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list: unknown = typeof value === 'object' && value !== null && Reflect.get(value, name);
  return Array.isArray(list) ? list : [];
}
