import { readFileSync } from 'node:fs';
import path from 'node:path';
import { STAMP_BYTES } from '@squall/core/stamp';
import type { BenchFlag } from './flags.ts';
import { usage } from '../usage-error.ts';
import type { GivenFlags } from './parse-flags.ts';
import { type PlanEntry, planText, type PlanValue } from './plan-text.ts';
import { clientId, credential, payloadTemplate, topic } from './templates-of.ts';
import { streamsOf } from './topics-payload.ts';

/** emqtt_bench goes on until it is ended; a plan has an end. */
export const DEFAULT_LENGTH = '24h';
/** In place of no limit: as many as MQTT has packet ids for. */
const MAX_INFLIGHT = 65_535;

export interface BenchPlan {
  /** YAML that `squall check` takes. */
  readonly text: string;
  /** What stood on the line and has no meaning here, each with its reason. */
  readonly notes: readonly string[];
}

/**
 * The plan that a command line of emqtt_bench stands for.
 * @param length of the load, `10m`, as in a plan's `for`.
 * @throws SquallError SQ_USAGE for what cannot be had here.
 */
export function planOfFlags(flags: GivenFlags, length: string): BenchPlan {
  refuse(flags);
  const notes = [...flags.fated('note').map(noteOf), ...versionNotes(flags)];
  const group = { conn: 'clients', pub: 'publishers', sub: 'subscribers' }[flags.kind];
  const entries: PlanEntry[] = [
    { key: 'squall', value: 1 },
    { key: 'name', value: `bench-${flags.kind}` },
    { key: 'targets', value: [{ key: 'broker', value: targetOf(flags) }] },
    { key: 'groups', value: [{ key: group, value: groupOf(flags) }] },
    { key: 'stages', value: stagesOf(flags, group, length) },
    {
      key: 'thresholds',
      value: thresholdsOf(flags),
      why: 'emqtt_bench has no verdict; a plan has',
    },
  ];
  return { text: planText(headOf(flags, notes), entries), notes };
}

function refuse(flags: GivenFlags): void {
  const [refused] = flags.fated('refused');
  if (refused !== undefined) throw usage(`--${refused.long} is not possible here`, refused.here);
  const version = flags.text('ssl-version');
  if (flags.has('ssl-version') && !/^tlsv1\.[23](_nocompat)?$/.test(version)) {
    throw usage(
      `--ssl-version ${version} is not possible here`,
      'Node.js speaks tlsv1.2 and tlsv1.3',
    );
  }
  const wanted = flags.kind !== 'conn' && !flags.has('topic') && !flags.has('topics-payload');
  if (wanted) throw usage('no topic is given', `give one: squall bench ${flags.kind} -t test/%i`);
  if (flags.number('count') === 0) throw usage('-c 0 is no load', 'give the number of clients');
}

function noteOf({ long, here }: BenchFlag): string {
  return `--${long} is passed over: ${here}`;
}

function versionNotes(flags: GivenFlags): string[] {
  if (flags.number('session-expiry') === 0 || versionOf(flags) === '5') return [];
  return ['--session-expiry is passed over: sessions have an expiry in MQTT 5 only'];
}

function headOf(flags: GivenFlags, notes: readonly string[]): string[] {
  const words = flags.words.map((word) => (/^[\w./:%,=+#$-]+$/.test(word) ? word : `'${word}'`));
  return [
    `squall bench ${[flags.kind, ...words].join(' ')}`,
    '',
    'The plan that this command stands for. Save it, change it, and run it with: squall run FILE',
    ...notes,
    '',
  ];
}

function targetOf(flags: GivenFlags): PlanEntry[] {
  const secured = flags.on('ssl') || flags.has('ssl-version');
  const scheme = flags.on('ws') ? (secured ? 'wss' : 'ws') : secured ? 'mqtts' : 'mqtt';
  const port = flags.number('port');
  const end = flags.on('ws') ? '/mqtt' : '';
  const urls = flags
    .text('host')
    .split(',')
    .map((host) => `${scheme}://${bracketed(host.trim())}:${port}${end}`);
  return [
    { key: 'protocol', value: 'mqtt' },
    { key: 'urls', value: urls, why: why(flags, ['host', 'port', 'ssl', 'ws']) },
    ...(urls.length > 1
      ? [{ key: 'spread', value: 'round-robin', why: 'one after the other, as --host a,b does' }]
      : []),
    { key: 'version', value: versionOf(flags), why: why(flags, ['version']) },
    ...(secured ? [{ key: 'tls', value: tlsOf(flags) }] : []),
  ];
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function versionOf(flags: GivenFlags): string {
  const versions: Readonly<Record<string, string>> = { '3': '3.1', '4': '3.1.1', '5': '5' };
  const version = versions[flags.text('version')];
  if (version !== undefined) return version;
  throw usage(`-V ${flags.text('version')} is no version of MQTT`, '3 is 3.1, 4 is 3.1.1, 5 is 5');
}

function tlsOf(flags: GivenFlags): PlanEntry[] {
  const file = (key: string, long: string): PlanEntry[] =>
    flags.has(long) ? [{ key, value: path.resolve(flags.text(long)), why: `--${long}` }] : [];
  const minimum: Readonly<Record<string, string>> = { '1.2': 'TLSv1.2', '1.3': 'TLSv1.3' };
  const least = minimum[/1\.\d/.exec(flags.text('ssl-version'))?.[0] ?? ''];
  return [
    ...file('ca', 'cacertfile'),
    ...file('cert', 'certfile'),
    ...file('key', 'keyfile'),
    ...(flags.has('cacertfile')
      ? []
      : [{ key: 'verify', value: false, why: 'emqtt_bench verifies nobody; give --cacertfile' }]),
    ...(least === undefined ? [] : [{ key: 'minVersion', value: least, why: '--ssl-version' }]),
  ];
}

function groupOf(flags: GivenFlags): PlanEntry[] {
  const text = (key: string, value: string, long: string): PlanEntry[] =>
    flags.has(long) ? [{ key, value, why: why(flags, [long]) }] : [];
  const sources = flags.text('ifaddr').split(',');
  return [
    { key: 'target', value: 'broker' },
    { key: 'clients', value: flags.number('count'), why: why(flags, ['count']) },
    { key: 'clientId', value: clientId(flags), why: idWhy(flags) },
    ...text('username', credential(flags, flags.text('username')), 'username'),
    ...text('password', credential(flags, flags.text('password')), 'password'),
    ...(flags.has('ifaddr')
      ? [{ key: 'sourceAddresses', value: sources.map((one) => one.trim()), why: '--ifaddr' }]
      : []),
    { key: 'connect', value: connectOf(flags) },
    ...(flags.kind === 'pub' ? [publishOf(flags)] : []),
    ...(flags.kind === 'sub' ? [{ key: 'subscribe', value: subscribeOf(flags) }] : []),
  ];
}

function idWhy(flags: GivenFlags): string | undefined {
  return why(flags, ['prefix', 'shortids', 'startnumber']) ?? 'its own in every run';
}

function connectOf(flags: GivenFlags): PlanEntry[] {
  const clean = flags.on('clean');
  const expiry = flags.number('session-expiry');
  return [
    paceOfConnects(flags),
    { key: 'keepAlive', value: `${flags.number('keepalive')}s`, why: why(flags, ['keepalive']) },
    {
      key: 'retries',
      value: flags.number('num-retry-connect'),
      why: why(flags, ['num-retry-connect']) ?? 'as emqtt_bench: one attempt',
    },
    ...(clean ? [] : [{ key: 'cleanStart', value: false, why: why(flags, ['clean']) }]),
    ...(expiry === 0 || versionOf(flags) !== '5'
      ? []
      : [{ key: 'sessionExpiry', value: `${expiry}s`, why: why(flags, ['session-expiry']) }]),
  ];
}

/** A whole number a second as a rate; else the time of all, which is exact for every interval. */
function paceOfConnects(flags: GivenFlags): PlanEntry {
  const rate = flags.number('connrate');
  if (rate > 0) return { key: 'rate', value: `${rate}/s`, why: why(flags, ['connrate']) };
  const intervalMs = flags.number('interval');
  if (intervalMs === 0) throw usage('-i 0 is no pace', 'give connects a second: -R 5000');
  const reason = why(flags, ['interval']);
  if (1_000 % intervalMs === 0) {
    return { key: 'rate', value: `${1_000 / intervalMs}/s`, why: reason };
  }
  return { key: 'over', value: `${intervalMs * flags.number('count')}ms`, why: reason };
}

function subscribeOf(flags: GivenFlags): PlanEntry[] {
  const topics = flags.all('topic').map((text) => topic(flags, text));
  const [first = ''] = topics;
  return [
    { key: 'topic', value: topics.length === 1 ? first : topics, why: why(flags, ['topic']) },
    { key: 'qos', value: flags.number('qos'), why: why(flags, ['qos']) },
  ];
}

function publishOf(flags: GivenFlags): PlanEntry {
  const qos = flags.number('qos');
  const inflight = flags.number('inflight') === 0 ? MAX_INFLIGHT : flags.number('inflight');
  if (flags.has('topics-payload')) {
    const text = readText('--topics-payload', flags.text('topics-payload'));
    const value = streamsOf(flags, text, { inflight });
    return { key: 'publish', value, why: '--topics-payload' };
  }
  const limit = flags.number('limit');
  const randomly = flags.has('max-random-wait') || flags.has('min-random-wait');
  const ackS = flags.number('retry-interval');
  const intervalMs = flags.number('interval_of_msg');
  if (intervalMs === 0)
    throw usage('-I 0 is no pace', 'a plan has rate: max for that; see squall run');
  const entries: PlanEntry[] = [
    { key: 'topic', value: topic(flags, flags.text('topic')), why: why(flags, ['topic']) },
    { key: 'qos', value: qos, why: why(flags, ['qos']) },
    ...(flags.on('retain') ? [{ key: 'retain', value: true, why: why(flags, ['retain']) }] : []),
    payloadOf(flags),
    ...unstamped(flags),
    { key: 'every', value: `${intervalMs}ms`, why: why(flags, ['interval_of_msg']) },
    // At QoS 0 nothing is acknowledged, and there is no window.
    ...(qos === 0 ? [] : [{ key: 'inflight', value: inflight, why: why(flags, ['inflight']) }]),
    ...(limit === 0 ? [] : [{ key: 'count', value: limit, why: why(flags, ['limit']) }]),
    ...(randomly
      ? [{ key: 'phase', value: 'random', why: 'a random start in --interval_of_msg' }]
      : []),
    ...(ackS === 0 ? [] : [{ key: 'ackTimeout', value: `${ackS}s`, why: '--retry-interval' }]),
  ];
  return { key: 'publish', value: entries };
}

/** A size that has no room for the stamp is sent all the same, as emqtt_bench does. */
function unstamped(flags: GivenFlags): PlanEntry[] {
  if (flags.has('message') || flags.number('size') >= STAMP_BYTES) return [];
  const reason = `${STAMP_BYTES} bytes are needed for the stamp: deliveries are not verified`;
  return [{ key: 'verify', value: 'off', why: reason }];
}

function payloadOf(flags: GivenFlags): PlanEntry {
  const size = flags.number('size');
  if (!flags.has('message')) {
    const stamped = flags.has('size') ? undefined : 'stamped, so that subscribers can verify it';
    return { key: 'payload', value: `${size}B`, why: why(flags, ['size']) ?? stamped };
  }
  const message = flags.text('message');
  const file = /^template:\/\/(.+)$/s.exec(message)?.[1];
  const value: PlanValue =
    file === undefined
      ? { text: message }
      : { template: payloadTemplate(readText('-m template://', file), size) };
  return { key: 'payload', value, why: why(flags, ['message']) };
}

function readText(what: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usage(`the file of ${what} cannot be read: ${file}`, String(cause));
  }
}

function stagesOf(flags: GivenFlags, group: string, length: string): PlanValue {
  const limited = flags.number('limit') > 0;
  switch (flags.kind) {
    case 'conn':
      return [
        { name: 'connect', run: { [group]: 'connect' } },
        { name: 'hold', run: { [group]: 'idle' }, for: length },
      ];
    case 'sub':
      return [
        { name: 'subscribe', run: { [group]: 'subscribe' } },
        { name: 'receive', run: { [group]: 'idle' }, for: length },
      ];
    case 'pub':
      return [
        { name: 'connect', run: { [group]: 'connect' } },
        // With a limit the stage is over when the last message is acknowledged.
        { name: 'publish', run: { [group]: 'publish' }, ...(limited ? {} : { for: length }) },
        ...(limited && flags.on('keep-connected')
          ? [{ name: 'hold', run: { [group]: 'idle' }, for: length }]
          : []),
      ];
  }
}

function thresholdsOf(flags: GivenFlags): readonly string[] {
  const failures = { conn: [], pub: ['publish_failed'], sub: ['subscribe_failed'] }[flags.kind];
  return ['connect_failed', ...failures].map((metric) => `${metric}: count == 0`);
}

/** The flags that a value comes from, as far as they stand on the line. */
function why(flags: GivenFlags, longs: readonly string[]): string | undefined {
  const given = longs.filter((long) => flags.has(long)).map((long) => `--${long}`);
  return given.length === 0 ? undefined : given.join(' ');
}
