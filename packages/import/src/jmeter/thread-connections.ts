import type { JmeterElement } from './element.ts';
import type { Findings } from '../findings.ts';
import type { Step } from './walk.ts';

/** One connection of each thread, and what is done over it. */
export interface ThreadConnection {
  /** The sampler with the connection's settings. */
  readonly owner: JmeterElement;
  readonly connect: Step;
  readonly publishing: Step[];
  readonly subscribing: Step[];
  disconnect: Step | null;
}

const CONNECTS = new Set(['ConnectSampler', 'ConnectionSampler', 'EfficientConnectSampler']);

/**
 * The connections of a thread. Pub and Sub of 2017 connect by themselves (they name a server); later
 * ones use the connection of the thread, and never that of an efficient connect.
 */
export function connectionsOf(steps: readonly Step[], findings: Findings): ThreadConnection[] {
  const found = new Map<string, ThreadConnection>();
  for (const step of steps) {
    const { element, kind } = step;
    if (CONNECTS.has(kind)) open(step, found, findings);
    else if (kind === 'PubSampler') user(step, found, findings)?.publishing.push(step);
    else if (kind === 'SubSampler') user(step, found, findings)?.subscribing.push(step);
    else if (kind.includes('DisConnect')) {
      const key = kind.startsWith('Efficient') ? 'efficient' : keyOf(element);
      const connection = [...found].findLast(([name]) => name.startsWith(key))?.[1];
      if (connection !== undefined) connection.disconnect = step;
    }
  }
  return [...found.values()];
}

/** One fork gives connections names. */
function keyOf(element: JmeterElement): string {
  return `named ${element.text('mqtt.connect_name')}`;
}

function open(step: Step, found: Map<string, ThreadConnection>, findings: Findings): void {
  const { element, kind } = step;
  const efficient = kind === 'EfficientConnectSampler';
  const key = efficient ? `efficient ${found.size}` : keyOf(element);
  if (found.has(key)) {
    findings.lose(
      element.line,
      element.what,
      'a thread has one connection, which is there already',
    );
    return;
  }
  found.set(key, connectionOf(step));
}

function user(
  step: Step,
  found: Map<string, ThreadConnection>,
  findings: Findings,
): ThreadConnection | undefined {
  const { element } = step;
  if (element.has('mqtt.server')) {
    const key = element.flag('mqtt.conn_share') ? 'shared' : `own ${found.size}`;
    const connection = found.get(key) ?? connectionOf(step);
    found.set(key, connection);
    return connection;
  }
  const connection = found.get(keyOf(element));
  if (connection === undefined) {
    findings.lose(element.line, element.what, 'no MQTT Connect before it: it failed each time');
  }
  return connection;
}

function connectionOf(connect: Step): ThreadConnection {
  return { owner: connect.element, connect, publishing: [], subscribing: [], disconnect: null };
}
