import { z } from 'zod';
import { MAX_PULL } from '../limits.ts';
import {
  addFault,
  choice,
  count,
  flag,
  name,
  oneOrMore,
  plainText,
  share,
  strictMap,
} from './leaves.ts';
import { clientTemplate, clientTopicTemplate } from './templates.ts';

const moment = z
  .string()
  .transform((text, context): number => {
    const ms = Date.parse(text);
    if (Number.isFinite(ms)) return ms;
    return addFault(context, {
      message: `"${text.slice(0, 80)}" is no moment`,
      hint: 'write one such as 2026-11-30T12:00:00Z',
    });
  })
  .meta({ type: 'string', 'x-unit': 'moment', 'x-example': '2026-11-30T12:00:00Z' });

const from = z.union([
  choice(['first', 'last']),
  strictMap({
    timestamp: moment.describe(
      'Messages that were stored then or later, by the clock of the broker.',
    ),
  }),
  strictMap({
    offset: count({ min: 0, max: Number.MAX_SAFE_INTEGER, range: 'at least 0' }).describe(
      'The same offset in every queue.',
    ),
  }),
]);

export const consume = strictMap({
  name: name().optional().describe('Name of the entry; needed in a list of several.'),
  topic: clientTopicTemplate().describe('Topic, the same for all clients.'),
  group: clientTemplate().describe('Consumer group, the same for all clients.'),
  tags: oneOrMore(plainText(127)).optional().describe('Tags to take; all by default.'),
  sql: plainText()
    .optional()
    .describe('SQL filter over properties; the broker must have `enablePropertyFilter=true`.'),
  from: from
    .prefault('last')
    .describe(
      'Where a group begins that has no offsets yet: `first`, `last`, `{ timestamp: … }` or `{ offset: … }`.',
    ),
  batch: count({ min: 1, max: MAX_PULL, range: `1 to ${MAX_PULL}` })
    .prefault(32)
    .describe('Messages that a pull asks for; brokers give 32 at most unless told otherwise.'),
  ordering: choice(['concurrent', 'orderly'])
    .prefault('concurrent')
    .describe('`orderly`: queues are locked, and what comes out of order in one is counted.'),
  broadcast: flag().prefault(false).describe('Every client gets every message.'),
  queues: choice(['shared', 'fixed'])
    .prefault('shared')
    .describe(
      '`shared`: the members of the group share the queues; `fixed`: client n reads every N-th queue and registers nowhere.',
    ),
  fail: share().prefault('0%').describe('Share of messages that are sent back, to come again.'),
  retries: count({ min: 0, max: 10_000, range: '0 to 10000' })
    .prefault(16)
    .describe('Deliveries of a message that fails, before it goes to the dead-letter topic.'),
});
