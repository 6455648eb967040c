import {
  isMetricName,
  type MetricName,
  RunAggregate,
  type SeriesDelta,
} from '@squall/core/metrics';
import type { Condition } from '@squall/core/plan';
import { describe, expect, it } from 'vitest';
import { conditionHolds } from '../src/run/condition.ts';

/** `what`: metric and value. */
function delta(what: `${MetricName} ${number}`, subject: string, stage: number): SeriesDelta {
  const [metric = '', value] = what.split(' ');
  if (!isMetricName(metric)) throw new Error(metric);
  return { metric, subject, stage, value: Number(value) };
}

/** 10 sent in stage 0, 5 in stage 1 (of which 3 by a named stream), 7 connections. */
function aggregate(): RunAggregate {
  const made = new RunAggregate('run');
  const slice = { phase: 'main', n: 0, span: 1, fromUs: 0, toUs: 1e6, examples: [] } as const;
  const first = [delta('sent 10', 'devices', 0), delta('connections 9', 'devices', 0)];
  const second = [
    delta('sent 2', 'devices', 1),
    delta('sent 3', 'devices.beat', 1),
    delta('sent 100', 'devicesX', 1),
    delta('connections 7', 'devices', 1),
  ];
  made.fold({
    run: 'run',
    agent: 'a',
    epoch: 1,
    seqFrom: 1,
    seqTo: 1,
    slices: [
      { ...slice, stage: 0, series: first },
      { ...slice, stage: 1, fromUs: 1e6, toUs: 2e6, series: second },
    ],
  });
  return made;
}

function holds(more: Partial<Condition>): boolean {
  const condition: Condition = {
    text: '',
    subject: 'devices',
    metric: 'sent',
    op: '==',
    value: 5,
    fromRun: false,
    ...more,
  };
  return conditionHolds(condition, aggregate(), 1);
}

describe('the condition of a stage', () => {
  it('counts what is due in the stage, streams included', () => {
    expect(holds({ value: 5 })).toBe(true);
    expect(holds({ subject: 'devices.beat', value: 3 })).toBe(true);
  });

  it('counts from the start of the run where it says so', () => {
    expect(holds({ fromRun: true, value: 15 })).toBe(true);
  });

  it('takes the newest value of a gauge', () => {
    expect(holds({ metric: 'connections', value: 7 })).toBe(true);
  });

  it('is 0 for a counter that never moved', () => {
    expect(holds({ metric: 'acked', value: 0 })).toBe(true);
  });

  it.each([
    ['<', 5, false],
    ['<', 6, true],
    ['<=', 5, true],
    ['<=', 4, false],
    ['>', 5, false],
    ['>', 4, true],
    ['>=', 5, true],
    ['>=', 6, false],
    ['==', 4, false],
    ['!=', 5, false],
    ['!=', 4, true],
  ] as const)('5 %s %d is %s', (op, value, expected) => {
    expect(holds({ op, value })).toBe(expected);
  });
});
