import { describe, expect, test } from 'vitest';
import { formatProblems, readPlan } from '../../src/plan/index.ts';
import { refused } from './plan-fixture.ts';

const PLAN = `squall: 1
name: places
vars: { site: berlin }
targets:
  broker: { protocol: mqtt, urls: ["mqtt://127.0.0.1"] }
groups:
  devices:
    target: brokr
    clients: 10q
    connect:
      keepalive: 5s
      timeout: 10
    publish:
      - { topic: "a/#", payload: 200B, every: 1s }
      - name: slow
        topic: 'b/{{site}}/{{nn}}'
        qos: 3
        payload: 10B
stages:
  - name: load
    run: { device: publish }
    for: 1h
    unitl: x
thresholds:
  - "published: rate > 5/s"
  - 'publish_time: p(99) < 500'
  - publish_tme: p(99) < 500ms
limits:
  onAgentLoss: carry-on
`;

describe('every fault is told at once, with its place', () => {
  const errors = refused(PLAN);
  const at = (path: string) => errors.find((error) => error.path === path);

  test.each([
    ['groups.devices.clients', 9, 14, '"10q" is not a count'],
    ['groups.devices.connect.keepalive', 11, 7, 'unknown key "keepalive"'],
    ['groups.devices.connect.timeout', 12, 16, '10 has no unit'],
    ['groups.devices.publish[0].topic', 14, 18, '"#" is a wildcard'],
    ['groups.devices.publish[1].topic', 16, 28, 'there is no variable "nn"'],
    ['groups.devices.publish[1].qos', 17, 14, '3 is not one of 0, 1, 2'],
    ['stages[0].unitl', 23, 5, 'unknown key "unitl"'],
    ['thresholds[1]', 26, 28, '500'],
    ['thresholds[2]', 27, 5, 'no metric "publish_tme"'],
    ['limits.onAgentLoss', 29, 16, '"carry-on" is not one of'],
  ])('%s at %d:%d', (path, line, column, message) => {
    expect(at(path)).toMatchObject({ line, column, message: expect.stringContaining(message) });
  });

  test('a hint names what was most likely meant', () => {
    expect(at('groups.devices.connect.keepalive')?.hint).toBe('did you mean keepAlive?');
    expect(at('stages[0].unitl')?.hint).toBe('did you mean until?');
    expect(at('groups.devices.target')?.hint).toBe('did you mean broker?');
    expect(at('thresholds[2]')?.hint).toContain('publish_time');
  });

  test('they come in the order of the file', () => {
    const places = errors.map(({ line, column }) => line * 1_000 + column);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  test('nothing is said about what a faulty group does', () => {
    expect(errors.map(({ path }) => path)).not.toContain('stages[0].run.devices');
    expect(errors).toHaveLength(11);
  });
});

test('problems print as compilers print them', () => {
  const text = formatProblems('plans/x.yaml', [
    { line: 3, column: 5, path: 'a.b[1]', message: 'wrong', hint: 'do this', code: 'SQ_PLAN' },
    { line: 9, column: 1, path: '', message: 'broken', code: 'SQ_UNIT' },
  ]);
  expect(text).toBe(
    [
      'plans/x.yaml:3:5: error: a.b[1]: wrong [SQ_PLAN]',
      '    hint: do this',
      'plans/x.yaml:9:1: error: broken [SQ_UNIT]',
    ].join('\n'),
  );
});

test('JSON has places as well, tabs and all', () => {
  const json = '{\n\t"squall": 1,\n\t"name": "x",\n\t"stagez": []\n}\n';
  const read = readPlan(json);
  expect(read).toMatchObject({
    ok: false,
    errors: [
      { line: 1, column: 1, message: '"targets" is missing: a map' },
      { line: 1, column: 1, message: '"groups" is missing: a map' },
      { line: 1, column: 1, message: '"stages" is missing: a list' },
      { line: 4, column: 2, path: 'stagez', hint: 'did you mean stages?' },
    ],
  });
});

test('something missing is told at the key of the map that lacks it', () => {
  const text = `squall: 1
name: x
targets: { b: { protocol: mqtt, urls: [mqtt://h] } }
groups:
  one: { target: b, clients: 1, publish: { topic: t, payload: 40B, every: 1s } }
  two:
    target: b
stages: [{ name: s, run: { one: publish }, for: 1s }]
`;
  expect(refused(text)).toEqual([
    {
      line: 6,
      column: 3,
      path: 'groups.two.clients',
      message: '"clients" is missing: text or a number or a map',
      code: 'SQ_PLAN',
    },
  ]);
});

describe('faults of the syntax', () => {
  test.each([
    ['an open bracket', 'squall: 1\nname: [\n', 3],
    ['a tab', 'squall: 1\nvars:\n\ta: 1\n', 3],
    ['a key twice', 'squall: 1\nname: a\nname: b\n', 3],
    ['two plans in a file', 'squall: 1\n---\nsquall: 1\n', 2],
    ['a tag', 'squall: 1\nname: !!js/function x\n', 2],
    ['an alias to nothing', 'squall: 1\nname: *nope\n', 2],
  ])('%s', (_, text, line) => {
    const [first] = refused(text);
    expect(first).toMatchObject({ line, code: 'SQ_PLAN' });
  });

  test('a key that stands twice is told at its second place', () => {
    expect(refused('squall: 1\nname: a\nname: b\n')[0]).toMatchObject({
      line: 3,
      column: 1,
      message: 'this key stands twice',
    });
  });
});
