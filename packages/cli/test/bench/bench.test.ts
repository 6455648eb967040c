import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readPlan } from '@squall/core/plan';
import { afterAll, describe, expect, it } from 'vitest';
import { BENCH_FLAGS, BENCH_KINDS, type BenchKind } from '../../src/bench/flags.ts';
import { parseFlags } from '../../src/bench/parse-flags.ts';
import { planOfFlags } from '../../src/bench/plan-of-flags.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'squall-bench-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

function plan(kind: BenchKind, line: string, length = '1h') {
  return planOfFlags(parseFlags(kind, line.split(' ').filter(Boolean)), length);
}

/** The normalised plan of what is printed: it must be one that `squall check` takes. */
function normal(kind: BenchKind, line: string) {
  const read = readPlan(plan(kind, line).text);
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  const [group] = read.plan.groups;
  const [target] = Object.values(read.plan.targets);
  if (group === undefined || target === undefined) throw new Error('no group, no target');
  return { plan: read.plan, group, target };
}

describe('flags of emqtt_bench', () => {
  it.each([
    ['-c 50000 -i 5', 50_000],
    ['-c50000', 50_000],
    ['--count 7', 7],
    ['--count=7', 7],
    ['-c 1 -c 3', 3],
    ['-l -c 4', 4],
    ['-l true -c 5', 5],
  ])('%s', (line, count) => {
    expect(parseFlags('conn', line.split(' ')).number('count')).toBe(count);
  });

  it.each([
    ['-S', true],
    ['-S true', true],
    ['--ssl=true', true],
    ['--ssl on', true],
    ['-S false', false],
    ['-Sfalse', false],
    ['', false],
  ])('a switch: %s', (line, on) => {
    expect(parseFlags('pub', line.split(' ').filter(Boolean)).on('ssl')).toBe(on);
  });

  it.each([
    ['conn', '--cont 5', /--cont is no flag of emqtt_bench/, /did you mean --count/],
    ['conn', '-c five', /-c five is no whole number/, /clients/],
    ['conn', '-t a', /-t is not for bench conn/, /bench pub, bench sub/],
    ['pub', '-t a --wait-before-publishing maybe', /"maybe" belongs to no flag/, /--help/],
    ['pub', '-t a -c', /-c needs a value/, /clients/],
    ['pub', '', /no topic is given/, /bench pub -t test/],
    ['sub', '', /no topic is given/, /bench sub -t test/],
    ['pub', '-t a -V 6', /-V 6 is no version of MQTT/, /3\.1\.1/],
    ['conn', '--quic true', /--quic is not possible here/, /does not speak QUIC/],
    ['conn', '--ssl-version tlsv1.1', /tlsv1\.1 is not possible/, /tlsv1\.2/],
    ['conn', '-i 0', /-i 0 is no pace/, /-R/],
  ] as const)('%s %s is refused', (kind, line, message, hint) => {
    expect(() => plan(kind, line)).toThrow(
      expect.objectContaining({
        code: 'SQ_USAGE',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      }),
    );
  });

  it('each has one meaning, and a form', () => {
    const names = BENCH_FLAGS.flatMap(({ long, short = long }) => [long, short]);
    expect(new Set(names).size).toBe(new Set(names.filter(Boolean)).size);
    for (const kind of BENCH_KINDS) {
      const shorts = BENCH_FLAGS.filter(({ only }) => only?.includes(kind) !== false).flatMap(
        ({ short }) => (short === undefined ? [] : [short]),
      );
      expect(new Set(shorts).size).toBe(shorts.length);
    }
  });
});

describe('the plan that a command line stands for', () => {
  it('of the subscribers of the fan-out test', () => {
    const line = '-h 192.0.2.7 -p 1883 -c 50000 -i 5 -t test/%i -q 1 -V 4';
    const { group, target, plan: whole } = normal('sub', line);
    expect(group).toMatchObject({
      clients: 50_000,
      connect: { ratePerS: 200, keepAliveS: 300, cleanStart: true, retries: 0 },
      subscribe: [{ topics: ['test/{{n}}'], qos: 1 }],
    });
    expect(target).toMatchObject({ urls: [{ host: '192.0.2.7', port: 1883 }], version: '3.1.1' });
    expect(whole.stages.map(({ name, forUs }) => [name, forUs])).toEqual([
      ['subscribe', null],
      ['receive', 3_600_000_000],
    ]);
  });

  it('of the publishers of the fan-out test', () => {
    const { group } = normal('pub', '-h localhost -c 40 -i 10 -I 10 -t test/%i -q 1 -V 4');
    expect(group).toMatchObject({
      clients: 40,
      connect: { ratePerS: 100 },
      publish: [
        {
          topic: 'test/{{n}}',
          qos: 1,
          payload: { kind: 'size', bytes: 256 },
          pace: { kind: 'every', everyUs: 10_000 },
          inflight: 1,
          verify: true,
        },
      ],
    });
  });

  it('of messages too small for the stamp: they are sent, and not verified', () => {
    const { group } = normal('pub', '-t bench -s 20');
    expect(group).toMatchObject({
      publish: [{ payload: { kind: 'size', bytes: 20 }, verify: false }],
    });
  });

  it('takes every default of emqtt_bench', () => {
    const { group } = normal('pub', '-t bench -V 4');
    expect(group).toMatchObject({
      clients: 200,
      connect: { ratePerS: 100, keepAliveS: 300 },
      publish: [{ topic: 'bench', qos: 0, retain: false, pace: { everyUs: 1_000_000 } }],
    });
    expect(plan('pub', '-t bench').text).toContain('version: "5"');
  });

  it('connects by a rate, or over the time that an interval makes', () => {
    expect(normal('conn', '-V 4 -R 5000').group.connect.ratePerS).toBe(5_000);
    const odd = normal('conn', '-V 4 -i 3 -c 1000').group.connect.ratePerS;
    expect(odd).toBeCloseTo(1_000 / 3, 9);
  });

  it('names clients as emqtt_bench does', () => {
    expect(id('')).toBe('{{run}}_bench_conn_{{n}}');
    expect(id('--prefix p')).toBe('p_bench_conn_{{n}}');
    expect(id('--prefix p --shortids')).toBe('p{{n}}');
    expect(id('--shortids -n 100')).toBe('{{n + 100}}');
  });

  it('fills in topics and credentials where a level is one of its marks', () => {
    const { group } = normal('pub', '-V 4 -t a/%i/%c/%u/%s/%rand_9/x%i --prefix p -u %i -P s');
    expect(group.username).toBe('{{n}}');
    expect(group.publish[0]?.topic).toBe(
      'a/{{n}}/p_bench_pub_{{n}}/{{n}}/{{seq}}/{{random 1 9}}/x%i',
    );
    expect(normal('sub', '-V 4 -t %s/%i -t b').group.subscribe[0]?.topics).toEqual([
      '%s/{{n}}',
      'b',
    ]);
  });

  it('ends by a limit, exactly, and may stay connected', () => {
    const limited = normal('pub', '-V 4 -t a -q 1 -L 1000 -F 0 --retry-interval 3');
    expect(limited.group.publish[0]).toMatchObject({
      count: 1_000,
      inflight: 65_535,
      ackTimeoutUs: 3_000_000,
    });
    expect(limited.plan.stages.map(({ name, forUs }) => [name, forUs])).toEqual([
      ['connect', null],
      ['publish', null],
    ]);
    const stays = normal('pub', '-V 4 -t a -L 1000 --keep-connected');
    expect(stays.plan.stages.map(({ name }) => name)).toEqual(['connect', 'publish', 'hold']);
  });

  it('writes down what other brokers, transports and versions want', () => {
    const line =
      '-h a,b -p 8883 -t t -S --ws --cacertfile ca.pem --certfile c.pem --keyfile k.pem ' +
      '--ssl-version tlsv1.3 --ifaddr 127.0.0.2,127.0.0.3 -x 60 -C false -r -q 2 -w --max-random-wait 9';
    const { text } = plan('pub', line);
    expect(text).toContain('urls: ["wss://a:8883/mqtt", "wss://b:8883/mqtt"]');
    expect(text).toContain('spread: round-robin');
    expect(text).toContain(`ca: ${JSON.stringify(path.resolve('ca.pem'))}`);
    expect(text).toContain('minVersion: "TLSv1.3"');
    expect(text).not.toContain('verify: false');
    expect(text).toContain('sourceAddresses: ["127.0.0.2", "127.0.0.3"]');
    expect(text).toContain('sessionExpiry: 60s');
    expect(text).toContain('cleanStart: false');
    expect(text).toContain('qos: 2');
    expect(text).toContain('retain: true');
    expect(plan('conn', '-S').text).toContain('verify: false');
    const { group, target } = normal('pub', line);
    expect(target).toMatchObject({ version: '5', tls: { minVersion: 'TLSv1.3', verify: true } });
    const second = { scheme: 'wss', host: 'b', port: 8883, path: '/mqtt' };
    expect(target).toMatchObject({ urls: { 1: second } });
    expect(group).toMatchObject({
      sourceAddresses: ['127.0.0.2', '127.0.0.3'],
      connect: { cleanStart: false, sessionExpiryS: 60 },
      publish: [{ qos: 2, retain: true, phase: 'random' }],
    });
  });

  it('names what means nothing here, with the reason, in notes and in the plan', () => {
    const { notes, text } = plan(
      'pub',
      '-t a -l --prometheus --restapi 9090 --payload-hdrs cnt64,ts -x 9 -V 4',
    );
    expect(notes.map((note) => note.split(' ')[0])).toEqual([
      '--lowmem',
      '--prometheus',
      '--restapi',
      '--payload-hdrs',
      '--session-expiry',
    ]);
    for (const note of notes) expect(text).toContain(`# ${note}`);
    expect(plan('pub', '-t a -l false --qoe false').notes).toEqual([]);
  });

  it('takes payloads from text and from a template file, every mark each time', () => {
    const file = path.join(folder, 'payload');
    writeFileSync(
      file,
      '{"t":%TIMESTAMP%,"us":%TIMESTAMPUS%,"id":"%UNIQUE%%UNIQUE%","r":"%RANDOM%"}',
    );
    expect(plan('pub', '-t a -m hello').text).toContain('payload: { text: hello }');
    const { text } = plan('pub', `-t a -s 11 -m template://${file}`);
    expect(normal('pub', `-t a -m template://${file}`).group.publish[0]?.payload.kind).toBe(
      'template',
    );
    expect(text).toContain(
      JSON.stringify(
        '{"t":{{now}},"us":{{now}}000,"id":"{{uuid}}{{uuid}}","r":"{{random 100000000 999999999}}{{random 10 99}}"}',
      ),
    );
  });

  it('takes topics and payloads from a file', () => {
    const file = path.join(folder, 'topics.json');
    const payload = { a: { b: 1 }, Data: '%p1', who: 'x' };
    writeFileSync(
      file,
      JSON.stringify({
        topics: [
          {
            name: 'one/%i',
            interval_ms: '100',
            inject_timestamp: 'us',
            QoS: 1,
            payload,
            render: 'Data',
          },
          {
            name: 'two',
            interval_ms: '250',
            inject_timestamp: false,
            QoS: 0,
            retain: true,
            payload: { c: null },
          },
        ],
      }),
    );
    const { text } = plan('pub', `--topics-payload ${file} -V 4`);
    expect(normal('pub', `--topics-payload ${file}`).group.publish).toHaveLength(2);
    expect(text).toContain('topic: "one/{{n}}", qos: 1, every: 100ms, inflight: 1');
    expect(text).toContain('\\"timestamp\\":{{now}}000}');
    expect(text).toContain('x'.repeat(4_096));
    expect(text).toContain('topic: two, qos: 0, retain: true, every: 250ms');
    expect(text).toContain('{\\"c\\":null}');
  });
});

function id(line: string): string {
  return normal('conn', `-V 4 ${line}`).group.clientId;
}
