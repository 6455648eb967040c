import { describe, expect, test } from 'vitest';
import { readPlan } from '../../src/plan/index.ts';
import { accepted, complaints, planOf, streamOf } from './plan-fixture.ts';

const streamWith = (payload: unknown, more: object = {}) =>
  accepted(streamOf({ payload, ...more })).groups[0]?.publish[0];

function templateOf(json: unknown): string | null {
  const payload = streamWith({ json })?.payload;
  return payload?.kind === 'json' ? payload.template : null;
}

/** A plan that ends when 1 MB was sent, by ten messages at most. */
const untilMegabyte = (payload: unknown) =>
  planOf(
    { stages: [{ name: 's', run: { devices: 'publish' }, until: 'devices.bytes_sent >= 1MB' }] },
    { publish: { topic: 't', payload, every: '1s', count: 10 } },
  );

describe('a payload as JSON', () => {
  test('is written in its shortest form, its texts as templates', () => {
    expect(templateOf({ a: 1, b: [true, null, 'x {{n}}'], c: { d: 'q"\n{{uuid}}' } })).toBe(
      String.raw`{"a":1,"b":[true,null,"x {{n}}"],"c":{"d":"q\"\n{{uuid}}"}}`,
    );
  });

  test('has a number where a text is nothing but one', () => {
    expect(templateOf(['{{n}}', '{{seq}}', '{{now}}', '{{random 1 9}}', '{{n % 3}}'])).toBe(
      '[{{n}},{{seq}},{{now}},{{random 1 9}},{{n % 3}}]',
    );
    expect(templateOf(['{{n:06}}', ' {{n}}', '{{uuid}}'])).toBe('["{{n:06}}"," {{n}}","{{uuid}}"]');
  });

  test('is checked as every template is', () => {
    expect(complaints(streamOf({ payload: { json: { a: ['{{nope'] } } }))).toEqual([
      'groups.devices.publish.payload.json.a[0]: "{{" is never closed',
    ]);
    expect(complaints(streamOf({ payload: { json: { '{{n}}': 1 } } }))).toEqual([
      'groups.devices.publish.payload.json.{{n}}: the name of a member is no template',
    ]);
  });

  test('takes the values of variables, whatever is in them', () => {
    const plan = planOf(
      { vars: { site: 'a "b"' } },
      { publish: { topic: 't', payload: { json: { s: '{{site}}' } }, every: '1s' } },
    );
    expect(accepted(plan).groups[0]?.publish[0]?.payload).toEqual({
      kind: 'json',
      template: String.raw`{"s":"a \"b\""}`,
    });
  });
});

describe('verification', () => {
  test('is on where a template has a place for the stamp', () => {
    expect(streamWith({ template: 'x {{stamp}}' })?.verify).toBe(true);
    expect(streamWith({ json: { s: '{{stamp}}' } })?.verify).toBe(true);
    expect(streamWith({ template: 'x {{n}}' })?.verify).toBe(false);
    expect(streamWith({ text: '{{stamp}}' })?.verify).toBe(false);
  });

  test.each([
    [{ template: 'x' }, 'on', 'verify: on has no place for its stamp in this template payload'],
    [{ text: 'x' }, 'on', 'verify: on has no place for its stamp in this text payload'],
    [{ template: '{{stamp}}' }, 'off', 'verify: off, but {{stamp}} is in the payload'],
    [{ template: '{{stamp}} {{stamp}}' }, undefined, '{{stamp}} stands twice'],
  ])('%j with verify %s is refused', (payload, verify, message) => {
    expect(complaints(streamOf({ payload, verify }))).toEqual([expect.stringContaining(message)]);
  });

  test('has no place in a will or an answer', () => {
    const payload = { template: '{{stamp}}' };
    const will = planOf({}, { connect: { will: { topic: 'w', payload } } });
    expect(complaints(will)).toEqual([
      'groups.devices.connect.will.payload: {{stamp}} has no meaning here: a will is not followed',
    ]);
    const broker = { protocol: 'mqtt', version: 5, urls: ['mqtt://h'] };
    const answers = planOf({ targets: { broker } }, { respond: { topic: 'r', payload } });
    expect(complaints(answers)).toEqual([
      'groups.devices.respond.payload: {{stamp}} has no meaning here: an answer is not followed',
    ]);
  });

  test('has no place outside of payloads', () => {
    expect(complaints(streamOf({ topic: 't/{{stamp}}' }))).toEqual([
      'groups.devices.publish.topic: {{stamp}} cannot stand here: a topic',
    ]);
  });
});

describe('a payload', () => {
  test('made up says what it is made of', () => {
    expect(streamWith('64B')?.payload).toMatchObject({ fill: 'repeat' });
    expect(streamWith({ size: '64B', fill: 'random' })?.payload).toMatchObject({ fill: 'random' });
    expect(complaints(streamOf({ payload: { text: 'x', fill: 'random' } }))).toEqual([
      'groups.devices.publish.payload.fill: fill says what made-up bytes are: it needs size',
    ]);
  });

  test('given as a text is sent as it is, and looks like a template at the reader’s own risk', () => {
    const read = readPlan(JSON.stringify(streamOf({ payload: { text: 'n={{n}}' } })));
    expect(read).toMatchObject({
      ok: true,
      warnings: [{ message: 'a text is sent as it is, with its {{…}}' }],
    });
  });

  test('whose size is open does not say that a condition can never hold', () => {
    expect(accepted(untilMegabyte({ template: '{{run}}' })).stages).toHaveLength(1);
    expect(complaints(untilMegabyte({ template: '{{n}}' }))).toEqual([
      expect.stringContaining('can never come true'),
    ]);
  });
});
