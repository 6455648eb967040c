import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readPlan, type RocketmqTarget } from '@squall/core/plan';
import { afterAll, describe, expect, it } from 'vitest';
import { TOOL_FLAGS } from '../../src/rocketmq/flag-table.ts';
import { TOOL_KINDS, type ToolKind } from '../../src/rocketmq/flags.ts';
import { parseToolWords } from '../../src/rocketmq/parse-flags.ts';
import { planOfWords } from '../../src/rocketmq/plan-of-words.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'squall-rocketmq-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

function plan(kind: ToolKind, line: string) {
  return planOfWords(parseToolWords(kind, line.split(' ').filter(Boolean)), '1h');
}

/** The normalised plan of what is printed: it must be one that `squall check` takes. */
function normal(kind: ToolKind, line: string) {
  const { text } = plan(kind, line);
  const read = readPlan(text);
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  const [group] = read.plan.groups;
  const [target] = Object.values(read.plan.targets);
  if (group === undefined || target?.protocol !== 'rocketmq')
    throw new Error('no group, no target');
  return { text, plan: read.plan, group, target: target satisfies RocketmqTarget };
}

describe('flags of RocketMQ’s tools', () => {
  it.each([
    ['-w 128', 128],
    ['-w=128', 128],
    ['-w128', 128],
    ['--threadCount 7', 7],
    ['--threadCount=7', 7],
    ['-w 1 -w 3', 3],
    ['', 64],
  ])('%s', (line, count) => {
    expect(normal('producer', line).group.clients).toBe(count);
  });

  it.each([
    [
      'producer',
      '--threadCout 5',
      /--threadCout is no flag of RocketMQ's Producer/,
      /--threadCount/,
    ],
    ['producer', '-w five', /-w five is no whole number/, /clients/],
    ['producer', '-k yes', /-k yes is neither true nor false/, /keys/],
    ['producer', '-k', /-k needs a value/, /keys/],
    ['producer', '-g group', /-g is not for Producer/, /rocketmq consumer/],
    ['producer', '-p 10', /-p is not possible here/, /never declares it/],
    ['producer', 'topic', /"topic" belongs to no flag/, /--help/],
    ['producer', '-w 0', /-w 0 is no load/, /senders/],
    ['producer', '-s 0', /-s 0 is no message/, /at least 1/],
    ['producer', '-d true -e 19', /-e 19 is no level/, /18/],
    ['producer', '-c true -ct LZ4', /-ct LZ4 is not possible/, /ZLIB/],
    ['consumer', '-c true', /-c is not possible here/, /never declares it/],
    ['consumer', '-r 1.5', /-r 1.5 is no share/, /consume.fail/],
    ['consumer', '-f REGEX -e a', /-f REGEX is no type/, /TAG or SQL92/],
    ['consumer', '-f TAG', /-f TAG without -e/, /file/],
    ['consumer', '-f TAG -e /nowhere', /cannot be read/, /ENOENT/],
    ['consumer', '-e a', /-e without -f/, /-f TAG/],
    ['batchproducer', '-q 5', /-q is not for BatchProducer/, /rocketmq producer/],
    ['batchproducer', '-p 40000', /-p 40000 is too much/, /30000/],
  ] as const)('%s %s is refused', (kind, line, message, hint) => {
    expect(() => plan(kind, line)).toThrow(
      expect.objectContaining({
        code: 'SQ_USAGE',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      }),
    );
  });

  it.each(TOOL_KINDS)(
    'each of %s has one meaning, but for one that its value tells apart',
    (kind) => {
      const shorts = TOOL_FLAGS.filter(({ of }) => of.includes(kind)).map(({ short }) => short);
      const twice = shorts.filter((short, k) => shorts.indexOf(short) !== k);
      expect(twice).toEqual(kind === 'batchproducer' ? ['c'] : []);
    },
  );

  it.each(TOOL_KINDS)('all of %s together are a plan that can be checked', (kind) => {
    const file = path.join(folder, 'tags.txt');
    writeFileSync(file, 'TagA || TagB\n');
    const values: Readonly<Record<string, string>> = {
      boolean: 'true',
      number: '5',
      share: '0.25',
      text: 'name',
    };
    const named: Readonly<Record<string, string>> = {
      namesrvAddr: '127.0.0.1:9876;[::1]:9876',
      filterType: 'TAG',
      expression: file,
      compressType: 'zlib',
    };
    const line = TOOL_FLAGS.filter(({ of, fate }) => of.includes(kind) && fate !== 'refused').map(
      ({ name, short, form }) => `-${short} ${named[name] ?? values[form]}`,
    );
    const { target } = normal(kind, line.join(' '));
    expect(target.nameServers).toEqual(['127.0.0.1:9876', '[::1]:9876']);
  });
});

describe('what they stand for', () => {
  it('the command lines of the published cold-read test', () => {
    const servers = '192.168.111.182:8100;192.168.111.14:8100';
    const producer = normal(
      'producer',
      `-n ${servers} -t topic-01 -s 1024 -w 128 -a true -ak k -sk s`,
    );
    expect(producer.target).toMatchObject({
      nameServers: servers.split(';'),
      acl: { accessKey: 'k', secretKey: '{{env.ROCKETMQ_SECRET_KEY}}' },
      create: null,
    });
    expect(producer.group).toMatchObject({
      clients: 128,
      publish: [{ topic: 'topic-01', payload: { bytes: 1024 }, inflight: 1, qos: 1 }],
    });
    const consumer = normal(
      'consumer',
      `-n ${servers} -t topic-01 -g group-01 -a true -ak k -sk s`,
    );
    expect(consumer.group).toMatchObject({
      clients: 1,
      subscribe: [{ consume: { topic: 'topic-01', group: 'group-01', tags: [], failShare: 0 } }],
    });
  });

  it('no secret is printed, in either spelling, and none stands in the plan', () => {
    for (const [kind, line] of [
      ['producer', '-a true -sk very-secret'],
      ['producer', '-a true --secretKey=very-secret'],
      ['batchproducer', '-a true -e very-secret'],
      ['consumer', '-a true -sk=very-secret'],
    ] as const) {
      const { text, secretKey } = plan(kind, line);
      expect(text).not.toContain('very-secret');
      expect(secretKey).toBe('very-secret');
    }
  });

  it('-c of the batch producer is a key in 4.9, and a switch in 5.x', () => {
    expect(normal('batchproducer', '-a true -c key -e secret').target.acl?.accessKey).toBe('key');
    const compressed = plan('batchproducer', '-a true -c true -ak other');
    expect(compressed.text).toContain('accessKey: other');
    expect(compressed.notes.join()).toContain('batches are not compressed');
  });

  it('a sender each, batches, delays, keys, tags, compression, transactions', () => {
    const all = normal('producer', '-k true -l 3 -d true -e 4 -c true -ch 1000 -s 2000 -q 500');
    const [stream] = all.group.publish;
    expect(stream?.rocketmq).toMatchObject({
      batch: 1,
      keys: '{{now}}',
      tags: 'tag{{random 0 2}}',
      delayLevel: 4,
      compressFromBytes: 1000,
    });
    expect(stream?.count).toBe(500);
    expect(all.plan.stages[0]?.forUs).toBeNull();
    const [batch] = normal('batchproducer', '-b 32 -p 8').group.publish;
    expect(batch?.rocketmq).toMatchObject({
      batch: 32,
      userProperties: [{ name: 'prop', value: 'xxxxxxxx' }],
    });
    const [half] = normal('tproducer', '-sr 0.05 -su 0.01 -i 100').group.publish;
    expect(half?.rocketmq?.transaction).toEqual({ rollback: 0.05, unknown: 0.01 });
    const [window] = normal('producer', '-y true -w 64').group.publish;
    expect(window?.inflight).toBe(1024);
    expect(normal('producer', '-y true -w 64').group.clients).toBe(1);
  });

  it('filters out of their file, failed messages, a group of its own for each run', () => {
    const file = path.join(folder, 'filter.txt');
    writeFileSync(file, 'TagA || TagB\n');
    const byTag = normal('consumer', `-f tag -e ${file} -r 0.1 -p true`);
    expect(byTag.group.subscribe[0]?.consume).toMatchObject({
      tags: ['TagA', 'TagB'],
      failShare: 0.1,
      group: 'benchmark_consumer_{{run}}',
    });
    writeFileSync(file, 'a > 3');
    const bySql = normal('consumer', `-f SQL92 -e ${file}`);
    expect(bySql.group.subscribe[0]?.consume?.sql).toBe('a > 3');
  });

  it('what means nothing is named with its reason, unless its value asks for nothing', () => {
    expect(plan('producer', '-t t -m true').notes).toEqual([
      expect.stringMatching(/^-m is passed over: no trace messages/),
    ]);
    expect(plan('producer', '-t t -m false').notes).toEqual([]);
    expect(plan('tproducer', '-t t -cr 0.0 -cu 0.5').notes).toEqual([
      expect.stringMatching(/^-cu is passed over/),
    ]);
    expect(plan('producer', '').notes).toEqual([expect.stringMatching(/1024 queues/)]);
  });
});
