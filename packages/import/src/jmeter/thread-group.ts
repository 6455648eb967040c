import type { JmeterElement } from './element.ts';
import type { Variables } from './variables.ts';

/** What a thread group says about its threads. */
export interface Threads {
  readonly clients: number;
  /** As the plan writes it: a number, or a variable. */
  readonly clientsText: string | number;
  readonly over: string;
  readonly rampS: number;
  /** Turns; Infinity without end. */
  readonly loops: number;
  /** Seconds; null where nothing but the loops ends it. */
  readonly lengthS: number | null;
  readonly lengthText: string;
  readonly delayS: number;
}

const GROUPS = new Set(['ThreadGroup', 'SetupThreadGroup', 'PostThreadGroup']);

export function isThreadGroup({ kind }: JmeterElement): boolean {
  return kind.endsWith('ThreadGroup');
}

/** @returns null for a group whose shape cannot be said; it has been told. */
export function threadsOf(group: JmeterElement, variables: Variables): Threads | null {
  if (GROUPS.has(group.kind)) return plainThreads(group, variables);
  if (group.kind === 'SteppingThreadGroup') return stepping(group, variables);
  if (group.kind === 'UltimateThreadGroup') return ultimate(group, variables);
  if (group.kind === 'ConcurrencyThreadGroup') return concurrency(group, variables);
  variables.findings.lose(
    group.line,
    group.what,
    'this kind of thread group, with all that is in it',
  );
  return null;
}

function plainThreads(group: JmeterElement, variables: Variables): Threads {
  const count = (key: string, fallback: number) =>
    variables.numberText(group.text(key), fallback, group);
  const clients = count('ThreadGroup.num_threads', 1);
  const ramp = count('ThreadGroup.ramp_time', 0);
  const scheduler = group.flag('ThreadGroup.scheduler');
  const length = count('ThreadGroup.duration', 0);
  const loops = variables.number(
    group.nested('ThreadGroup.main_controller')?.text('LoopController.loops') ?? '1',
    0,
    group,
  );
  if (!scheduler && length.value > 0) {
    variables.findings.change(
      group.line,
      group.what,
      'its duration counted for nothing: the scheduler is off',
    );
  }
  const timed = scheduler && length.value > 0;
  if (timed && ramp.value > 0) {
    variables.findings.change(
      group.line,
      group.what,
      'its duration began with the ramp-up; here when all are connected',
    );
  }
  return {
    clients: clients.value,
    clientsText: clients.value >= 1 ? clients.text : 1,
    over: ramp.value > 0 ? `${ramp.text}s` : '1s',
    rampS: ramp.value,
    loops: loops < 0 ? Number.POSITIVE_INFINITY : loops,
    lengthS: timed ? length.value : null,
    lengthText: `${length.text}s`,
    delayS: scheduler ? variables.number(group.text('ThreadGroup.delay'), 0, group) : 0,
  };
}

function stepping(group: JmeterElement, variables: Variables): Threads {
  const number = (key: string) => variables.number(group.text(key), 0, group);
  const clients = Math.max(1, number('ThreadGroup.num_threads'));
  const step = Math.max(1, number('Start users count'));
  const rampS = Math.ceil(clients / step) * number('Start users period');
  return shaped(group, { clients, rampS, holdS: number('flighttime') }, variables);
}

function concurrency(group: JmeterElement, variables: Variables): Threads {
  const unit = group.text('Unit').trim() === 'S' ? 1 : 60;
  const number = (key: string) => variables.number(group.text(key), 0, group);
  const clients = Math.max(1, number('TargetLevel'));
  return shaped(
    group,
    { clients, rampS: number('RampUp') * unit, holdS: number('Hold') * unit },
    variables,
  );
}

/** Rows of threads, delay, start, hold and stop; they overlap freely. */
function ultimate(group: JmeterElement, variables: Variables): Threads {
  const rows = group
    .list('ultimatethreadgroupdata')
    .map((row) => row.children.map((cell) => variables.number(cell.text, 0, group)));
  const clients = rows.reduce((total, [threads = 0]) => total + threads, 0);
  const rampS = Math.max(0, ...rows.map(([, delay = 0, start = 0]) => delay + start));
  const endS = Math.max(
    0,
    ...rows.map(([, delay = 0, start = 0, hold = 0]) => delay + start + hold),
  );
  return shaped(group, { clients: Math.max(1, clients), rampS, holdS: endS - rampS }, variables);
}

function shaped(
  group: JmeterElement,
  {
    clients,
    rampS,
    holdS,
  }: { readonly clients: number; readonly rampS: number; readonly holdS: number },
  variables: Variables,
): Threads {
  variables.findings.change(
    group.line,
    group.what,
    'all its users come evenly and stay: steps, and users that leave while others come, are not carried over',
  );
  const lengthS = Math.max(1, holdS);
  return {
    clients,
    clientsText: clients,
    over: rampS > 0 ? `${rampS}s` : '1s',
    rampS,
    loops: Number.POSITIVE_INFINITY,
    lengthS,
    lengthText: `${lengthS}s`,
    delayS: 0,
  };
}
