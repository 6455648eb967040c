import type { Socket } from 'node:net';
import { EMPTY_BODY, type RemotingCommand } from '../codec/command.ts';
import { encodeFrame } from '../codec/frame.ts';
import { CommandFlag } from '../codec/request-code.ts';
import { type AnswerFault, type Fault, isOfStore } from './fault.ts';
import type { Outgoing } from './outgoing.ts';

/** What a server does with one request; nothing: it stays silent. */
export type Behaviour = (request: RemotingCommand, reply: Reply) => void;

/** How a request may be answered, well or ill. */
export interface Reply {
  readonly socket: Socket;
  /** A whole answer with the request's opaque. */
  answer(parts?: Partial<RemotingCommand>): void;
  /** The bytes of such an answer. */
  bytes(parts?: Partial<RemotingCommand>): Buffer;
}

export interface ReplyParts {
  readonly socket: Socket;
  readonly outgoing: Outgoing;
  readonly opaque: number;
  readonly fault: Fault | null;
}

export function replyTo(parts: ReplyParts): Reply {
  const { socket, outgoing, opaque, fault } = parts;
  const bytes = (more: Partial<RemotingCommand> = {}): Buffer =>
    encodeFrame({ ...blankAnswer(), opaque, ...more });
  const reply = { socket, bytes };
  if (fault === null || isOfStore(fault)) {
    return { ...reply, answer: (more) => outgoing.send(bytes(more)) };
  }
  return { ...reply, answer: (more = {}) => send(fault, outgoing, { bytes, more }) };
}

interface Answering {
  readonly bytes: (parts: Partial<RemotingCommand>) => Buffer;
  readonly more: Partial<RemotingCommand>;
}

function send(fault: AnswerFault, outgoing: Outgoing, { bytes, more }: Answering): void {
  switch (fault.kind) {
    case 'refuse':
      outgoing.send(bytes({ ...more, code: fault.with, remark: fault.remark ?? null }));
      break;
    case 'silent':
      break;
    case 'slow':
      outgoing.sendLater(bytes(more), fault.ms);
      break;
    case 'swap':
      outgoing.hold(bytes(more));
      break;
    case 'pieces':
      outgoing.sendInPieces(bytes(more), fault.bytes);
      break;
    case 'twice':
      outgoing.send(Buffer.concat([bytes(more), bytes(more)]));
      break;
    case 'cut':
      outgoing.end(bytes(more).subarray(0, fault.passing));
      break;
    case 'rewrite':
      outgoing.send(bytes({ ...more, ext: { ...more.ext, ...fault.ext } }));
      break;
    case 'garbage':
      outgoing.send(fault.bytes);
      break;
  }
}

/** Whether the request is answered, or left, without anybody doing what it asks for. */
export function isLeftUndone(fault: Fault): boolean {
  return (fault.kind === 'refuse' || fault.kind === 'silent') && fault.done !== true;
}

export function blankAnswer(): RemotingCommand {
  return {
    code: 0,
    opaque: 0,
    flag: CommandFlag.response,
    version: 373,
    language: 'JAVA',
    remark: null,
    ext: {},
    body: EMPTY_BODY,
  };
}
