import { SquallError } from '@squall/core/errors';
import { isBrokerReady } from '../commands/broker.ts';
import type { ChildEnd, Children } from './children.ts';

/** From the start of the broker's process to its first answer. */
const BROKER_START_MS = 15_000;

export interface LocalAgents {
  readonly count: number;
  readonly workers: number;
  /** Where the controller listens. */
  readonly url: string;
  readonly token: string;
  /** Called when one ends that was not told to. */
  onDeath(end: ChildEnd): void;
}

export interface LocalProcess {
  readonly name: string;
  readonly pid: number;
}

export interface LocalBroker extends LocalProcess {
  readonly url: string;
}

/** Name of the agent with this index (from 0) of `count`: names sort as their numbers do. */
export function agentName(index: number, count: number): string {
  return `agent-${String(index + 1).padStart(String(count).length, '0')}`;
}

/** Starts the agents of a run on this machine. */
export function startLocalAgents(children: Children, agents: LocalAgents): LocalProcess[] {
  return Array.from({ length: agents.count }, (_, index) => {
    const name = agentName(index, agents.count);
    const pid = children.start({
      name,
      args: ['agent', '--controller', agents.url, '--id', name, '--workers', `${agents.workers}`],
      env: { SQUALL_TOKEN: agents.token },
      onEnd: (end) => {
        if (!end.asked) agents.onDeath(end);
      },
    });
    return { name, pid };
  });
}

/**
 * Starts the embedded broker and waits until it listens.
 * @throws SquallError SQ_LISTEN when it ends or stays silent instead.
 */
export function startLocalBroker(
  children: Children,
  onDeath: (end: ChildEnd) => void,
): Promise<LocalBroker> {
  return new Promise((resolve, reject) => {
    let pid = -1;
    let ready = false;
    const fail = (how: string): void => {
      clearTimeout(patience);
      reject(new SquallError('SQ_LISTEN', `the embedded broker did not start: ${how}`));
    };
    const patience = setTimeout(() => fail('it does not answer'), BROKER_START_MS);
    pid = children.start({
      name: 'broker',
      args: ['broker'],
      onMessage: (message) => {
        if (!isBrokerReady(message)) return;
        ready = true;
        clearTimeout(patience);
        resolve({ name: 'broker', pid, url: `mqtt://127.0.0.1:${message.port}` });
      },
      onEnd: (end) => {
        if (!ready) fail([end.how, ...end.lastLines].join('\n'));
        else if (!end.asked) onDeath(end);
      },
    });
  });
}
