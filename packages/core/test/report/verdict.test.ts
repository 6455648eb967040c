import { decide, type ReportInput, type VerdictInput } from '@squall/core/report';
import type { ThresholdResult } from '@squall/core/thresholds';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

type Outcome = ReportInput['outcome'];
type State = VerdictInput['validity']['state'];

function threshold(leadsTo: ThresholdResult['leadsTo'], text = 'sent: count > 0'): ThresholdResult {
  return {
    id: null,
    text,
    state: leadsTo,
    leadsTo,
    expected: 'count > 0',
    observed: 0,
    unit: 'count',
    observedText: 'count = 0',
    worst: { stage: 'publish', fromUs: 0, toUs: 1, value: 0 },
    windows: 1,
    failedWindows: leadsTo === 'fail' ? 1 : 0,
    partialWindows: 0,
    aborted: false,
    remark: '',
  };
}

/** A generator that was never late. */
const generator: VerdictInput['generator'] = { agents: new Map() };

function validity(state: State): VerdictInput['validity'] {
  const hint = 'It has too little CPU.';
  const base = { check: 'lateness' as const, observed: 1, limit: 0, agent: 'agent-1', hint };
  return { state, findings: state === 'valid' ? [] : [{ ...base, state }] };
}

const completed: Outcome = { kind: 'completed' };
const outcomes = {
  completed,
  threshold: { kind: 'threshold', reasons: ['broken'] },
  error: { kind: 'error', reasons: ['a fault'] },
  agents: { kind: 'agents', reasons: ['too few'] },
  api: { kind: 'cancelled', by: 'api', reasons: ['stopped'] },
  signal: { kind: 'cancelled', by: 'signal', reasons: ['stopped'] },
  agentLost: { kind: 'aborted', policy: 'agent_lost', reasons: ['lost'] },
  maxDuration: { kind: 'aborted', policy: 'max_duration', reasons: ['too long'] },
  incomplete: { kind: 'aborted', policy: 'incomplete', reasons: ['incomplete'] },
} as const satisfies Record<string, Outcome>;

type Row = readonly [
  outcome: keyof typeof outcomes,
  leads: ThresholdResult['leadsTo'] | null,
  state: State,
  strict: boolean,
  verdict: string,
  exitCode: number,
];

const TABLE: readonly Row[] = [
  ['completed', 'pass', 'valid', false, 'pass', 0],
  ['completed', null, 'valid', false, 'pass', 0],
  ['completed', 'warn', 'valid', false, 'pass', 0],
  ['completed', 'pass', 'degraded', false, 'pass', 0],
  ['completed', 'pass', 'valid', true, 'pass', 0],
  ['completed', 'pass', 'degraded', true, 'pass', 111],
  ['completed', 'pass', 'invalid', false, 'inconclusive', 111],
  ['completed', 'warn', 'invalid', false, 'inconclusive', 111],
  ['completed', null, 'invalid', false, 'inconclusive', 111],
  ['completed', 'fail', 'valid', false, 'fail', 99],
  ['completed', 'fail', 'degraded', false, 'fail', 99],
  ['completed', 'fail', 'degraded', true, 'fail', 99],
  ['completed', 'fail', 'invalid', false, 'fail', 111],
  ['completed', 'inconclusive', 'valid', false, 'inconclusive', 112],
  ['completed', 'inconclusive', 'degraded', false, 'inconclusive', 112],
  ['completed', 'inconclusive', 'degraded', true, 'inconclusive', 112],
  ['completed', 'inconclusive', 'invalid', false, 'inconclusive', 111],
  ['threshold', 'fail', 'valid', false, 'fail', 99],
  ['threshold', 'fail', 'invalid', false, 'fail', 111],
  ['threshold', 'pass', 'valid', false, 'fail', 99],
  ['error', 'pass', 'valid', false, 'error', 1],
  ['error', 'fail', 'invalid', false, 'error', 1],
  ['agents', null, 'invalid', false, 'error', 113],
  ['api', 'fail', 'invalid', false, 'cancelled', 103],
  ['api', 'pass', 'valid', false, 'cancelled', 103],
  ['signal', 'fail', 'invalid', true, 'cancelled', 105],
  ['signal', 'pass', 'valid', false, 'cancelled', 105],
  ['agentLost', 'pass', 'invalid', false, 'aborted', 111],
  ['maxDuration', 'pass', 'valid', false, 'aborted', 111],
  ['maxDuration', 'fail', 'valid', false, 'aborted', 111],
  ['incomplete', 'inconclusive', 'valid', false, 'aborted', 111],
];

describe('the verdict', () => {
  it.each(TABLE)('%s, threshold %s, %s, strict %s: %s, exit %i', (...row) => {
    const [outcome, leads, state, strict, verdict, exitCode] = row;
    const decision = decide({
      outcome: outcomes[outcome],
      thresholds: leads === null ? [] : [threshold('pass'), threshold(leads), threshold('warn')],
      validity: validity(state),
      generator,
      emptiness: [],
      strict,
    });
    expect(decision).toMatchObject({ verdict, exitCode });
    expect(decision.reasons.length).toBeGreaterThan(0);
  });

  it('says first what weighs most', () => {
    const { reasons } = decide({
      outcome: outcomes.agentLost,
      thresholds: [threshold('warn', 'a: warn'), threshold('fail', 'b: fail')],
      validity: validity('degraded'),
      generator,
      emptiness: [],
      strict: false,
    });
    expect(reasons[0]).toBe('lost');
    expect(reasons.findIndex((one) => one.includes('b: fail'))).toBeGreaterThan(0);
    expect(reasons.at(-1)).toContain('a: warn');
  });

  it('says of a pass with warnings that everything else holds', () => {
    const { reasons } = decide({
      outcome: completed,
      thresholds: [threshold('pass'), threshold('warn', 'a: warn')],
      validity: validity('valid'),
      generator,
      emptiness: [],
      strict: false,
    });
    expect(reasons[0]).toBe('the other threshold holds');
    expect(reasons[1]).toContain('a: warn');
  });

  it('names the fault of a threshold before that of the generator, when both are there', () => {
    const { reasons } = decide({
      outcome: completed,
      thresholds: [threshold('fail', 'b: fail')],
      validity: validity('degraded'),
      generator,
      emptiness: [],
      strict: false,
    });
    expect(reasons[0]).toContain('b: fail');
    expect(reasons[1]).toContain('too little CPU');
  });

  it('does not pass a run of which nothing was tested', () => {
    const { verdict, exitCode, reasons } = decide({
      outcome: completed,
      thresholds: [threshold('pass')],
      validity: validity('valid'),
      generator,
      emptiness: ['nothing was tested with devices: none of its clients could connect'],
      strict: false,
    });
    expect({ verdict, exitCode }).toEqual({ verdict: 'inconclusive', exitCode: 112 });
    expect(reasons[0]).toContain('nothing was tested');
  });

  it('keeps the list of reasons short', () => {
    const { reasons } = decide({
      outcome: completed,
      thresholds: Array.from({ length: 100 }, (_, at) => threshold('fail', `line ${at}`)),
      validity: validity('valid'),
      generator,
      emptiness: [],
      strict: false,
    });
    expect(reasons).toHaveLength(21);
    expect(reasons.at(-1)).toBe('and 80 more reasons');
  });

  it('exits with 0 only by a pass that nothing speaks against', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(outcomes)),
        fc.array(fc.constantFrom('pass', 'fail', 'warn', 'inconclusive')),
        fc.constantFrom('valid', 'degraded', 'invalid'),
        fc.boolean(),
        fc.array(fc.constant('nothing was tested'), { maxLength: 1 }),
        (outcome, leads, state, strict, emptiness) => {
          const { verdict, exitCode } = decide({
            outcome,
            thresholds: leads.map((one) => threshold(one)),
            validity: validity(state),
            generator,
            emptiness,
            strict,
          });
          const sound =
            outcome.kind === 'completed' &&
            !leads.includes('fail') &&
            !leads.includes('inconclusive') &&
            emptiness.length === 0 &&
            (state === 'valid' || (state === 'degraded' && !strict));
          expect(exitCode === 0).toBe(sound);
          expect(verdict === 'pass' && state === 'invalid').toBe(false);
        },
      ),
    );
  });
});
