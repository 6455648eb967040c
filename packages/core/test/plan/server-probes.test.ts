import { describe, expect, test } from 'vitest';
import { withProbeTexts } from '../../src/plan/index.ts';
import { redactPlan } from '../../src/report/redact.ts';
import { accepted, complaints, planOf, refused } from './plan-fixture.ts';

const withProbe = (probe: object, more: object = {}) => planOf({ probes: { p: probe }, ...more });

describe('probes of servers in a plan', () => {
  test.each([
    [
      { type: 'emqx', url: 'http://key:{{env.SECRET}}@h:18083', rule: 'db', sink: ['mysql:db'] },
      {
        type: 'emqx',
        url: 'http://key:{{env.SECRET}}@h:18083',
        rules: ['db'],
        sinks: ['mysql:db'],
      },
    ],
    [
      { type: 'mosquitto', url: 'mqtts://u:{{env.SECRET}}@h' },
      { type: 'mosquitto', url: 'mqtts://u:{{env.SECRET}}@h' },
    ],
    [
      { type: 'rabbitmq', url: 'http://guest:guest@h:15672' },
      { type: 'rabbitmq', url: 'http://guest:guest@h:15672' },
    ],
    [
      {
        type: 'rocketmq',
        nameServers: ['h:9876'],
        acl: { accessKey: 'me', secretKey: '{{env.SECRET}}' },
        tls: { servername: 'mq' },
        topic: ['t'],
        group: 'g',
      },
      {
        type: 'rocketmq',
        nameServers: ['h:9876'],
        acl: { accessKey: 'me', secretKey: '{{env.SECRET}}' },
        tls: { verify: true, servername: 'mq' },
        topics: ['t'],
        groups: ['g'],
      },
    ],
    [
      { type: 'prometheus', url: 'http://h/metrics', preset: 'redis', series: { up: 'up' } },
      {
        type: 'prometheus',
        url: 'http://h/metrics',
        preset: 'redis',
        series: { up: 'up' },
        counters: [],
        headers: {},
      },
    ],
  ])('%j', (probe, source) => {
    const env = { SECRET: 'hunter2' };
    expect(accepted(withProbe(probe), { env }).probes[0]).toMatchObject({ name: 'p', source });
  });

  test.each([
    [{ type: 'emqx' }, 'probes.p: a probe of type emqx needs url'],
    [
      { type: 'emqx', url: 'mqtt://h' },
      'probes.p.url: this is no address for a probe of type emqx',
    ],
    [{ type: 'rocketmq' }, 'probes.p: a probe of type rocketmq needs nameServers'],
    [
      { type: 'mosquitto', url: 'mqtt://h', topic: 'a' },
      'probes.p.topic: a probe of type mosquitto has no topic',
    ],
    [
      { type: 'prometheus', url: 'http://h' },
      'probes.p: a probe of type prometheus needs series or preset',
    ],
    [
      { type: 'prometheus', url: 'http://h', preset: 'node', series: { a: 'a' } },
      'probes.p.series: the preset node has no series beside it',
    ],
    [
      { type: 'prometheus', url: 'http://h', series: { a: 'sum(a)' } },
      'probes.p.series.a: "sum(a)" is no selector',
    ],
    [
      { type: 'prometheus', url: 'http://h', series: { a: 'a' }, counters: ['b'] },
      'probes.p.counters: series has no b',
    ],
    [
      {
        type: 'rocketmq',
        nameServers: ['h:1'],
        acl: { accessKey: 'k', secretKey: '{{now}}' },
      },
      'probes.p.acl.secretKey: only {{env.NAME}} can stand in the account of a probe',
    ],
  ])('%j is refused', (probe, complaint) => {
    expect(complaints(withProbe(probe))).toEqual([complaint]);
  });

  test('a series counts up by its name, by `counters`, or is a pace by rate(…)', () => {
    const series = { a: 'a_total', b: 'b', c: 'rate(c_total)', d: 'd' };
    const probe = { type: 'prometheus', url: 'http://h', series, counters: ['b'] };
    const thresholds = ['p.a: delta > 5', 'p.b: rate > 5/s', 'p.c: max < 5', 'p.d: p(99) < 1'];
    expect(accepted(withProbe(probe, { thresholds })).thresholds).toHaveLength(4);
    const wrong = withProbe(probe, { thresholds: ['p.c: rate > 5/s'] });
    expect(refused(wrong)[0]?.message).toBe('rate does not fit p.c, which is a gauge');
  });

  test('figures with a dot of their own stand in thresholds and balances', () => {
    const probe = { type: 'emqx', url: 'http://h:18083' };
    const plan = accepted(
      withProbe(probe, {
        thresholds: ['p.rule.failed: delta == 0', 'p.memory_used: max < 8GB'],
        balance: { equal: ['devices.acked', 'p.rule.hits', 'p.sink.success'] },
      }),
    );
    expect(plan.balance?.equations[0]?.sides[1]).toMatchObject({ figure: 'rule.hits' });
    const typo = withProbe(probe, { thresholds: ['p.rule.hit: delta == 0'] });
    expect(refused(typo)[0]).toMatchObject({ hint: 'did you mean p.rule.hits?' });
  });

  test('offsets of topics and groups are figures where they are named', () => {
    const probe = { type: 'rocketmq', nameServers: ['h:9876'], topic: 't' };
    const balance = { equal: ['devices.acked', 'p.stored'] };
    expect(accepted(withProbe(probe, { balance })).balance).not.toBeNull();
    const lag = withProbe(probe, { thresholds: ['p.lag: max < 5'] });
    expect(refused(lag)[0]?.message).toBe('the probe p has no figure "lag"');
  });

  test('no report has a key or a password', () => {
    const acl = { accessKey: 'me', secretKey: 'hunter2' };
    const plan = accepted(
      planOf({
        probes: {
          brokers: { type: 'rocketmq', nameServers: ['h:9876'], acl },
          api: { type: 'emqx', url: 'http://key:hunter2@h:18083' },
          page: {
            type: 'prometheus',
            url: 'http://h',
            preset: 'redis',
            headers: { authorization: 'Bearer hunter2' },
          },
        },
      }),
    );
    expect(JSON.stringify(redactPlan(plan)['probes'])).not.toContain('hunter2');
  });

  test('each text that may hold a secret goes through its edit', () => {
    const [probe] = accepted(withProbe({ type: 'emqx', url: 'http://a:b@h', rule: 'x' })).probes;
    if (probe === undefined) throw new Error('no probe');
    const edits = { address: (text: string) => text.toUpperCase(), secret: () => 'x' };
    expect(withProbeTexts(probe.source, edits)).toMatchObject({
      url: 'HTTP://A:B@H',
      rules: ['x'],
    });
  });
});
