import type { RocketmqPublish, RocketmqTarget } from '@squall/core/plan';
import { describe, expect, test } from 'vitest';
import { RenderContext } from '../../../src/worker/publish/render-context.ts';
import { MessageTexts } from '../../../src/worker/rocketmq/message-texts.ts';
import { QueueOrder } from '../../../src/worker/rocketmq/queue-order.ts';
import { TransactionShares } from '../../../src/worker/rocketmq/transaction-shares.ts';
import { groupOf } from '../fixture/plan.ts';
import { PLAIN, TARGET } from './stream-fixture.ts';

const target: RocketmqTarget = TARGET;

function textsOf(parts: Partial<RocketmqPublish>) {
  const group = groupOf({ name: 'g', clients: 10 });
  const context = new RenderContext({
    group,
    target,
    shortRun: 'r1',
    secrets: {},
    vars: {},
    seed: 1,
  });
  return { context, texts: new MessageTexts({ ...PLAIN, ...parts }, context) };
}

describe('texts of messages', () => {
  test('are made once where all messages have the same', () => {
    const { context, texts } = textsOf({
      tags: 'a',
      userProperties: [{ name: 'run', value: '{{run}}' }],
    });
    expect(texts.fixed).toEqual({ TAGS: 'a', run: 'r1' });
    expect(texts.varies).toBe(false);
    expect(texts.properties(context)).toBe('');
  });

  test('differ by client and message where the plan says so', () => {
    const { context, texts } = textsOf({ tags: 'a', keys: 'k{{n}}-{{seq}}', shardingKey: '{{n}}' });
    context.n = 4;
    context.seq = 7;
    expect(texts.fixed).toEqual({ TAGS: 'a' });
    expect(texts.perMessage).toBe(true);
    expect(texts.properties(context)).toContain('KEYS\u0001k5-7\u0002');
    expect(texts.shardingKey(context)).toBe('5');
  });
});

test('half messages are rolled back and left open by their shares, evenly', () => {
  const shares = new TransactionShares({ rollback: 0.25, unknown: 0.05 });
  const states = Array.from({ length: 1_000 }, () => shares.next());
  const count = (state: string) => states.filter((each) => each === state).length;
  expect(count('rollback')).toBe(250);
  // What falls together is rolled back first.
  expect(count('unknown')).toBe(49);
  expect(states.slice(0, 8).filter((each) => each === 'rollback')).toHaveLength(2);
});

const of = (publisher: number, seq: number, stage = 0) => ({ subject: 0, stage, publisher, seq });

test('order counts by sender within a queue, and not between them', () => {
  const order = new QueueOrder();
  expect(order.isNext(0, of(1, 5))).toBe(true);
  expect(order.isNext(0, of(2, 3))).toBe(true);
  expect(order.isNext(1, of(1, 2))).toBe(true);
  expect(order.isNext(0, of(1, 0, 1))).toBe(true);
  expect(order.isNext(0, of(1, 4))).toBe(false);
  expect(order.isNext(0, of(1, 6))).toBe(true);
});
