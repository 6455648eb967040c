/**
 * The flags of emqtt_bench 0.6, which are those of emqtt_benchmark and more: names, forms, defaults.
 * What they mean here stands with them, for the help, for the notes of a run and for the docs.
 */
export interface BenchFlag {
  readonly long: string;
  readonly short?: string;
  /** `boolean`: alone or with a word such as true; `none`: alone. */
  readonly form: 'text' | 'number' | 'boolean' | 'none';
  readonly fallback?: string;
  readonly only?: readonly BenchKind[];
  /** What it becomes in the plan, or why there is nothing for it to become. */
  readonly here: string;
  /** `note`: the run goes on without it and says so; `refused`: there is no such run here. */
  readonly fate?: 'note' | 'refused';
}

export type BenchKind = 'conn' | 'pub' | 'sub';
export const BENCH_KINDS: readonly BenchKind[] = ['conn', 'pub', 'sub'];

const PUB = { only: ['pub'] } as const;
const NOTE = { fate: 'note' } as const;

export const BENCH_FLAGS: readonly BenchFlag[] = [
  flag(
    ['host', 'h'],
    'localhost',
    'targets.broker.urls; several, with commas: clients go round them',
  ),
  number(['port', 'p'], '1883', 'the port in targets.broker.urls'),
  number(['version', 'V'], '5', 'targets.broker.version: 3 is 3.1, 4 is 3.1.1, 5 is 5'),
  number(['count', 'c'], '200', 'clients'),
  number(['connrate', 'R'], '0', 'connect.rate; 0: by --interval'),
  number(['interval', 'i'], '10', 'connect.rate, or connect.over where that is no whole rate; ms'),
  { long: 'ifaddr', form: 'text', here: 'sourceAddresses' },
  { long: 'prefix', form: 'text', here: 'clientId: PREFIX_bench_KIND_N' },
  switchFlag('shortids', 'clientId: PREFIX and N, nothing between'),
  number(['startnumber', 'n'], '0', 'added to {{n}}'),
  { long: 'num-retry-connect', form: 'number', fallback: '0', here: 'connect.retries' },
  {
    long: 'reconnect',
    form: 'number',
    fallback: '0',
    here: 'a client that was connected is tried again for as long as the load lasts, and its absence is counted',
    ...NOTE,
  },
  { ...switchFlag('ssl', 'mqtts:// (wss:// with --ws), and targets.broker.tls'), short: 'S' },
  {
    long: 'ssl-version',
    form: 'text',
    here: 'tls.minVersion, and --ssl; it is the least, not the only one; tlsv1.1 is refused',
  },
  {
    long: 'cacertfile',
    form: 'text',
    here: 'tls.ca, and the broker is verified by it; without it tls.verify is false, as there',
  },
  { long: 'certfile', form: 'text', here: 'tls.cert' },
  { long: 'keyfile', form: 'text', here: 'tls.key' },
  note('ciphers', 'cipher suites are those that Node.js and the broker agree on'),
  note('signature-algs', 'signature algorithms are those that Node.js and the broker agree on'),
  note('keyex-algs', 'key exchange is what Node.js and the broker agree on'),
  {
    long: 'quic',
    form: 'text',
    fallback: 'false',
    here: 'Node.js does not speak QUIC: mqtt://, mqtts://, ws:// and wss:// are what there is',
    fate: 'refused',
  },
  switchFlag('ws', 'ws://host:port/mqtt'),
  note(
    'load-qst',
    'there is no QUIC here, and no tickets of it; TLS sessions are resumed by themselves',
  ),
  { long: 'username', short: 'u', form: 'text', here: 'username; %i and %rand_N are filled in' },
  { long: 'password', short: 'P', form: 'text', here: 'password, likewise' },
  number(['keepalive', 'k'], '300', 'connect.keepAlive, s'),
  { ...switchFlag('clean', 'connect.cleanStart'), short: 'C', fallback: 'true' },
  number(['session-expiry', 'x'], '0', 'connect.sessionExpiry, s (MQTT 5)'),
  { ...switchFlag('lowmem', 'clients take little memory here as they are'), short: 'l', ...NOTE },
  {
    long: 'force-major-gc-interval',
    form: 'number',
    fallback: '0',
    here: 'there are no processes of Erlang to collect; loop delays of workers are measured instead',
    ...NOTE,
  },
  {
    long: 'qoe',
    short: 'Q',
    form: 'text',
    fallback: 'false',
    here: 'connect, subscribe and delivery times are always measured; they stand in the report',
    ...NOTE,
  },
  note('qoelog', 'report.json holds the time line; nothing is written for each client'),
  {
    long: 'prometheus',
    form: 'none',
    here: 'a controller that serves runs has /metrics: squall controller; agents: --metrics-listen',
    ...NOTE,
  },
  note('restapi', 'a controller that serves runs has a REST API and /metrics: squall controller'),
  note('log_to', 'use --quiet, which prints the summary only'),
  {
    ...switchFlag('dist', 'agents are processes of their own and need no port: --agents'),
    short: 'd',
    ...NOTE,
  },
  { ...number(['interval_of_msg', 'I'], '1000', 'publish.every, ms'), ...PUB },
  {
    long: 'topic',
    short: 't',
    form: 'text',
    only: ['pub', 'sub'],
    here: 'topic; for sub more than once; %i %c %u (and for pub %s %rand_N) are filled in, levels as a whole',
  },
  {
    long: 'payload-hdrs',
    form: 'text',
    fallback: '',
    only: ['pub', 'sub'],
    here: 'each message carries a stamp with number and times, checked by subscribers of the same run',
    ...NOTE,
  },
  { ...number(['size', 's'], '256', 'publish.payload, bytes'), ...PUB },
  {
    long: 'message',
    short: 'm',
    form: 'text',
    ...PUB,
    here: 'publish.payload.text, or with template://FILE publish.payload.template',
  },
  {
    long: 'topics-payload',
    form: 'text',
    ...PUB,
    here: 'one named stream for each topic of the file; QUIC streams mean nothing here',
  },
  { ...number(['qos', 'q'], '0', 'qos'), only: ['pub', 'sub'] },
  { ...switchFlag('retain', 'publish.retain'), short: 'r', ...PUB },
  { ...number(['limit', 'L'], '0', 'publish.count, exact over all clients'), ...PUB },
  { ...number(['inflight', 'F'], '1', 'publish.inflight; 0, no limit, is 65535'), ...PUB },
  {
    ...switchFlag('wait-before-publishing', 'always so: publishing begins when all are connected'),
    short: 'w',
    ...PUB,
  },
  { long: 'max-random-wait', form: 'number', fallback: '0', ...PUB, here: 'publish.phase: random' },
  { long: 'min-random-wait', form: 'number', fallback: '0', ...PUB, here: 'publish.phase: random' },
  {
    long: 'retry-interval',
    form: 'number',
    fallback: '0',
    ...PUB,
    here: 'publish.ackTimeout, s: then it counts as failed; MQTT resends after a reconnect only',
  },
  {
    ...switchFlag('keep-connected', 'with --limit: a stage that holds the connections'),
    ...PUB,
  },
];

function flag([long, short]: readonly [string, string], fallback: string, here: string): BenchFlag {
  return { long, short, form: 'text', fallback, here };
}

function number(
  [long, short]: readonly [string, string],
  fallback: string,
  here: string,
): BenchFlag {
  return { long, short, form: 'number', fallback, here };
}

function switchFlag(long: string, here: string): BenchFlag {
  return { long, form: 'boolean', fallback: 'false', here };
}

function note(long: string, here: string): BenchFlag {
  return { long, form: 'text', here, fate: 'note' };
}
