import { split } from '@squall/core/partition';
import { describe, expect, test } from 'vitest';
import { MAX_FILE_BYTES, materialFor, type Plan, readPlan } from '../../src/plan/index.ts';
import { TestFiles } from './files-fixture.ts';
import { accepted, complaints, planOf, refused, streamOf } from './plan-fixture.ts';

const CSV = 'serial,site\nA,north\nB,south\nC,"a, b"\n';

function withCsv(group: object, csv = CSV): Record<string, unknown> {
  return { plan: planOf({}, { from: 'd.csv', clients: 3, ...group }), csv };
}

const accept = ({ plan, csv }: Record<string, unknown>): Plan =>
  accepted(plan, { files: new TestFiles({ 'd.csv': String(csv) }) });
const complain = ({ plan, csv }: Record<string, unknown>) =>
  complaints(plan, { files: new TestFiles({ 'd.csv': String(csv) }) });

describe('clients from a CSV file', () => {
  test('have a row each, whose columns templates call by name', () => {
    const group = { clientId: '{{csv.serial}}', publish: publishTo('{{csv.site}}/{{csv.serial}}') };
    const plan = accept(withCsv(group));
    expect(plan.groups[0]?.from).toEqual({
      file: 'd.csv',
      columns: ['serial', 'site'],
      rows: 3,
    });
    expect(plan.files).toEqual({ 'd.csv': { bytes: CSV.length, sha256: 'hash of d.csv' } });
    expect(JSON.stringify(plan)).not.toContain('north');
  });

  test('are no more than the file has rows, after scaling', () => {
    // What the missing rows would have been says nothing about client ids.
    expect(complain(withCsv({ clients: 9, clientId: '{{csv.serial}}' }))).toEqual([
      'groups.devices.from: d.csv has 3 rows for 9 clients: each client has a row of its own',
    ]);
    const options = { files: new TestFiles({ 'd.csv': CSV }), scale: 0.5 };
    expect(accepted(planOf({}, { from: 'd.csv', clients: 6 }), options).groups[0]?.clients).toBe(3);
  });

  test('a column that is not there is told where it is used, with the nearest one', () => {
    const [problem] = refused(
      planOf({}, { from: 'd.csv', clients: 3, username: 'u-{{csv.seral}}' }),
      {
        files: new TestFiles({ 'd.csv': CSV }),
      },
    );
    expect(problem).toMatchObject({
      path: 'groups.devices.username',
      message: 'd.csv has no column "seral"',
      hint: 'did you mean {{csv.serial}}?',
    });
  });

  test('a column in a file of topics is told where that file is named', () => {
    const files = new TestFiles({ 'd.csv': CSV, 't.txt': 'a/{{csv.serial}}\nb/{{csv.sit}}\n' });
    const group = { from: 'd.csv', clients: 3, publish: publishTo({ file: 't.txt' }) };
    expect(complaints(planOf({}, group), { files })).toEqual([
      'groups.devices.publish.topic.file: d.csv has no column "sit"',
    ]);
  });

  test('without a file are told to name one', () => {
    expect(complaints(planOf({}, { clientId: '{{csv.serial}}' }))).toEqual([
      'groups.devices.clientId: the group devices has no CSV file with the column "serial"',
    ]);
  });

  test('what is wrong with the file is told at its name', () => {
    expect(complain(withCsv({}, 'a,a\n1,2\n'))).toEqual([
      'groups.devices.from: the column a stands twice in the header of the CSV file',
    ]);
    expect(complaints(planOf({}, { from: 'x.csv' }), { files: new TestFiles({}) })).toEqual([
      'groups.devices.from: x.csv is not there',
    ]);
  });

  test('with the same client id are found, however many there are', () => {
    const rows = Array.from({ length: 120_000 }, (_, k) => `d${k === 119_999 ? 5 : k}`);
    const csv = `id\n${rows.join('\n')}\n`;
    expect(complain(withCsv({ clients: 120_000, clientId: '{{csv.id}}' }, csv))).toEqual([
      'groups.devices.clientId: client 120000 and one before it have the same client id "d5"',
    ]);
  });
});

const target = (tls: object) => ({
  targets: { broker: { protocol: 'mqtt', urls: ['mqtts://h'], tls } },
});
const topicOf = (topic: unknown, files: Record<string, string> = {}) =>
  accepted(streamOf({ topic }), { files: new TestFiles(files) }).groups[0]?.publish[0]?.topic;
const faultOf = (topic: unknown, files: Record<string, string> = {}) =>
  complaints(streamOf({ topic }), { files: new TestFiles(files) });

function publishTo(topic: unknown) {
  return { topic, payload: '64B', every: '1s' };
}

describe('files of a plan', () => {
  test('are read once each, and known by size and hash', () => {
    const files = new TestFiles({ 'ca.pem': 'CA', 'a.bin': '12345' });
    const publish = [
      { name: 'a', ...publishTo('a'), payload: { file: 'a.bin' } },
      { name: 'b', ...publishTo('b'), payload: { file: 'a.bin' } },
    ];
    const plan = accepted(planOf(target({ ca: 'ca.pem' }), { publish }), { files });
    expect(files.names).toEqual(['ca.pem', 'a.bin']);
    expect(plan.files).toEqual({
      'a.bin': { bytes: 5, sha256: 'hash of a.bin' },
      'ca.pem': { bytes: 2, sha256: 'hash of ca.pem' },
    });
  });

  test('one a client are all there before anything starts', () => {
    const tls = { cert: 'c/{{n}}.pem', key: 'c/{{n}}.key' };
    const own = { 'c/1.pem': '1', 'c/1.key': '1', 'c/2.pem': '2' };
    expect(complaints(planOf(target(tls), { clients: 2 }), { files: new TestFiles(own) })).toEqual([
      'targets.broker.tls.key: c/2.key is not there',
    ]);
    const all = new TestFiles({ ...own, 'c/2.key': '2' });
    expect(accepted(planOf(target(tls), { clients: 2 }), { files: all }).files).toHaveProperty([
      'c/2.key',
    ]);
  });

  test('of a directory are its payloads, by name', () => {
    const files = new TestFiles({ 'd/b': 'B', 'd/a': 'A', 'e/c': 'C' });
    const plan = accepted(streamOf({ payload: { files: 'd/' } }), { files });
    expect(plan.groups[0]?.publish[0]?.payload).toEqual({ kind: 'files', files: ['d/a', 'd/b'] });
    expect(complaints(streamOf({ payload: { files: 'none/' } }), { files })).toEqual([
      'groups.devices.publish.payload.files: there are no files in none/',
    ]);
  });

  test('are bounded together', () => {
    const half = 'x'.repeat(MAX_FILE_BYTES / 2);
    const publish = ['a', 'b', 'c'].map((name) => ({
      name,
      ...publishTo(name),
      payload: { file: name },
    }));
    const files = new TestFiles({ a: half, b: half, c: 'x' });
    expect(complaints(planOf({}, { publish }), { files })).toEqual([
      'groups.devices.publish[2].payload.file: c is too large',
    ]);
  });

  test('are only named where nobody looks at them', () => {
    const read = readPlan(
      JSON.stringify(
        planOf({}, { from: 'd.csv', clientId: '{{csv.x}}', publish: publishTo({ file: 't.txt' }) }),
      ),
    );
    expect(read).toMatchObject({ ok: true, fileNames: ['d.csv', 't.txt'], files: {} });
  });

  test('cannot have names that are known in the run only', () => {
    expect(complaints(streamOf({ payload: { file: '{{run}}.bin' } }))).toEqual([
      'groups.devices.publish.payload.file: {{run}} cannot stand here: files are read before the run',
    ]);
    expect(complaints(streamOf({ payload: { file: '{{n}}.bin' } }))).toEqual([
      'groups.devices.publish.payload.file: the files of a payload are the same for all clients',
    ]);
  });
});

describe('topics of a stream', () => {
  test('may be several, with weights', () => {
    expect(topicOf(['a', { topic: 'b/{{n}}', weight: 3 }])).toEqual([
      { template: 'a', weight: 1 },
      { template: 'b/{{n}}', weight: 3 },
    ]);
    expect(topicOf(['a'])).toBe('a');
  });

  test('may stand in a file, one a line or as a table', () => {
    expect(topicOf({ file: 't' }, { t: '# all of them\r\na/{{n}}\n\n b \n' })).toEqual([
      { template: 'a/{{n}}', weight: 1 },
      { template: 'b', weight: 1 },
    ]);
    expect(topicOf({ file: 't' }, { t: 'topic,weight\na,2\n"b,c",1\n' })).toEqual([
      { template: 'a', weight: 2 },
      { template: 'b,c', weight: 1 },
    ]);
  });

  test.each([
    [{ file: 't' }, { t: '\n# nothing\n' }, 'there are no topics in the file'],
    [{ file: 't' }, { t: 'a\nb/#/c\n' }, 'the topic "b/#/c" of t: "#" is a wildcard'],
    [{ file: 't' }, { t: 'a\n{{nope}}\n' }, 'the topic "{{nope}}" of t: {{var}} cannot stand here'],
    [{ file: 't' }, { t: 'topic,weight\na,0\n' }, '"0" in row 1 is not a weight'],
    [{ file: 't' }, { t: 'weight,name\n1,a\n' }, 'the file of topics has no column "topic"'],
    [
      { file: 't' },
      { t: Array(10_001).fill('a').join('\n') },
      'there are 10001 topics in the file',
    ],
    [[{ topic: 'a', weight: 0 }], {}, '0 is out of range'],
    [
      Array.from({ length: 11 }, () => ({ topic: 'a', weight: 10_000 })),
      {},
      'the weights of the topics add up to',
    ],
  ])('%j is refused', (topic, files, message) => {
    expect(faultOf(topic, files)).toEqual([expect.stringContaining(message)]);
  });
});

describe('what travels to an agent', () => {
  const tls = { ca: 'ca.pem', cert: 'c/{{csv.serial}}', key: 'c/{{csv.serial}}' };
  const files = {
    'ca.pem': 'CA',
    'd.csv': CSV,
    'c/A': 'a',
    'c/B': 'b',
    'c/C': 'c',
    'p.bin': 'P',
    't.txt': 'x\ny\n',
  };
  const source = planOf(
    { targets: { broker: { protocol: 'mqtt', urls: ['mqtts://h'], tls } } },
    {
      from: 'd.csv',
      clients: 3,
      clientId: '{{csv.serial}}',
      connect: { will: { topic: 'w', payload: { file: 'p.bin' } } },
      publish: publishTo({ file: 't.txt' }),
    },
  );

  test('is what its own clients need, and nothing else', () => {
    const read = readPlan(JSON.stringify(source), { files: new TestFiles(files) });
    if (!read.ok) throw new Error(JSON.stringify(read.errors));
    expect(Object.keys(read.files)).toEqual(Object.keys(files).toSorted());
    const { plan, rows } = read;
    const shares = split(
      [3],
      [
        { agent: 'one', workers: 1 },
        { agent: 'two', workers: 2 },
      ],
    );
    const all = { files, rows };
    const got = shares.map((share) => materialFor(plan, all, share));
    expect(got).toEqual([
      {
        files: { 'ca.pem': 'CA', 'p.bin': 'P', 'c/A': 'a' },
        rows: { devices: { first: 0, rows: [['A', 'north']] } },
      },
      {
        files: { 'ca.pem': 'CA', 'p.bin': 'P', 'c/B': 'b', 'c/C': 'c' },
        rows: {
          devices: {
            first: 1,
            rows: [
              ['B', 'south'],
              ['C', 'a, b'],
            ],
          },
        },
      },
    ]);
  });
});
