import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TopicRound } from '@squall/core/schedule';
import type { LedgerRow } from '@squall/core/ledger';
import { TopicTurns } from '../../src/ledger/topic-turns.ts';
import { sketchPlan } from './ledger-plans.ts';
import { item, type Message, Simulation } from './simulation.ts';

const weights = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 });

describe('topics that take turns', () => {
  test('number the messages of each topic without a gap, and back', () => {
    fc.assert(
      fc.property(weights, fc.nat(40), (list, n) => {
        const turns = new TopicTurns(new TopicRound(list), list.length);
        const counts = list.map(() => 0);
        for (let seq = 0; seq < 60; seq++) {
          for (const [topic, count] of counts.entries()) {
            expect(turns.countOf(n, topic, seq)).toBe(count);
          }
          const topic = turns.topicOf(n, seq);
          const rank = item(counts, topic);
          expect(turns.rankOf(n, seq)).toBe(rank);
          expect(turns.seqOf(n, topic, rank)).toBe(seq);
          counts[topic] = rank + 1;
        }
      }),
    );
  });
});

const TOPICS = [
  { template: 'd/{{n}}/often', weight: 3 },
  { template: 'd/{{n}}/seldom', weight: 1 },
];

function begun(filter: string): Simulation {
  const plan = sketchPlan(
    [
      { name: 'devices', clients: 2, publish: [{ topic: TOPICS }] },
      { name: 'readers', clients: 2, subscribe: [{ topics: [filter] }] },
    ],
    [
      { name: 'subscribe', run: { readers: ['subscribe'] } },
      { name: 'publish', run: { devices: ['publish'] } },
    ],
  );
  const simulation = new Simulation(plan, [
    { agent: 'a', workers: 2 },
    { agent: 'b', workers: 1 },
  ]);
  for (const client of [0, 1]) simulation.subscribe(1, client);
  return simulation;
}

function send(simulation: Simulation): Message {
  simulation.tick();
  return simulation.publish(0, 1, 0);
}

function only(simulation: Simulation): LedgerRow {
  const { rows } = simulation.join(simulation.pages());
  expect(rows).toHaveLength(1);
  return item(rows, 0);
}

describe('a stream whose topics take turns', () => {
  test('is followed topic by topic: who hears one of them must get those, by their own numbers', () => {
    const simulation = begun('d/+/seldom');
    const messages = Array.from({ length: 12 }, () => send(simulation));
    const heard = messages.filter(({ topic }) => topic.endsWith('seldom'));
    expect(heard).toHaveLength(3);
    for (const { bytes, topic } of heard) {
      simulation.receive({ group: 1, client: 0 }, bytes, { topic });
    }
    // The other one misses the last of them.
    for (const { bytes, topic } of heard.slice(0, -1)) {
      simulation.receive({ group: 1, client: 1 }, bytes, { topic });
    }
    const row = only(simulation);
    expect(row).toMatchObject({ pairs: 2, expected: 6, lost: 1, wrongTopic: 0, reordered: 0 });
    expect(row.examples['lost']).toMatchObject([
      { subscriber: 'readers-2', seq: heard.at(-1)?.seq },
    ]);
  });

  test('messages to different topics may overtake each other, those to one may not', () => {
    const simulation = begun('d/#');
    const messages = Array.from({ length: 8 }, () => send(simulation));
    const [seldom, often] = ['seldom', 'often'].map((end) =>
      messages.filter(({ topic }) => topic.endsWith(end)),
    );
    for (const client of [0, 1]) {
      for (const { bytes } of [...(seldom ?? []), ...(often ?? [])]) {
        simulation.receive({ group: 1, client }, bytes);
      }
    }
    expect(only(simulation)).toMatchObject({ expected: 16, unique: 16, reordered: 0 });
    const swapped = begun('d/+/often');
    const sent = Array.from({ length: 4 }, () => send(swapped)).filter(({ topic }) =>
      topic.endsWith('often'),
    );
    for (const client of [0, 1]) {
      for (const { bytes } of sent.toReversed()) swapped.receive({ group: 1, client }, bytes);
    }
    expect(only(swapped)).toMatchObject({
      unique: 2 * sent.length,
      reordered: 2 * (sent.length - 1),
    });
  });

  test('what was not acknowledged is open at its own topic', () => {
    const simulation = begun('d/+/seldom');
    const messages = Array.from({ length: 8 }, () => send(simulation));
    for (const message of messages.slice(0, 5)) simulation.unresolved(message);
    for (const { bytes, topic } of messages.slice(5)) {
      if (!topic.endsWith('seldom')) continue;
      for (const client of [0, 1]) simulation.receive({ group: 1, client }, bytes);
    }
    const open = messages.slice(0, 5).filter(({ topic }) => topic.endsWith('seldom')).length;
    expect(only(simulation)).toMatchObject({ lost: 0, unresolved: 2 * open });
  });

  test('is waited for at the end, topic by topic', () => {
    const simulation = begun('d/+/seldom');
    for (let n = 0; n < 12; n++) send(simulation);
    expect(simulation.goal(simulation.pages())).toBe(2 * 3);
  });
});
