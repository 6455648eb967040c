import { expect, test } from 'vitest';
import { accepted, planOf, refused, streamOf } from './plan-fixture.ts';

test('both forms are read', () => {
  const plan = accepted(
    planOf({
      thresholds: [
        'publish_time: p(99) < 500ms over 5s in load, abort after 1s',
        { id: 'up', metric: 'published', expect: 'rate > 5/s', stages: ['load'], no_data: 'warn' },
      ],
    }),
  );
  expect(plan.thresholds).toMatchObject([
    { text: 'publish_time: p(99) < 500ms over 5s in load, abort after 1s', id: null },
    { id: 'up', noData: 'warn' },
  ]);
});

test.each([
  ['publish_time: p(99) < 500', 20],
  ['publish_time: p(99) < 500ms in lod', 32],
  ['publish_tim: p(99) < 500ms', 1],
  ['publish_time: count > 5', 15],
])('%s is told at its column', (line, column) => {
  const text = JSON.stringify(planOf({ thresholds: [line] }));
  const [error] = refused(text);
  expect(error).toMatchObject({ code: 'SQ_THRESHOLD', path: 'thresholds[0]', line: 1 });
  const inLine = (error?.column ?? 0) - text.indexOf(line);
  expect(Math.abs(inLine - column)).toBeLessThanOrEqual(3);
  expect(error?.message).not.toContain('(column');
});

test('a fault of the long form is told at its key', () => {
  const text = `squall: 1
name: x
targets: { b: { protocol: mqtt, urls: [mqtt://h] } }
groups: { one: { target: b, clients: 1, publish: { topic: t, payload: 40B, every: 1s } } }
stages: [{ name: s, run: { one: publish }, for: 1s }]
thresholds:
  - metric: published
    expect: rate >
`;
  expect(refused(text)[0]).toMatchObject({
    line: 8,
    path: expect.stringContaining('thresholds[0]'),
  });
});

test('publish_time has no meaning without acknowledgement or schedule', () => {
  const closed = { ...streamOf({ every: undefined, rate: 'max', qos: 1 }) };
  for (const [plan, hint] of [
    [streamOf({ qos: 0 }), 'delivery_time or wait_time'],
    [closed, 'service_time'],
  ] as const) {
    const [error] = refused({ ...plan, thresholds: ['publish_time: p(99) < 1s'] });
    expect(error).toMatchObject({
      code: 'SQ_THRESHOLD',
      hint: expect.stringContaining(hint),
    });
  }
});

test('ids are unique', () => {
  const entry = { id: 'a', metric: 'published', expect: 'rate > 5/s' };
  expect(refused(planOf({ thresholds: [entry, entry] }))[0]?.message).toBe('the id a stands twice');
});
