import { decodeFrame, encodeFrame } from '@squall/core/metrics';
import { describe, expect, test } from 'vitest';
import { Recorder } from '../../src/worker/measure/recorder.ts';
import { BACKLOG, PUBLISH_TIME, SENT } from '../../src/worker/measure/series.ts';

const head = (n: number) => ({
  stage: 0,
  phase: 'main' as const,
  n,
  span: 1,
  fromUs: n * 1e6,
  toUs: (n + 1) * 1e6,
});
const moment = new Float64Array([5e9]);
/** A time that ends at the moment. */
const lasting = (us: number) => new Float64Array([5e9 - us]);
const key = { kind: 'publish', subject: 's', stage: 0, qos: 1 } as const;

describe('recorder', () => {
  test('cuts growth: what was in a slice is not in the next', () => {
    const recorder = new Recorder(moment);
    const meter = recorder.meter(key);
    meter.add(SENT, 3);
    meter.elapsed(PUBLISH_TIME, lasting(1234.9), 0);
    meter.fail('dropped', 'window', 2);
    meter.gauge(BACKLOG, 5);
    const first = recorder.cut(head(0)).series;
    expect(first.find(({ metric }) => metric === 'sent')?.value).toBe(3);
    expect(first.find(({ metric }) => metric === 'acked')?.value).toBe(0);
    expect(first.find(({ metric }) => metric === 'dropped')).toMatchObject({
      reason: 'window',
      value: 2,
    });
    const time = first.find(({ metric }) => metric === 'publish_time')?.histogram;
    expect(time).toMatchObject({ minUs: 1234, maxUs: 1234 });
    expect(first.find(({ metric }) => metric === 'backlog')?.value).toBe(5);
    const second = recorder.cut(head(1)).series;
    expect(second).toEqual([]);
  });

  test('makes slices that the frame codec takes', () => {
    const recorder = new Recorder(moment);
    const meter = recorder.meter(key);
    meter.elapsed(PUBLISH_TIME, lasting(-5), 0);
    meter.elapsed(PUBLISH_TIME, lasting(4e9), 0);
    meter.add(SENT, 1);
    const slice = recorder.cut(head(0));
    const frame = { run: 'r', agent: 'a', epoch: 1, seqFrom: 1, seqTo: 1, slices: [slice] };
    expect(decodeFrame(encodeFrame(frame))).toEqual(frame);
  });

  test('uses the histograms of retired stages again', () => {
    const recorder = new Recorder(moment);
    for (let stage = 0; stage < 50; stage++) {
      recorder.meter({ ...key, stage }).elapsed(PUBLISH_TIME, lasting(100), 0);
      recorder.retire(stage);
      expect(recorder.cut(head(stage)).series.length).toBeGreaterThan(0);
    }
    expect(recorder.histograms).toBe(1);
  });

  test('books what comes late for a retired stage in the slice in which it came', () => {
    const recorder = new Recorder(moment);
    recorder.meter(key);
    recorder.retire(0);
    recorder.cut(head(0));
    recorder.meter(key).add(SENT, 1);
    const late = recorder.cut(head(1)).series;
    expect(late.find(({ metric }) => metric === 'sent')).toMatchObject({ value: 1, stage: 0 });
    expect(recorder.cut(head(2)).series).toEqual([]);
  });

  test('keeps the first twenty examples of a kind, and bounds the reasons of a series', () => {
    const recorder = new Recorder(moment);
    const example = {
      metric: 'connect_failed' as const,
      subject: 's',
      reason: 'refused',
      client: 'c',
      address: 'x',
      atUs: 0,
    };
    for (let k = 0; k < 30; k++) recorder.example({ ...example, client: `c${k}` });
    expect(recorder.cut(head(0)).examples).toHaveLength(20);
    expect(recorder.wantsExample('connect_failed', 's', 'refused')).toBe(false);
    const meter = recorder.meter(key);
    for (let k = 0; k < 200; k++) meter.fail('publish_failed', `reason ${k}`);
    const reasons = recorder.cut(head(1)).series.filter(({ reason }) => reason !== undefined);
    expect(reasons).toHaveLength(65);
    expect(reasons.reduce((sum, { value }) => sum + (value ?? 0), 0)).toBe(200);
  });
});
