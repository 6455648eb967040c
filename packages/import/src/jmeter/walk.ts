import type { JmeterElement } from './element.ts';
import { tellUnknownKeys } from './known-keys.ts';
import { delayOf, isTimer, type Delay } from './timers.ts';
import type { Variables } from './variables.ts';

/** A loop that a sampler stands in: turns of it, Infinity for one without end. */
export interface Loop {
  readonly loops: number;
}

/** One sampler, or a pause, in the order in which a thread meets it. */
export interface Step {
  readonly element: JmeterElement;
  readonly kind: string;
  /** Mean time that the thread waits before it, ms. */
  readonly delayMs: number;
  /** The same as a variable of the plan, where it is one timer of nothing else. */
  readonly delayText: string | null;
  readonly poisson: boolean;
  readonly loops: readonly Loop[];
  /** Share of the turns in which it is met. */
  readonly share: number;
  readonly assertions: readonly JmeterElement[];
}

interface Scope {
  readonly timers: readonly Delay[];
  readonly loops: readonly Loop[];
  readonly share: number;
  readonly assertions: readonly JmeterElement[];
}

const SAMPLERS = new Set([
  'ConnectionSampler',
  'ConnectSampler',
  'DisConnectSampler',
  'PubSampler',
  'SubSampler',
  'EfficientConnectSampler',
  'EfficientDisConnectSampler',
]);
const GROUPING = new Set(['GenericController', 'TransactionController']);
const SILENT =
  /^(ResultCollector|Summariser|ResultSaver|DebugSampler|DebugPostProcessor|CSVDataSet|Arguments|CounterConfig|RandomVariableConfig)$|vizualizers|perfmon/i;

/** Reads what a thread group does, step by step, and names what it cannot read. */
export class Walk {
  readonly steps: Step[] = [];
  /** Seconds of a RunTime controller round it all. */
  runtimeS = 0;
  readonly #variables: Variables;
  readonly #threads: number;

  constructor(variables: Variables, threads: number) {
    this.#variables = variables;
    this.#threads = threads;
  }

  /** @param outer elements of the plan whose timers and assertions are over this group, too. */
  group(group: JmeterElement, outer: readonly JmeterElement[], loop: Loop): void {
    const none: Scope = { timers: [], loops: [loop], share: 1, assertions: [] };
    this.#level(group.children, this.#scope(outer, none));
  }

  #scope(level: readonly JmeterElement[], above: Scope): Scope {
    const here = level.filter((element) => element.enabled);
    const timers = here
      .filter(isTimer)
      .map((timer) => delayOf(timer, this.#variables, this.#threads));
    const assertions = here.filter(({ kind }) => kind.endsWith('Assertion'));
    return {
      ...above,
      timers: [...above.timers, ...timers],
      assertions: [...above.assertions, ...assertions],
    };
  }

  #level(level: readonly JmeterElement[], above: Scope): void {
    const scope = this.#scope(level, above);
    for (const element of level) {
      if (!element.enabled) this.#lose(element, 'left out: disabled');
      else this.#element(element, scope);
    }
  }

  #element(element: JmeterElement, scope: Scope): void {
    const { kind } = element;
    if (isTimer(element) || kind.endsWith('Assertion')) return;
    if (SAMPLERS.has(kind) && isKnownPackage(element.className)) this.#sampler(element, scope);
    else if (GROUPING.has(kind)) this.#level(element.children, scope);
    else if (kind === 'LoopController') this.#loop(element, scope);
    else if (kind === 'OnceOnlyController') this.#level(element.children, { ...scope, loops: [] });
    else if (kind === 'TestAction') this.#action(element, scope);
    else if (kind.endsWith('Controller') || kind === 'RunTime') this.#controller(element, scope);
    else if (!SILENT.test(element.className)) this.#unknown(element);
  }

  #sampler(element: JmeterElement, above: Scope): void {
    tellUnknownKeys(element, this.#variables.findings);
    const scope = this.#scope(element.children, above);
    const own = element.children.filter((e) => !isTimer(e) && !e.kind.endsWith('Assertion'));
    for (const child of own) {
      if (!child.enabled) this.#lose(child, 'left out: disabled');
      else if (!SILENT.test(child.className)) this.#unknown(child);
    }
    this.#push(element, scope, delaySum(scope.timers));
  }

  #loop(element: JmeterElement, scope: Scope): void {
    const loops = this.#variables.number(element.text('LoopController.loops'), 0, element);
    const loop = { loops: loops < 0 ? Number.POSITIVE_INFINITY : loops };
    this.#level(element.children, { ...scope, loops: [...scope.loops, loop] });
  }

  #action(element: JmeterElement, scope: Scope): void {
    const action = element.text('ActionProcessor.action', '0').trim();
    if (action !== '1') return this.#lose(element, 'flow control other than a pause');
    const ms = this.#variables.number(element.text('ActionProcessor.duration'), 0, element);
    this.#push(element, scope, ms + delaySum(scope.timers));
    return undefined;
  }

  #controller(element: JmeterElement, scope: Scope): void {
    if (element.kind === 'RunTime') {
      this.runtimeS = this.#variables.number(element.text('RunTime.seconds'), 0, element);
      const loops = [...scope.loops, { loops: Number.POSITIVE_INFINITY }];
      return this.#level(element.children, { ...scope, loops });
    }
    if (element.kind === 'WhileController') {
      this.#lose(element, 'its condition; what is in it is repeated without end');
      const loops = [...scope.loops, { loops: Number.POSITIVE_INFINITY }];
      return this.#level(element.children, { ...scope, loops });
    }
    if (element.kind === 'IfController') return this.#condition(element, scope);
    const percent = element.text('ThroughputController.style').trim() === '1';
    if (element.kind === 'ThroughputController' && percent) {
      const text = element.text('ThroughputController.percentThroughput');
      const share = this.#variables.number(text, 100, element) / 100;
      return this.#level(element.children, { ...scope, share: scope.share * share });
    }
    return this.#lose(element, 'this controller, with all that is in it');
  }

  #condition(element: JmeterElement, scope: Scope): void {
    const value = this.#variables.constant(element.text('IfController.condition'))?.trim();
    if (value === 'true') return this.#level(element.children, scope);
    return this.#lose(
      element,
      value === 'false'
        ? 'its condition is false always'
        : 'its condition is code; all that is in it is left out',
    );
  }

  #push(element: JmeterElement, scope: Scope, delayMs: number): void {
    const { loops, share, assertions, timers } = scope;
    const poisson = timers.some((timer) => timer.poisson);
    const [timer, ...others] = timers;
    const delayText = others.length === 0 && timer?.ms === delayMs ? timer.text : null;
    this.steps.push({
      element,
      kind: element.kind,
      delayMs,
      delayText,
      poisson,
      loops,
      share,
      assertions,
    });
  }

  #unknown(element: JmeterElement): void {
    const script = /JSR223|BeanShell|BSF/.test(element.kind);
    const set = script ? scriptVariables(element) : [];
    const sets = set.length === 0 ? '' : `; it sets ${set.join(', ')}`;
    this.#lose(element, script ? `code is never imported${sets}` : 'has no counterpart here');
  }

  #lose(element: JmeterElement, why: string): void {
    this.#variables.findings.lose(element.line, element.what, why);
  }
}

/** Time a turn of the outermost loop that repeats takes, over how often the step is met in it. */
export function periodMs(step: Step, steps: readonly Step[]): number {
  const { loops } = step;
  const endless = loops.findLastIndex((loop) => loop.loops === Number.POSITIVE_INFINITY);
  const root = loops[endless >= 0 ? endless : loops.findIndex((loop) => loop.loops !== 1)];
  if (root === undefined) return turnMs(steps, undefined);
  return turnMs(steps, root) / (met(step, root) * step.share);
}

/** How often a client meets the step; Infinity where nothing ends it. */
export function timesOf({ loops, share }: Step): number {
  const times = loops.reduce((product, loop) => product * loop.loops, 1);
  return Number.isFinite(times) ? Math.max(0, Math.round(times * share)) : Number.POSITIVE_INFINITY;
}

function turnMs(steps: readonly Step[], root: Loop | undefined): number {
  return steps
    .filter(({ loops }) => root === undefined || loops.includes(root))
    .reduce((total, step) => total + step.delayMs * met(step, root) * step.share, 0);
}

function met({ loops }: Step, root: Loop | undefined): number {
  const from = root === undefined ? 0 : loops.indexOf(root) + 1;
  const times = loops.slice(from).reduce((product, loop) => product * loop.loops, 1);
  return Number.isFinite(times) ? times : 1;
}

/** Delays add up; what holds a rate waits for what is left of its period. */
function delaySum(timers: readonly Delay[]): number {
  const plain = timers.reduce((total, { ms }) => total + ms, 0);
  return Math.max(plain, ...timers.map(({ periodMs: period }) => period));
}

function isKnownPackage(className: string): boolean {
  return /^(net\.xmeter|org\.expleo)\.samplers\./.test(className);
}

function scriptVariables(element: JmeterElement): string[] {
  const text = element.text('script', element.text('BeanShellSampler.query'));
  const found = [...text.matchAll(/vars\.put(?:Object)?\(\s*["']([\w.-]{1,64})["']/g)];
  return [...new Set(found.map((match) => match[1] ?? ''))].slice(0, 20);
}
