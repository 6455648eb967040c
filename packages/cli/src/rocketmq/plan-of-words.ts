import { type PlanEntry, planText, type PlanValue } from '../bench/plan-text.ts';
import { usage } from '../usage-error.ts';
import { consumeOf } from './consume-of-words.ts';
import { TOOL_NAMES } from './flags.ts';
import type { ToolWords } from './parse-flags.ts';
import { publishOf } from './publish-of-words.ts';

/** Their tools go on until they are ended; a plan has an end. */
export const DEFAULT_LENGTH = '24h';
/** Where the secret key is looked for: plans and reports hold no secrets. */
export const SECRET_VARIABLE = 'ROCKETMQ_SECRET_KEY';

export interface ToolPlan {
  /** YAML that `squall check` takes. */
  readonly text: string;
  /** What stood on the line and has no meaning here, each with its reason. */
  readonly notes: readonly string[];
  /** Value of `SECRET_VARIABLE`; null: no ACL. */
  readonly secretKey: string | null;
}

/**
 * The plan that a command line of one of RocketMQ's benchmark tools stands for.
 * @param length of the load, `10m`, as in a plan's `for`.
 * @throws SquallError SQ_USAGE for what cannot be had here.
 */
export function planOfWords(words: ToolWords, length: string): ToolPlan {
  const [refused] = words.fated('refused');
  if (refused !== undefined) throw usage(`-${refused.short} is not possible here`, refused.here);
  const notes = notesOf(words);
  const consumes = words.kind === 'consumer';
  const group = consumes ? 'consumers' : 'producers';
  const entries: PlanEntry[] = [
    { key: 'squall', value: 1 },
    { key: 'name', value: `rocketmq-${words.kind}` },
    { key: 'targets', value: [{ key: 'rocketmq', value: targetOf(words) }] },
    { key: 'groups', value: [{ key: group, value: groupOf(words) }] },
    { key: 'stages', value: [stageOf(words, group, length)] },
    {
      key: 'thresholds',
      value: [`${consumes ? 'consume_failed' : 'publish_failed'}: count == 0`],
      why: 'theirs has no verdict; a plan has',
    },
  ];
  return { text: planText(headOf(words, notes), entries), notes, secretKey: secretOf(words) };
}

function notesOf(words: ToolWords): string[] {
  const passedOver = words
    .fated('note')
    .map(({ short, here }) => `-${short} is passed over: ${here}`);
  const systemTopic =
    words.text('topic') === 'BenchmarkTest'
      ? [
          'BenchmarkTest is a system topic of 1024 queues: its figures are not those of another topic',
        ]
      : [];
  const batches =
    words.kind === 'batchproducer' && words.on('compressEnable')
      ? ['-c is passed over: batches are not compressed, by their client neither']
      : [];
  return [...passedOver, ...batches, ...systemTopic];
}

function headOf({ kind, words }: ToolWords, notes: readonly string[]): string[] {
  return [
    `squall rocketmq ${kind} ${words.map(shellWord).join(' ')}`.trimEnd(),
    '',
    'The plan that this command stands for. Save it, change it, and run it with: squall run FILE',
    ...notes,
    '',
  ];
}

/** `a;b` would be two commands. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./*-]+$/.test(word) ? word : `'${word}'`;
}

function targetOf(words: ToolWords): PlanEntry[] {
  const nameServers = words
    .text('namesrvAddr')
    .split(';')
    .map((address) => address.trim())
    .filter((address) => address !== '');
  return [
    { key: 'protocol', value: 'rocketmq' },
    { key: 'nameServers', value: nameServers, why: words.why('namesrvAddr') },
    ...(words.on('aclEnable') ? [{ key: 'acl', value: aclOf(words) }] : []),
  ];
}

function aclOf(words: ToolWords): PlanEntry[] {
  return [
    {
      key: 'accessKey',
      value: words.has('batchAccessKey') ? words.text('batchAccessKey') : words.text('accessKey'),
      why: words.why('batchAccessKey', 'accessKey') ?? 'the tools’ own',
    },
    {
      key: 'secretKey',
      value: `{{env.${SECRET_VARIABLE}}}`,
      why: words.why('batchSecretKey', 'secretKey') ?? 'the tools’ own: 12345678',
    },
  ];
}

function secretOf(words: ToolWords): string | null {
  if (!words.on('aclEnable')) return null;
  return words.has('batchSecretKey') ? words.text('batchSecretKey') : words.text('secretKey');
}

function groupOf(words: ToolWords): PlanEntry[] {
  const target: PlanEntry = { key: 'target', value: 'rocketmq' };
  if (words.kind === 'consumer') {
    return [
      target,
      { key: 'clients', value: 1, why: `one member, as ${TOOL_NAMES.consumer} is` },
      { key: 'consume', value: consumeOf(words) },
    ];
  }
  const threads = isAsync(words) ? 1 : words.number('threadCount');
  if (threads === 0) throw usage('-w 0 is no load', 'give the number of senders');
  return [
    target,
    {
      key: 'clients',
      value: threads,
      why: isAsync(words) ? '-y: one sender' : words.why('threadCount'),
    },
    { key: 'publish', value: publishOf(words) },
  ];
}

/** Only the plain producer has it. */
function isAsync(words: ToolWords): boolean {
  return words.kind === 'producer' && words.on('asyncEnable');
}

function stageOf(words: ToolWords, group: string, length: string): PlanValue {
  if (words.kind === 'consumer')
    return { name: 'consume', run: { [group]: 'consume' }, for: length };
  // With a quantity the stage is over when the last message is answered.
  const limited = words.kind === 'producer' && words.number('messageQuantity') > 0;
  return { name: 'send', run: { [group]: 'publish' }, ...(limited ? {} : { for: length }) };
}
