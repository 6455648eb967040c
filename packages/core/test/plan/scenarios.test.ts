import { describe, expect, test } from 'vitest';
import { accepted } from './plan-fixture.ts';
import { COLD_READ, FAN_OUT, MYSQL, WEBHOOK } from './scenarios.ts';

/** The published scenarios as the language has them. */
describe('the published scenarios', () => {
  test('MQTT to MySQL', () => {
    const plan = accepted(MYSQL);
    expect(plan.vars['broker']).toBe('mqtt://127.0.0.1:1883');
    expect(plan.groups[0]).toMatchObject({
      clients: 100_000,
      clientId: 'device-{{n}}',
      connect: { ratePerS: 2_000, keepAliveS: 300, cleanStart: true },
      publish: [{ topic: 'devices/{{n}}/up', qos: 1, pace: { kind: 'every', everyUs: 2e6 } }],
    });
    expect(plan.stages).toMatchObject([
      { name: 'connect', forUs: null, until: null, deadlineUs: 110_000_000 },
      { name: 'publish', forUs: 3_600_000_000 },
    ]);
    expect(plan.thresholds).toHaveLength(3);
    expect(plan.probes).toMatchObject([
      { name: 'rows', source: { type: 'mysql' }, intervalUs: null },
      { name: 'host', source: { type: 'node' }, intervalUs: 5e6 },
    ]);
    expect(plan.balance).toEqual({
      equations: [
        {
          kind: 'equal',
          sides: [
            { kind: 'counter', text: 'devices.acked', subject: 'devices', metric: 'acked' },
            { kind: 'probe', text: 'rows', probe: 'rows', figure: 'value' },
          ],
        },
      ],
      maxUs: 60e6,
      duplicates: false,
    });
  });

  test('MQTT to a webhook', () => {
    const plan = accepted(WEBHOOK);
    expect(plan.balance?.equations[0]?.sides[1]).toMatchObject({
      probe: 'hook',
      figure: 'requests',
    });
  });

  test('RocketMQ cold read', () => {
    expect(accepted(COLD_READ).probes).toHaveLength(1);
  });

  test('MQTT fan-out', () => {
    const plan = accepted(FAN_OUT);
    expect(plan.targets['nodes']).toMatchObject({ spread: 'blocks', urls: { length: 5 } });
    expect(plan.thresholds.map(({ text }) => text)).toContain('lost: count == 0');
    expect(plan.groups.map(({ name, clients }) => [name, clients])).toEqual([
      ['subscribers', 250_000],
      ['publishers', 40],
    ]);
    expect(plan.stages[0]).toMatchObject({ deadlineUs: 310_000_000 });
  });
});
