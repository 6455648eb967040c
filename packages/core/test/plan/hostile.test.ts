import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPlan } from '../../src/plan/index.ts';
import { complaints, planOf, refused, streamOf } from './plan-fixture.ts';

/** Other tests may share the processor. */
const LONG = { timeout: 30_000 };

const LAUGHS = `a: &a [x,x,x,x,x,x,x,x,x,x]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]
e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]
f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]
g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]
`;

test.each([
  ['an empty file', '', 'nothing stands here, a map is expected'],
  ['a comment', '# nothing\n', 'nothing stands here, a map is expected'],
  ['a list', '- squall: 1\n', 'a list stands here, a map is expected'],
  ['a text', 'hello', '"hello" stands here, a map is expected'],
  ['a number', '42', '42 stands here, a map is expected'],
  ['aliases that multiply', LAUGHS, 'grows beyond'],
  ['an alias of itself', 'a: &a [*a]\n', 'nested deeper'],
  ['deep nesting', `a: ${'['.repeat(200)}${']'.repeat(200)}`, 'nested deeper'],
  ['very deep nesting', `a: ${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'nested deeper'],
  ['a huge file', `# ${'x'.repeat(5_000_000)}`, 'longer than'],
  [
    '__proto__ as a key',
    'squall: 1\n__proto__: { polluted: true }\n',
    '"__proto__" is not allowed',
  ],
  [
    '__proto__ as a group',
    'groups:\n  "__proto__": { clients: 1 }\n',
    '"__proto__" is not allowed',
  ],
  ['a map as a key', '{ {a: 1}: 2 }', 'a key is plain text'],
  ['NUL bytes', 'squall: 1\u0000', ''],
])('%s', (_, text, message) => {
  const errors = refused(text);
  expect(errors.length).toBeGreaterThan(0);
  expect(errors[0]?.message).toContain(message);
});

test('names of object methods are names like any other', () => {
  const plan = planOf({
    groups: { constructor: { target: 'toString', clients: 1, connect: {} } },
    stages: [{ name: 'valueOf', run: { hasOwnProperty: 'connect' } }],
  });
  expect(complaints(plan)).toEqual([
    'groups.constructor.target: there is no target "toString"',
    'stages[0].run.hasOwnProperty: there is no group "hasOwnProperty"',
  ]);
});

test.each([
  ['.nan', '.nan'],
  ['.inf', '.inf'],
  ['-1', '-1'],
  ['1e400', '1e400'],
  ['0', '0'],
  ['1.5', '1.5'],
  ['999999999999999999999', '999999999999999999999'],
  ['~', '~'],
  ['true', 'true'],
  ['[]', '[]'],
])('clients: %s is refused', (_, value) => {
  const text = `squall: 1
name: x
targets: { b: { protocol: mqtt, urls: [mqtt://h] } }
groups: { one: { target: b, clients: ${value}, publish: { topic: t, payload: 40B, every: 1s } } }
stages: [{ name: s, run: { one: publish }, for: 1s }]
`;
  const errors = refused(text);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatchObject({ path: 'groups.one.clients', line: 4 });
});

test.each([
  ['every', '0s'],
  ['every', '400000h'],
  ['rate', '0/s'],
  ['inflight', 0],
  ['inflight', 65_536],
  ['count', 0],
  ['ackTimeout', '0s'],
])('%s: %s is out of range', (key, value) => {
  const every = key === 'rate' ? { every: undefined } : {};
  expect(complaints(streamOf({ ...every, [key]: value }))).toEqual([
    expect.stringContaining(`groups.devices.publish.${key}: `),
  ]);
});

test('any JSON ends in a plan or in errors with places, and never in an exception', LONG, () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (json) => {
      const read = readPlan(json);
      expect(read.ok).toBe(false);
    }),
  );
});

test('a plan with any one value replaced by anything ends in a plan or in errors', LONG, () => {
  const leaves = pathsOf(planOf());
  fc.assert(
    fc.property(fc.constantFrom(...leaves), fc.jsonValue({ maxDepth: 2 }), (path, value) => {
      const read = readPlan(JSON.stringify(replaced(planOf(), path, value)));
      const places = read.ok ? [1] : read.errors.map(({ line }) => line);
      expect(Math.min(...places)).toBeGreaterThanOrEqual(1);
    }),
    { numRuns: 150 },
  );
});

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, child]) => pathsOf(child, [...path, key]))];
}

function replaced(value: unknown, path: Path, by: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return by;
  if (Array.isArray(value)) {
    return value.map((item, index) => (String(index) === first ? replaced(item, rest, by) : item));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === first ? replaced(item, rest, by) : item,
    ]),
  );
}
