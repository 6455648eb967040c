import { describe, expect, test } from 'vitest';
import { accepted, complaints } from './plan-fixture.ts';
import { COLD_READ, FAN_OUT, MYSQL, WEBHOOK } from './scenarios.ts';

/** The published scenarios are read as language: only what is not built yet is refused, by name. */
describe('the published scenarios', () => {
  test('MQTT to MySQL', () => {
    expect(complaints(MYSQL)).toEqual([
      'probes: probes are not supported by this version',
      'balance: balance is not supported by this version',
    ]);
    const plan = accepted(
      MYSQL.replace(/^probes:[\s\S]*?(?=^thresholds)/m, '').replace(/^balance:[\s\S]*/m, ''),
    );
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
  });

  test('MQTT to a webhook', () => {
    expect(complaints(WEBHOOK)).toEqual([
      'probes: probes are not supported by this version',
      'balance: balance is not supported by this version',
    ]);
    accepted(WEBHOOK.replace(/^probes:[\s\S]*/m, ''));
  });

  test('RocketMQ cold read', () => {
    expect(complaints(COLD_READ)).toEqual(['probes: probes are not supported by this version']);
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
