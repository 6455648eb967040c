import { describe, expect, test } from 'vitest';
import { accepted, complaints, planOf, refused } from './plan-fixture.ts';

const VARS = planOf(
  { vars: { site: 'berlin', every: '2s', count: 10 } },
  {
    clients: '{{count}}',
    publish: { topic: '{{site}}/{{ n }}/up', payload: '40B', every: '{{every}}' },
  },
);

const planWithId = (value: string) =>
  planOf({ vars: { id: value, other: 'o' }, labels: { o: '{{other}}' } }, { clientId: '{{id}}' });

describe('variables', () => {
  test('stand wherever their name does, whatever their type', () => {
    const plan = accepted(VARS);
    expect(plan.vars).toEqual({ site: 'berlin', every: '2s', count: '10' });
    expect(plan.groups[0]).toMatchObject({
      clients: 10,
      publish: [{ topic: 'berlin/{{ n }}/up', pace: { everyUs: 2e6 } }],
    });
  });

  test('are overridden from outside', () => {
    const plan = accepted(VARS, { vars: { site: 'oslo', count: '2k' } });
    expect(plan.vars).toMatchObject({ site: 'oslo', count: '2k' });
    expect(plan.groups[0]).toMatchObject({
      clients: 2_000,
      publish: [{ topic: 'oslo/{{ n }}/up' }],
    });
  });

  test('that the plan does not have cannot be set', () => {
    const [error] = refused(VARS, { vars: { sit: 'x' } });
    expect(error).toMatchObject({
      message: 'the plan has no variable "sit" to set',
      hint: 'did you mean site?',
    });
    expect(complaints(planOf(), { vars: { toString: 'x' } })).toHaveLength(1);
  });

  test('may hold templates, but no other variables', () => {
    expect(accepted(planWithId('d-{{n}}')).groups[0]?.clientId).toBe('d-{{n}}');
    expect(complaints(planWithId('{{other}}-{{n}}'))).toContain(
      'vars.id: a variable cannot use another variable',
    );
    expect(complaints(planWithId('{{nope}}-{{n}}'))).toEqual([
      'groups.devices.clientId: there is no variable "nope"',
    ]);
  });

  test.each(['n', 'run', 'env', 'random'])('cannot be called %s', (name) => {
    expect(complaints(planOf({ vars: { [name]: 'x' } }))).toEqual([
      `vars.${name}: {{${name}}} is built in: a variable cannot have this name`,
    ]);
  });

  test.each([[null], [[1]], [{ a: 1 }]])('cannot be %j', (value) => {
    expect(complaints(planOf({ vars: { x: value } }))).toEqual([
      expect.stringContaining('vars.x: '),
    ]);
  });

  test('that are not declared are an error wherever they stand', () => {
    const plan = planOf({
      description: '{{nope}}',
      labels: { a: '{{nope}}' },
      thresholds: ['published: rate > {{nope}}/s'],
    });
    const unknown = complaints(plan).filter((text) => text.includes('no variable "nope"'));
    expect(unknown).toHaveLength(3);
  });

  test('work in thresholds and conditions', () => {
    const plan = accepted(
      planOf({
        vars: { limit: '500ms', enough: '10k' },
        thresholds: ['publish_time: p(99) < {{limit}}'],
        stages: [
          { name: 'load', run: { devices: 'publish' }, until: 'devices.sent >= {{enough}}' },
        ],
      }),
    );
    expect(plan.thresholds[0]?.text).toBe('publish_time: p(99) < 500ms');
    expect(plan.stages[0]?.until?.value).toBe(10_000);
  });
});
