import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SquallError } from '@squall/core/errors';
import { decodeFrame, encodeFrame, type Frame, MAX_FRAME_BYTES } from '@squall/core/metrics';
import { frames, sparseOf } from './frames.ts';

const utf8 = new TextEncoder();

/** The error of decoding, or null where it worked; anything but a SquallError is a failed test. */
function refusal(bytes: Uint8Array): SquallError | null {
  try {
    decodeFrame(bytes);
    return null;
  } catch (error) {
    if (error instanceof SquallError && error.code === 'SQ_FRAME') return error;
    throw error;
  }
}

const FRAME: Frame = {
  run: 'run-1',
  agent: 'a',
  epoch: 1,
  seqFrom: 1,
  seqTo: 2,
  slices: [
    {
      stage: 0,
      phase: 'main',
      n: 0,
      span: 2,
      fromUs: 0,
      toUs: 2_000_000,
      series: [
        { metric: 'sent', subject: 'devices', stage: 0, qos: 1, value: 3 },
        { metric: 'dropped', subject: 'devices', stage: 0, reason: 'window', value: 1 },
        { metric: 'publish_time', subject: 'devices', stage: 0, histogram: sparseOf([5, 900]) },
      ],
      examples: [
        {
          metric: 'dropped',
          subject: 'devices',
          reason: 'window',
          client: 'c',
          address: '',
          atUs: 1,
        },
      ],
    },
  ],
};

const TEXT = new TextDecoder().decode(encodeFrame(FRAME));

/** The frame as JSON with one value replaced, by its path. */
function changed(path: readonly (string | number)[], value: unknown): Uint8Array {
  const copy: unknown = JSON.parse(TEXT);
  let place: unknown = copy;
  for (const step of path.slice(0, -1)) place = Reflect.get(Object(place), step);
  Reflect.set(Object(place), path.at(-1) ?? '', value);
  return utf8.encode(JSON.stringify(copy));
}

const SLICE = ['slices', 0];
const HISTOGRAM = [...SLICE, 'series', 2, 'histogram'];

describe('frame codec', () => {
  it('gives back the frame that was encoded', () => {
    fc.assert(
      fc.property(frames('agent-1', 3), (list) => {
        for (const frame of list) expect(decodeFrame(encodeFrame(frame))).toEqual(frame);
      }),
    );
    expect(decodeFrame(encodeFrame(FRAME))).toEqual(FRAME);
  });

  it('writes JSON of the frame, with buckets by their distance', () => {
    expect(TEXT).toContain('"run":"run-1","agent":"a","epoch":1,"seqFrom":1,"seqTo":2');
    expect(TEXT).toContain('"buckets":[5,1,895,1],"minUs":5,"maxUs":900,"sumUs":905');
  });

  it('refuses garbage bytes and garbage JSON with SQ_FRAME, never otherwise', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(refusal(bytes)).toBeInstanceOf(SquallError);
      }),
    );
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(refusal(utf8.encode(json))).toBeInstanceOf(SquallError);
      }),
    );
  });

  it('never breaks on a frame with a value replaced by anything', () => {
    const paths: (string | number)[][] = [];
    const walk = (value: unknown, path: (string | number)[]): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        paths.push([...path, key]);
        walk(inner, [...path, key]);
      }
    };
    walk(JSON.parse(TEXT), []);
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, value) => {
        // Either it is still a frame, or it is refused in the one way.
        expect([null, 'SQ_FRAME']).toContain(refusal(changed(path, value))?.code ?? null);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each<[string, (string | number)[], unknown]>([
    ['an unknown metric', [...SLICE, 'series', 0, 'metric'], 'nonsense'],
    ['a metric named like a part of Object', [...SLICE, 'series', 0, 'metric'], 'constructor'],
    ['a negative counter', [...SLICE, 'series', 0, 'value'], -1],
    ['a fractional counter', [...SLICE, 'series', 0, 'value'], 1.5],
    ['a counter without value', [...SLICE, 'series', 0, 'value'], null],
    ['a counter with a histogram', [...SLICE, 'series', 0, 'histogram'], sparseOf([1])],
    ['a time without histogram', HISTOGRAM, null],
    ['a QoS of 3', [...SLICE, 'series', 0, 'qos'], 3],
    ['a stage beyond the last', [...SLICE, 'stage'], 256],
    ['an unknown phase', [...SLICE, 'phase'], 'later'],
    ['a slice without length', [...SLICE, 'span'], 0],
    ['an end before the start', [...SLICE, 'toUs'], -1],
    ['sequences backwards', ['seqTo'], 0],
    ['a range that covers too much', ['seqTo'], 1_000_000],
    ['an epoch of 0', ['epoch'], 0],
    ['an empty agent', ['agent'], ''],
    ['a name that is too long', ['agent'], 'x'.repeat(70_000)],
    ['buckets that are no pairs', [...HISTOGRAM, 'buckets'], [5, 1, 6]],
    ['no buckets', [...HISTOGRAM, 'buckets'], []],
    ['the same bucket twice', [...HISTOGRAM, 'buckets'], [900, 1, 0, 1]],
    ['falling buckets', [...HISTOGRAM, 'buckets'], [900, 1, -895, 1]],
    ['a bucket out of range', [...HISTOGRAM, 'buckets'], [5, 1, 99_999, 1]],
    ['an empty bucket', [...HISTOGRAM, 'buckets'], [5, 0, 895, 2]],
    ['a minimum outside its bucket', [...HISTOGRAM, 'minUs'], 6],
    ['a maximum outside its bucket', [...HISTOGRAM, 'maxUs'], 800],
    ['a sum that cannot be', [...HISTOGRAM, 'sumUs'], 1],
    ['more overflows than times', [...HISTOGRAM, 'overflow'], 3],
    ['too many slices', ['slices'], Array.from({ length: 1_025 }, () => FRAME.slices[0])],
  ])('refuses %s', (_, path, value) => {
    expect(refusal(changed(path, value))?.path).toBeDefined();
  });

  it('takes a __proto__ in the JSON for a field that it does not know', () => {
    const json = TEXT.replace('{', '{"__proto__":{"polluted":true},');
    expect(decodeFrame(utf8.encode(json))).toEqual(FRAME);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('refuses what is longer than the limit before it looks inside, on both sides', () => {
    expect(refusal(new Uint8Array(MAX_FRAME_BYTES + 1))?.message).toContain('bytes');
    const huge = { ...FRAME, run: 'x'.repeat(MAX_FRAME_BYTES) };
    expect(() => encodeFrame(huge)).toThrow('bytes');
  });
});
