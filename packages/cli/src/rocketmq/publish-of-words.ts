import { STAMP_BYTES } from '@squall/core/stamp';
import type { PlanEntry, PlanValue } from '../bench/plan-text.ts';
import { usage } from '../usage-error.ts';
import type { ToolWords } from './parse-flags.ts';

/** In place of no bound: more of them only queue up in the broker. */
const ASYNC_WINDOW = 1_024;
/** As their clients wait for an answer. */
const SEND_TIMEOUT = '3s';
/** All properties of a message have 32,767 bytes, the broker's own included. */
const PROPERTY_BYTES_MAX = 30_000;

/** What each sender does, by the flags of its tool. @throws SquallError SQ_USAGE */
export function publishOf(words: ToolWords): PlanEntry[] {
  const { kind } = words;
  return [
    { key: 'topic', value: words.text('topic'), why: words.why('topic') },
    payloadOf(words),
    paceOf(words),
    ...(kind === 'producer' ? producerOnly(words) : []),
    ...(kind === 'batchproducer' ? batchOnly(words) : []),
    ...(kind === 'tproducer' ? [transactionOf(words)] : []),
    ...(kind === 'tproducer' ? [] : textsOf(words)),
    { key: 'ackTimeout', value: SEND_TIMEOUT, why: 'as their clients' },
  ];
}

/** Threads of theirs wait for each answer: a closed loop with a window of one. */
function paceOf(words: ToolWords): PlanEntry {
  const intervalMs = words.kind === 'tproducer' ? words.number('sendInterval') : 0;
  if (intervalMs > 0) return { key: 'every', value: `${intervalMs}ms`, why: '-i' };
  return { key: 'rate', value: 'max', why: 'a message as soon as the last one is answered' };
}

function payloadOf(words: ToolWords): PlanEntry {
  const bytes = words.number('messageSize');
  if (bytes === 0) {
    throw usage('-s 0 is no message', 'brokers of 5.x refuse empty bodies: give at least 1');
  }
  if (bytes < STAMP_BYTES) {
    const why = `-s: too short for a stamp, so that no ledger follows it (${STAMP_BYTES} bytes)`;
    return { key: 'payload', value: { text: 'x'.repeat(bytes) }, why };
  }
  const size = `${bytes}B`;
  const value: PlanValue = compresses(words) ? { size, fill: 'compressible' } : size;
  return { key: 'payload', value, why: words.why('messageSize') };
}

/** Batches are not: their client leaves them as they are, too. */
function compresses(words: ToolWords): boolean {
  return words.kind === 'producer' && words.on('compressEnable');
}

function producerOnly(words: ToolWords): PlanEntry[] {
  const quantity = words.number('messageQuantity');
  const level = words.number('delayLevel');
  if (words.on('delayEnable') && (level < 1 || level > 18)) {
    throw usage(`-e ${level} is no level of delay`, '1 (1 s) to 18 (2 h)');
  }
  return [
    ...(words.on('asyncEnable') ? [{ key: 'inflight', value: ASYNC_WINDOW, why: '-y' }] : []),
    ...(quantity > 0 ? [{ key: 'count', value: quantity, why: '-q' }] : []),
    ...(words.on('delayEnable')
      ? [{ key: 'delayLevel', value: level, why: words.why('delayEnable', 'delayLevel') }]
      : []),
  ];
}

function batchOnly(words: ToolWords): PlanEntry[] {
  const bytes = words.number('propertySize');
  if (bytes > PROPERTY_BYTES_MAX) {
    throw usage(`-p ${bytes} is too much`, `at most ${PROPERTY_BYTES_MAX} bytes`);
  }
  return [
    { key: 'batch', value: words.number('batchSize'), why: words.why('batchSize') },
    ...(bytes === 0
      ? []
      : [
          {
            key: 'properties',
            value: [{ key: 'userProperties', value: { prop: 'x'.repeat(bytes) }, why: '-p' }],
          },
        ]),
  ];
}

function transactionOf(words: ToolWords): PlanEntry {
  const value: PlanEntry[] = [
    {
      key: 'rollback',
      value: percent(words.number('sendRollback')),
      why: words.why('sendRollback'),
    },
    { key: 'unknown', value: percent(words.number('sendUnknown')), why: words.why('sendUnknown') },
  ];
  return { key: 'transaction', value };
}

function textsOf(words: ToolWords): PlanEntry[] {
  const tags = words.number('tagCount');
  const type = words.text('compressType').toUpperCase();
  if (compresses(words) && type !== 'ZLIB') {
    throw usage(`-ct ${type} is not possible here`, 'bodies are compressed by ZLIB');
  }
  return [
    ...(words.on('keyEnable') ? [{ key: 'keys', value: '{{now}}', why: '-k' }] : []),
    ...(tags > 0 ? [{ key: 'tags', value: tagOf(tags), why: '-l' }] : []),
    ...(compresses(words)
      ? [
          {
            key: 'compress',
            value: `${words.number('compressFrom')}B`,
            why: words.why('compressEnable', 'compressFrom'),
          },
        ]
      : []),
  ];
}

function tagOf(tags: number): string {
  return tags === 1 ? 'tag0' : `tag{{random 0 ${tags - 1}}}`;
}

/** `0.05` is `5%`. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(6))}%`;
}
