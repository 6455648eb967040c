import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseLenientJson, RocketmqError } from '../../src/codec/index.ts';
import { canonicalJson } from '../../src/codec/lenient-json.ts';

describe('lenient JSON', () => {
  test('bare numbers as names', () => {
    expect(parseLenientJson('{"a":{0:"127.0.0.1:10911",-1:"x"}}')).toEqual({
      a: { '0': '127.0.0.1:10911', '-1': 'x' },
    });
  });

  test('whole objects as names become their JSON', () => {
    const read = parseLenientJson(
      '{"offsetTable":{{"topic":"T1","queueId":1}:{"maxOffset":1},{"topic":"T1","queueId":0}:{"maxOffset":7}}}',
    );
    expect(read).toEqual({
      offsetTable: {
        '{"queueId":1,"topic":"T1"}': { maxOffset: 1 },
        '{"queueId":0,"topic":"T1"}': { maxOffset: 7 },
      },
    });
  });

  test('digits before a colon inside texts stay as they are', () => {
    expect(parseLenientJson('{0:"a{1:\\"2:3}[::1]:10911"}')).toEqual({
      '0': 'a{1:"2:3}[::1]:10911',
    });
  });

  test('a member called __proto__ is one like any other', () => {
    const read = parseLenientJson('{0:1,"__proto__":{"x":1}}');
    expect(Object.keys(read as object)).toEqual(['0', '__proto__']);
  });

  test('whatever is JSON is read as JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(parseLenientJson(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('and its lenient reading gives the same', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'small' }), (value) => {
        // The bare name makes JSON.parse fail, so that our own reader has to read all of it.
        const read = parseLenientJson(`{0:${JSON.stringify(value)}}`);
        expect(canonicalJson(read)).toBe(canonicalJson({ '0': JSON.parse(JSON.stringify(value)) }));
      }),
    );
  });

  test.each([
    '',
    '{',
    '{0:',
    '{0:1',
    '{0:1,}',
    '{0}',
    '[1,{2:',
    '{0:"',
    '{0:tru}',
    '{0:1} x',
    '{0:'.repeat(5000),
  ])('what is none is a typed error: %j', (text) => {
    expect(() => parseLenientJson(text)).toThrow(RocketmqError);
  });
});
