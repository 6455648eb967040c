import type { JmeterElement } from './element.ts';
import type { Variables } from './variables.ts';

/** What a timer does to each sampler under it, on the average. */
export interface Delay {
  /** ms that are waited. */
  readonly ms: number;
  /** ms from one sampler to the next that it sees to; 0 where it only waits. */
  readonly periodMs: number;
  readonly poisson: boolean;
  /** As a variable of the plan, with its unit. */
  readonly text: string | null;
}

export function isTimer({ kind }: JmeterElement): boolean {
  return kind.endsWith('Timer');
}

/** @param threads of the group: a rate over all of them is shared. */
export function delayOf(timer: JmeterElement, variables: Variables, threads: number): Delay {
  const number = (name: string, fallback = 0) =>
    variables.number(timer.text(name), fallback, timer);
  const { findings } = variables;
  const range = () => number('RandomTimer.range');
  switch (timer.kind) {
    case 'ConstantTimer':
      return constant(timer, variables);
    case 'UniformRandomTimer':
      findings.change(timer.line, timer.what, 'its mean, without the spread');
      return waits(number('ConstantTimer.delay') + range() / 2);
    case 'GaussianRandomTimer':
      findings.change(timer.line, timer.what, 'its mean, without the spread');
      return waits(number('ConstantTimer.delay'));
    case 'PoissonRandomTimer':
      return { ...waits(number('ConstantTimer.delay') + range()), poisson: true, text: null };
    case 'ConstantThroughputTimer':
      return constantThroughput(timer, variables, threads);
    case 'PreciseThroughputTimer': {
      const perSecond = number('throughput', 100) / number('throughputPeriod', 3_600);
      return {
        ms: 0,
        periodMs: perSecond > 0 ? (1_000 * threads) / perSecond : 0,
        poisson: true,
        text: null,
      };
    }
    case 'SyncTimer':
      findings.change(
        timer.line,
        timer.what,
        'the rendezvous is the end of the stage that connects',
      );
      return waits(0);
    default:
      findings.lose(timer.line, timer.what, 'this timer has no counterpart here');
      return waits(0);
  }
}

const MINUTE_MS = 60_000;

/** `throughput` counts samples a minute; only mode 0 means those of one thread. */
function constantThroughput(timer: JmeterElement, variables: Variables, threads: number): Delay {
  const text = timer.text('throughput');
  const xmeter = /^\$\{__xmeterThroughput\((.*)\)\}$/.exec(text.trim())?.[1];
  if (xmeter !== undefined) {
    const perSecond = variables.number(xmeter, 1, timer);
    return {
      ms: 0,
      periodMs: (1_000 * threads) / Math.max(perSecond, Number.MIN_VALUE),
      poisson: false,
      text: null,
    };
  }
  const perMinute = variables.number(text, 0, timer);
  const mode = timer.text('calcMode', '0').trim();
  if (mode === '1' || mode === '3') {
    variables.findings.change(
      timer.line,
      timer.what,
      'its rate is over all thread groups; here over this one',
    );
  }
  const shared = mode === '0' ? 1 : threads;
  return {
    ms: 0,
    periodMs: perMinute > 0 ? (MINUTE_MS * shared) / perMinute : 0,
    poisson: false,
    text: null,
  };
}

function waits(ms: number): Delay {
  return { ms: Math.max(0, ms), periodMs: 0, poisson: false, text: null };
}

function constant(timer: JmeterElement, variables: Variables): Delay {
  const { text, value } = variables.numberText(timer.text('ConstantTimer.delay'), 0, timer);
  return { ...waits(value), text: typeof text === 'string' ? `${text}ms` : null };
}
