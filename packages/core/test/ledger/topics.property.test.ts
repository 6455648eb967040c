import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesFilter, sharedFilter, TopicIndex } from '@squall/core/ledger';

const level = fc.constantFrom('a', 'b', 'c', '', '$SYS', 'x y');
const topic = fc.array(level, { minLength: 1, maxLength: 4 }).map((levels) => levels.join('/'));
const filter = fc
  .tuple(
    fc.array(fc.oneof(level, fc.constant('+')), { minLength: 1, maxLength: 4 }),
    fc.constantFrom('', '/#'),
  )
  .map(([levels, end]) => levels.join('/') + end);

describe('topic filters', () => {
  test.each([
    ['a/b', 'a/b', true],
    ['a/b', 'a/b/', false],
    ['a/+', 'a/', true],
    ['a/+', 'a', false],
    ['a/#', 'a', true],
    ['a/#', 'a/b/c', true],
    ['#', 'a', true],
    ['#', '$SYS/x', false],
    ['+/x', '$SYS/x', false],
    ['$SYS/#', '$SYS/x', true],
    ['+/+', '/a', true],
    ['/+', '/a', true],
    ['+', '/a', false],
    ['sport/tennis/player1/#', 'sport/tennis/player1', true],
    ['Ä/+', 'Ä/é', true],
    ['a', 'A', false],
  ])('%s and %s: %s, as MQTT 3.1.1 §4.7 has it', (pattern, name, matches) => {
    expect(matchesFilter(pattern, name)).toBe(matches);
  });

  test('the index finds just the topics that match one by one', () => {
    const filters = fc.array(fc.oneof(filter, fc.constant('#')), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(topic, { maxLength: 30 }), filters, (topics, patterns) => {
        const index = new TopicIndex();
        const first = topics.slice(0, topics.length / 2);
        for (const each of first) index.add(each);
        index.matches('#');
        for (const each of topics) index.add(each);
        const different = [...new Set(topics)];
        expect(index.size).toBe(different.length);
        for (const pattern of patterns) {
          const wanted = different.filter((each) => matchesFilter(pattern, each));
          const found = index.matches(pattern).map((number) => different[number]);
          expect(found.toSorted()).toEqual(wanted.toSorted());
        }
      }),
    );
  });

  test('of a shared subscription the inner filter counts', () => {
    expect(sharedFilter('$share/group/a/+')).toBe('a/+');
    expect(sharedFilter('$share/group')).toBeNull();
    expect(sharedFilter('a/$share/b')).toBeNull();
    const index = new TopicIndex();
    index.add('a/b');
    expect(index.matches('$share/g/a/+')).toEqual([0]);
  });

  test('a hundred thousand topics under one level are found without overflowing anything', {
    timeout: 30_000,
  }, () => {
    const index = new TopicIndex();
    for (let n = 0; n < 200_000; n++) index.add(`devices/${n}/up`);
    expect(index.matches('devices/+/up')).toHaveLength(200_000);
    expect(index.matches('#')).toHaveLength(200_000);
    expect(index.matches('devices/77/#')).toEqual([77]);
  });
});
