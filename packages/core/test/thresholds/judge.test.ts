import { judgeState } from '@squall/core/checkpoint';
import type { SeriesDelta, SparseHistogram } from '@squall/core/metrics';
import { Judge } from '@squall/core/thresholds';
import { describe, expect, it } from 'vitest';
import {
  counter,
  judgeSeconds,
  only,
  planOf,
  repeat,
  type Second,
  sliceOf,
  stageOf,
  times,
} from './scene.ts';

const good: Second = [times('publish_time', [10, 20, 30])];
const bad: Second = [times('publish_time', [10, 20, 900])];
const P99 = 'publish_time: p(99) < 500ms';

function sent(stage: number) {
  return [counter('sent', 10, { stage })];
}

function refused(stage: number) {
  return [counter('connect_failed', 6, { reason: 'refused', stage })];
}

function judged(text: string, seconds: readonly Second[], options = {}) {
  return only(judgeSeconds(planOf([text]), seconds, options));
}

describe('a threshold over the whole stage', () => {
  it('holds by the merged times of all seconds', () => {
    const result = judged('publish_time: p(50) < 25ms and max < 1s', [good, good, bad]);
    expect(result).toMatchObject({ state: 'pass', windows: 1, failedWindows: 0, unit: 'us' });
    expect(result.observedText).toMatch(/^p\(50\) = 20.*ms and max = 900.*ms$/);
  });

  it('with two sides tells one value once', () => {
    const result = judged('sent: rate > 5/s and rate < 20/s', [[...sent(0)], [...sent(0)]]);
    expect(result.observedText).toBe('rate = 10/s');
  });

  it('fails by one bad second, with the value that decided', () => {
    const result = judged('publish_time: max < 500ms', [good, bad, good]);
    expect(result).toMatchObject({ state: 'fail', leadsTo: 'fail', observed: 900_000 });
    expect(result.worst).toEqual({ stage: 'publish', fromUs: 0, toUs: 3_000_000, value: 900_000 });
    expect(result.expected).toBe('max < 500ms');
  });

  it('counts what comes back in the drain to the stage in which it was due', () => {
    const result = judged('publish_time: max < 500ms', [good, good], { settle: [bad] });
    expect(result.state).toBe('fail');
  });

  it.each([
    ['sent: count == 30', 'pass', 30],
    ['sent: count > 30', 'fail', 30],
    ['sent: rate >= 10/s', 'pass', 10],
    ['sent: rate > 10/s', 'fail', 10],
    ['publish_failed: count == 0', 'fail', 3],
    ['publish_failed{reason=timeout}: count == 0', 'fail', 3],
    ['publish_failed{reason!=timeout}: count == 0', 'pass', 0],
    ['publish_failed: share <= 10%', 'pass', 0.1],
    ['publish_failed: share < 10%', 'fail', 0.1],
    ['publish_failed{reason=timeout}: share < 10%', 'fail', 0.1],
    ['publish_failed{reason=other}: share < 10%', 'pass', 0],
    ['disconnected: count == 0', 'pass', 0],
    ['connections: min >= 5', 'fail', 0],
    ['connections: max <= 7', 'pass', 7],
    ['connections: value == 7', 'pass', 7],
    ['connections: delta == 7', 'pass', 7],
    ['connections: avg >= 4', 'pass', 4],
    ['connections: med == 5', 'pass', 5],
    ['connections: p(34) == 5', 'pass', 5],
  ])('judges every aggregate: %s', (text, state, observed) => {
    const ten = counter('sent', 10);
    const failed = counter('publish_failed', 1, { reason: 'timeout' });
    const seconds = [0, 5, 7].map((clients) => [ten, failed, counter('connections', clients)]);
    expect(judged(text, seconds)).toMatchObject({ state, observed });
  });

  it('takes a rate over the time that the stage really took', () => {
    const seconds = repeat(3, [counter('sent', 10)]);
    expect(judged('sent: rate > 0/s', seconds, { lastS: 0.5 }).observed).toBe(12);
  });

  it('takes failures with no attempt beside them for nothing but failures', () => {
    const seconds = [[counter('publish_failed', 3, { reason: 'x' })]];
    expect(judged('publish_failed: share < 50%', seconds)).toMatchObject({
      state: 'fail',
      observed: 1,
    });
  });
});

describe('no data', () => {
  it('fails when nothing was timed in a stage that publishes', () => {
    const result = judged(P99, [[], [], []]);
    expect(result).toMatchObject({ state: 'no_data', leadsTo: 'fail', windows: 0, observed: null });
    expect(result.observedText).toBe('no data');
  });

  it.each(['pass', 'warn', 'inconclusive', 'fail'] as const)(
    'leads to %s when the line says so',
    (noData) => {
      const plan = planOf([{ text: P99, noData }]);
      expect(only(judgeSeconds(plan, [[]]))).toMatchObject({ state: 'no_data', leadsTo: noData });
    },
  );

  it('is a warning at most where the threshold is one', () => {
    expect(judged(`${P99} warn`, [[]])).toMatchObject({ state: 'no_data', leadsTo: 'warn' });
  });

  it('is not the same as a counter that stayed 0', () => {
    expect(judged('publish_failed: count == 0', [[], []])).toMatchObject({
      state: 'pass',
      observed: 0,
    });
    expect(judged('acked: count >= 1', [[], []])).toMatchObject({ state: 'fail', observed: 0 });
  });

  it('is what a stage has that never ran', () => {
    const stages = [stageOf('publish', 0), stageOf('peak', 1)];
    for (const text of ['publish_failed: count == 0 in peak', `${P99} over 1s in publish|peak`]) {
      const result = only(judgeSeconds(planOf([text], stages), [good, good]));
      expect(result, text).toMatchObject({ state: 'no_data', leadsTo: 'fail' });
      expect(result.remark).toContain('peak');
    }
  });

  it('is what everything has when no slice ever came', () => {
    const texts = [P99, `${P99} over 1s`, 'publish_failed: count == 0', 'connections: min >= 0'];
    const judge = new Judge({ plan: planOf(texts), agents: ['a'] });
    expect(judge.finish().map((result) => result.state)).toEqual(repeat(4, 'no_data'));
  });

  it('is what a gauge has that nobody reported, and not 0', () => {
    expect(judged('connections: max <= 5', [[], []]).state).toBe('no_data');
    expect(judged('connections: max <= 5 over 1s', [[], []]).state).toBe('no_data');
  });

  it('is what is left when every window lies before "after"', () => {
    expect(judged(`${P99} over 1s after 10s`, [good, good])).toMatchObject({ state: 'no_data' });
  });

  it('fails a window threshold whose stage was silent, whatever other stages have', () => {
    const stages = [stageOf('one', 0), stageOf('two', 1)];
    const judge = new Judge({ plan: planOf([`${P99} over 1s`], stages), agents: ['a'] });
    judge.add('a', sliceOf({ n: 0 }, good));
    judge.add('a', sliceOf({ n: 1 }, good));
    judge.add('a', sliceOf({ stage: 1, n: 0, startS: 2 }));
    judge.add('a', sliceOf({ stage: 1, n: 1, startS: 2 }));
    expect(only(judge.finish())).toMatchObject({ state: 'no_data', windows: 2 });
  });
});

describe('stages', () => {
  const stages = [
    stageOf('warm', 0, { warmup: true }),
    stageOf('connect', 1, { kind: 'connect' }),
    stageOf('publish', 2),
  ];

  function results(texts: readonly string[], seconds: readonly (readonly [number, Second])[]) {
    const judge = new Judge({ plan: planOf(texts, stages), agents: ['a'] });
    seconds.forEach(([stage, series], at) => {
      const n = seconds.slice(0, at).filter(([other]) => other === stage).length;
      judge.add('a', sliceOf({ stage, n, startS: at - n }, series));
    });
    return judge.finish();
  }

  it('leaves warm-up out unless it is named', () => {
    const failure = [counter('publish_failed', 1, { reason: 'x', stage: 0 })];
    const texts = [
      'publish_failed: count == 0',
      'publish_failed: count == 0 over 1s',
      'publish_failed: count == 0 in warm',
      'publish_failed: count == 0 over 1s in warm',
      'publish_failed{stage=warm}: count == 0',
    ];
    const states = results(texts, [
      [0, failure],
      [1, []],
      [2, []],
    ]).map((result) => result.state);
    expect(states).toEqual(['pass', 'pass', 'fail', 'fail', 'fail']);
  });

  it('does not miss publishing in a stage that only connects', () => {
    const published = [
      counter('published', 100, { stage: 2 }),
      times('publish_time', [1], { stage: 2 }),
    ];
    const texts = ['published: rate >= 100/s', P99, `${P99} over 1s`, 'published: count >= 100'];
    const states = results(texts, [
      [0, []],
      [1, []],
      [2, published],
    ]).map((result) => result.state);
    expect(states).toEqual(repeat(4, 'pass'));
  });

  it('judges each stage that is named', () => {
    const [named, total] = results(
      ['sent: count >= 20 in warm|publish', 'sent: count >= 10'],
      [
        [0, sent(0)],
        [1, []],
        [2, sent(2)],
      ],
    );
    expect(named).toMatchObject({ state: 'fail', windows: 2, failedWindows: 2 });
    expect(total?.state).toBe('pass');
  });

  it('counts over all judged stages together where none is named', () => {
    const [result] = results(
      ['connect_failed: count < 10'],
      [
        [0, []],
        [1, refused(1)],
        [2, refused(2)],
      ],
    );
    expect(result).toMatchObject({ state: 'fail', observed: 12, windows: 1 });
  });

  it('finds failures in a stage where none were planned', () => {
    const stray = [
      counter('publish_failed', 5, { reason: 'x', stage: 1 }),
      counter('sent', 5, { stage: 1 }),
    ];
    const texts = ['publish_failed: share < 1%', 'publish_failed: count == 0 over 1s'];
    const states = results(texts, [
      [0, []],
      [1, stray],
      [2, []],
    ]).map((result) => result.state);
    expect(states[0]).toBe('fail');
    expect(states[1]).toBe('fail');
  });

  it('sees what happens in the prologue, before the first window', () => {
    const judge = new Judge({
      plan: planOf([
        'connect_failed: count == 0 over 10s',
        'connect_failed: count == 0 in publish',
      ]),
      agents: ['a'],
    });
    const failed = [counter('connect_failed', 1, { reason: 'refused' })];
    judge.add('a', sliceOf({ phase: 'prologue', n: 0 }, failed));
    judge.add('a', sliceOf({ phase: 'prologue', n: 1 }));
    judge.add('a', sliceOf({ n: 0, startS: 2 }));
    expect(judge.finish().map((result) => result.state)).toEqual(['fail', 'fail']);
  });
});

describe('windows', () => {
  it('tumble from the clock of the stage', () => {
    const seconds = [good, good, bad, good, good, good];
    const result = judged(`${P99} over 2s`, seconds);
    expect(result).toMatchObject({
      state: 'fail',
      windows: 3,
      failedWindows: 1,
      partialWindows: 0,
    });
    expect(result.worst).toMatchObject({ fromUs: 2_000_000, toUs: 4_000_000 });
  });

  it('count a shorter last one from 1 s up, marked as partial', () => {
    const result = judged(`${P99} over 2s`, [good, good, bad]);
    expect(result).toMatchObject({ state: 'fail', windows: 2, partialWindows: 1 });
    expect(result.worst).toMatchObject({ fromUs: 2_000_000, toUs: 3_000_000 });
  });

  it('let a rest below 1 s not hide what was measured in it', () => {
    const result = judged(`${P99} over 1s`, [good, good, bad], { lastS: 0.4 });
    expect(result).toMatchObject({ state: 'fail', windows: 2, partialWindows: 0 });
  });

  it('take a rate over the real length of a partial window', () => {
    const seconds = repeat(3, [counter('sent', 10)]);
    expect(judged('sent: rate >= 10/s over 2s', seconds)).toMatchObject({
      state: 'pass',
      windows: 2,
    });
  });

  it('give what comes back in the drain to the last one', () => {
    const late = [times('publish_time', [4_000])];
    const result = judged(`${P99} over 1s`, [good, good], { settle: [[], late] });
    expect(result).toMatchObject({ state: 'fail', windows: 2, failedWindows: 1 });
    expect(result.worst?.fromUs).toBe(1_000_000);
  });

  it('give it to the last one of its own stage, not of the stage that runs by then', () => {
    const stages = [stageOf('one', 0), stageOf('two', 1)];
    const plan = planOf([`${P99} over 1s in one`, `${P99} over 1s in two`], stages);
    const judge = new Judge({ plan, agents: ['a'] });
    judge.add('a', sliceOf({ n: 0 }, good));
    judge.add('a', sliceOf({ n: 1 }, good));
    const second = times('publish_time', [1], { stage: 1 });
    judge.add('a', sliceOf({ stage: 1, n: 0, startS: 2 }, [times('publish_time', [900]), second]));
    judge.add('a', sliceOf({ stage: 1, n: 1, startS: 2 }, [second]));
    expect(judge.finish().map((result) => result.state)).toEqual(['fail', 'pass']);
  });

  it('with "for" fail only in a row', () => {
    const text = `${P99} over 1s for 2`;
    expect(judged(text, [bad, good, bad, good, bad])).toMatchObject({
      state: 'pass',
      failedWindows: 3,
    });
    expect(judged(text, [bad, good, bad, bad, good])).toMatchObject({
      state: 'fail',
      failedWindows: 3,
    });
    expect(judged(text, [good, bad, bad]).state).toBe('fail');
  });

  it('do not let a row go on in the next stage', () => {
    const stages = [stageOf('one', 0), stageOf('two', 1)];
    const judge = new Judge({ plan: planOf([`${P99} over 1s for 2`], stages), agents: ['a'] });
    const slow = times('publish_time', [900], { stage: 1 });
    judge.add('a', sliceOf({ n: 0 }, good));
    judge.add('a', sliceOf({ n: 1 }, bad));
    judge.add('a', sliceOf({ stage: 1, n: 0, startS: 2 }, [slow]));
    judge.add(
      'a',
      sliceOf({ stage: 1, n: 1, startS: 2 }, [times('publish_time', [1], { stage: 1 })]),
    );
    expect(only(judge.finish())).toMatchObject({ state: 'pass', failedWindows: 2 });
  });

  it('with "slo" may fail in their share', () => {
    const seconds = [...repeat(98, good), bad, bad];
    expect(judged(`${P99} over 1s slo 98%`, seconds).state).toBe('pass');
    expect(judged(`${P99} over 1s slo 98.1%`, seconds).state).toBe('fail');
    expect(judged(`${P99} over 1s for 2 slo 99%`, seconds).state).toBe('fail');
    expect(judged(`${P99} over 1s for 3 slo 99%`, seconds).state).toBe('pass');
  });

  it('with "after" are judged from then on', () => {
    const seconds = [bad, bad, good, good];
    expect(judged(`${P99} over 1s after 2s`, seconds)).toMatchObject({ state: 'pass', windows: 2 });
    expect(judged(`${P99} over 1s after 1s`, seconds)).toMatchObject({ state: 'fail', windows: 3 });
    expect(judged(`${P99} over 1s after 1500ms`, seconds)).toMatchObject({
      state: 'pass',
      windows: 2,
    });
  });

  it('with a warning leave the verdict alone', () => {
    expect(judged(`${P99} over 1s warn`, [bad])).toMatchObject({ state: 'warn', leadsTo: 'warn' });
  });

  it('with too few samples are inconclusive, never passed', () => {
    const plan = planOf([{ text: `${P99} over 1s`, minSamples: 3 }]);
    const few: Second = [times('publish_time', [1])];
    expect(only(judgeSeconds(plan, [good, few, good])).state).toBe('inconclusive');
    expect(only(judgeSeconds(plan, [good, few, bad, good])).state).toBe('fail');
    expect(only(judgeSeconds(plan, [good, good])).state).toBe('pass');
    const whole = planOf([{ text: P99, minSamples: 4 }]);
    expect(only(judgeSeconds(whole, [good])).state).toBe('inconclusive');
    expect(only(judgeSeconds(whole, [good, good])).state).toBe('pass');
  });

  it('sum gauges over agents before they are judged', () => {
    const plan = planOf(['connections: min >= 20 over 2s', 'connections: max < 20']);
    const judge = new Judge({ plan, agents: ['a', 'b'] });
    for (const n of [0, 1, 2, 3]) {
      judge.add('a', sliceOf({ n }, [counter('connections', 12)]));
      judge.add('b', sliceOf({ n }, [counter('connections', n === 2 ? 7 : 8)]));
    }
    const [least, most] = judge.finish();
    expect(least).toMatchObject({ state: 'fail', failedWindows: 1, observed: 19 });
    expect(most).toMatchObject({ state: 'fail', observed: 20 });
  });

  it('do not add the gauges of a stage that drains to those of the stage that runs', () => {
    const stages = [stageOf('one', 0), stageOf('two', 1)];
    const plan = planOf(
      ['connections: max <= 5 in two', 'connections: max <= 5 over 1s in two'],
      stages,
    );
    const judge = new Judge({ plan, agents: ['a'] });
    judge.add('a', sliceOf({ n: 0 }, [counter('connections', 5)]));
    const both = [counter('connections', 5), counter('connections', 5, { stage: 1 })];
    judge.add('a', sliceOf({ stage: 1, n: 0, startS: 1 }, both));
    expect(judge.finish().map((result) => result.state)).toEqual(['pass', 'pass']);
  });

  it('find the seconds in which a gauge was 0 and nobody said so', () => {
    const seconds = [[counter('connections', 5)], [], [counter('connections', 5)]];
    expect(judged('connections: min > 0', seconds)).toMatchObject({ state: 'fail', observed: 0 });
    expect(judged('connections: min > 0 over 1s', seconds).state).toBe('fail');
  });
});

describe('a broker that stops answering', () => {
  const due = counter('scheduled', 10);
  const done = counter('published', 10);
  const answered: Second = [due, done, times('publish_time', [5])];
  const silent: Second = [due];
  const burst: Second = [due, counter('published', 50), times('publish_time', repeat(50, 4_500))];

  it('leaves no gap in a row of failed windows', () => {
    const seconds = [answered, silent, silent, silent, silent, burst, answered];
    const result = judged('publish_time: p(99) < 500ms over 1s for 3', seconds);
    // The first silent second only begins the wait; three more and the burst are in a row.
    expect(result).toMatchObject({ state: 'fail', failedWindows: 4 });
  });

  it('is not blamed for a second in which nothing was due', () => {
    const seconds = [answered, [], [], [], answered];
    expect(judged('publish_time: p(99) < 500ms over 1s', seconds)).toMatchObject({
      state: 'pass',
      windows: 2,
    });
  });

  it('is not blamed for waiting less than the limit', () => {
    const slow: Second = [due, done, times('publish_time', [3_000])];
    const seconds = [silent, silent, silent, slow, slow];
    expect(judged('publish_time: p(99) < 5s over 1s', seconds).state).toBe('pass');
  });

  it.each([
    ['t/#', 'fail'],
    ['t/+', 'fail'],
    ['t/{{n}}', 'fail'],
    ['t/7', 'fail'],
    ['#', 'fail'],
    ['$share/g/t/#', 'fail'],
    ['t', 'pass'],
    ['t/+/+', 'pass'],
    ['other/#', 'pass'],
  ])('is seen by subscribers of %s, if what is sent may be for them: %s', (topic, state) => {
    const plan = planOf(['delivery_time: p(99) < 500ms over 1s for 3 in publish']);
    const groups = plan.groups.map((group) => ({
      ...group,
      subscribe: group.subscribe.map((entry) => ({ ...entry, topics: [topic] })),
    }));
    const going = counter('sent', 10);
    const delivered: Second = [going, times('delivery_time', [5], { subject: 'readers' })];
    const seconds = [delivered, [going], [going], [going], [going], delivered];
    expect(only(judgeSeconds({ ...plan, groups }, seconds)).state).toBe(state);
    const quiet = [delivered, [], [], [], [], delivered];
    expect(only(judgeSeconds({ ...plan, groups }, quiet)).state).toBe('pass');
  });

  it('is seen by the whole stage when the messages come back in the drain', () => {
    const seconds = [answered, silent, silent];
    const settle: Second[] = [[times('publish_time', [3_000]), counter('published', 20)]];
    expect(judged('publish_time: p(99) < 500ms over 1s', seconds, { settle }).state).toBe('fail');
  });
});

describe('agents that report late, or no more', () => {
  const text = 'publish_failed: count == 0 over 2s';
  const failure = [counter('publish_failed', 1, { reason: 'x' })];

  it('have their measurements put into the window where they belong', () => {
    const judge = new Judge({ plan: planOf([text]), agents: ['a', 'b'] });
    for (let n = 0; n < 20; n++) judge.add('a', sliceOf({ n }));
    for (let n = 0; n < 20; n++) judge.add('b', sliceOf({ n }, n === 5 ? failure : []));
    const result = only(judge.finish());
    expect(result).toMatchObject({ state: 'fail', windows: 10, failedWindows: 1 });
    expect(result.worst).toMatchObject({ fromUs: 4_000_000, toUs: 6_000_000 });
  });

  it('are waited for only so long that memory stays bounded, and then nothing passes', () => {
    const judge = new Judge({ plan: planOf([text]), agents: ['a', 'b'] });
    for (let n = 0; n < 200; n++) judge.add('a', sliceOf({ n }));
    for (let n = 0; n < 200; n++) judge.add('b', sliceOf({ n }, n === 5 ? failure : []));
    expect(only(judge.finish())).toMatchObject({ state: 'inconclusive', windows: 100 });
  });

  it('are not waited for once they are lost', () => {
    const judge = new Judge({ plan: planOf([`${text} abort`]), agents: ['a', 'b'] });
    judge.add('a', sliceOf({ n: 0 }));
    judge.add('a', sliceOf({ n: 1 }, failure));
    judge.add('a', sliceOf({ n: 2 }));
    expect(judge.advance(2_100_000)).toBeNull();
    judge.agentLost('b');
    expect(judge.advance(2_100_000)).not.toBeNull();
  });

  it('and merged slices are not trusted to have kept windows apart', () => {
    const judge = new Judge({ plan: planOf([`${P99} over 2s`]), agents: ['a'] });
    judge.add('a', sliceOf({ n: 0 }, good));
    judge.add('a', sliceOf({ n: 1, span: 4 }, good));
    judge.add('a', sliceOf({ n: 5 }, good));
    expect(only(judge.finish())).toMatchObject({ state: 'inconclusive' });
  });
});

describe('abort', () => {
  const text = 'publish_failed: count == 0 over 2s abort';
  const failure = [counter('publish_failed', 1, { reason: 'x' })];

  it('comes as soon as all live agents have reported a broken window', () => {
    const judge = new Judge({ plan: planOf([text]), agents: ['a', 'b'] });
    for (const n of [0, 1]) {
      judge.add('a', sliceOf({ n }, failure));
      expect(judge.advance((n + 1) * 1_000_000)).toBeNull();
    }
    judge.add('b', sliceOf({ n: 0 }));
    expect(judge.advance(2_000_000)).toBeNull();
    judge.add('b', sliceOf({ n: 1 }));
    const decision = judge.advance(2_000_000);
    expect(decision?.threshold).toBe(text);
    expect(decision?.reason).toContain('count = 2');
    expect(judge.advance(2_000_000)).toBeNull();
  });

  it('comes 3 s after the end of a window that not everyone reported', () => {
    const judge = new Judge({ plan: planOf([text]), agents: ['a', 'b'] });
    judge.add('a', sliceOf({ n: 0 }, failure));
    judge.add('a', sliceOf({ n: 1 }));
    expect(judge.advance(4_900_000)).toBeNull();
    expect(judge.advance(5_000_000)).not.toBeNull();
  });

  it('does not come before the row is long enough, nor before "after"', () => {
    const plan = planOf(['publish_failed: count == 0 over 1s for 3 abort after 2s']);
    const judge = new Judge({ plan, agents: ['a'] });
    const decisions = [0, 1, 2, 3, 4].map((n) => {
      judge.add('a', sliceOf({ n }, failure));
      return judge.advance((n + 1) * 1_000_000) !== null;
    });
    expect(decisions).toEqual([false, false, false, false, true]);
  });

  it('never comes for a threshold without it, nor for one without data', () => {
    const plan = planOf(['publish_failed: count == 0 over 1s', `${P99} over 1s abort`]);
    const judge = new Judge({ plan, agents: ['a'] });
    for (const n of [0, 1, 2]) judge.add('a', sliceOf({ n }, failure));
    expect(judge.advance(60_000_000)).toBeNull();
  });

  it('stays a failure in the results, even when late measurements look milder', () => {
    const plan = planOf(['sent: rate >= 10/s over 2s abort']);
    const judge = new Judge({ plan, agents: ['a', 'b'] });
    for (const n of [0, 1]) judge.add('a', sliceOf({ n }, [counter('sent', 5)]));
    expect(judge.advance(5_000_000)).not.toBeNull();
    for (const n of [0, 1]) judge.add('b', sliceOf({ n }, [counter('sent', 5)]));
    expect(only(judge.finish())).toMatchObject({
      state: 'fail',
      leadsTo: 'fail',
      aborted: true,
      observed: 5,
      failedWindows: 1,
    });
  });
});

describe('a threshold that ended the run', () => {
  it('is told by one figure, as it was then', () => {
    const plan = planOf(['publish_time: p(50) < 1ms over 2s abort']);
    const judge = new Judge({ plan, agents: ['a', 'b'] });
    for (const n of [0, 1]) judge.add('a', sliceOf({ n }, [times('publish_time', [2])]));
    const decision = judge.advance(5_000_000);
    for (const n of [0, 1, 2, 3]) judge.add('b', sliceOf({ n }, [times('publish_time', [7, 7])]));
    const { observedText } = only(judge.finish());
    expect(observedText).toMatch(/^p\(50\) = 2/);
    expect(decision?.reason).toContain(observedText);
  });
});

describe('what stands where there is no figure', () => {
  const few: Second = [times('publish_time', [1, 1])];
  it.each([
    ['publish_time: p(99) < 1s', 5, few, '2 samples (min_samples: 5)'],
    ['publish_time: p(99) < 1s over 1s', 5, few, '2 samples (min_samples: 5)'],
    [
      'publish_failed: share < 1%',
      1_000,
      [counter('sent', 120)],
      '120 samples (min_samples: 1,000)',
    ],
  ] as const)('%s with too few samples says how many', (text, minSamples, series, observedText) => {
    expect(only(judgeSeconds(planOf([{ text, minSamples }]), [series]))).toMatchObject({
      state: 'inconclusive',
      observed: null,
      observedText,
    });
  });

  it('tells two lines apart that differ in no_data only', () => {
    const text = 'publish_time: p(99) < 1s';
    const plan = planOf([text, { text, noData: 'pass' }, `${text} warn`]);
    expect(judgeSeconds(plan, [[]]).map((one) => [one.leadsTo, one.observedText])).toEqual([
      ['fail', 'no data'],
      ['pass', 'no data (no_data: pass)'],
      ['warn', 'no data (a warning only)'],
    ]);
  });
});

describe('delivery times and clocks', () => {
  const stages = [stageOf('connect', 0, { kind: 'connect' }), stageOf('publish', 1)];

  /** Deliveries to one subject or another, the times of each read with an error of so much. */
  function judgeOf(text: string, bounds: Readonly<Record<string, number>>): Judge {
    const judge = new Judge({ plan: planOf([text], stages), agents: ['a'] });
    judge.add('a', sliceOf({ n: 0 }));
    const series = Object.entries(bounds).map(([subject, boundUs]) => {
      const one = times('delivery_time', [5], { subject, stage: 1 });
      return boundUs === 0 ? one : { ...one, histogram: { ...theTimesOf(one), boundUs } };
    });
    judge.add('a', sliceOf({ stage: 1, n: 0, startS: 1 }, series));
    return judge;
  }

  function result(text: string, bounds: Readonly<Record<string, number>>) {
    return only(judgeOf(text, bounds).finish());
  }

  it('pass where the limit is wide enough for the clocks', () => {
    expect(result('delivery_time: max < 10ms', { readers: 5_000 }).state).toBe('pass');
    expect(result('delivery_time: max < 6ms', { readers: 0 }).state).toBe('pass');
  });

  it('are inconclusive below twice the bound, passed or failed', () => {
    for (const text of ['delivery_time: max < 10ms', 'delivery_time: max < 1ms']) {
      const { state, leadsTo, remark } = result(text, { readers: 5_001 });
      expect({ state, leadsTo }).toEqual({ state: 'inconclusive', leadsTo: 'inconclusive' });
      expect(remark).toContain('clocks');
    }
  });

  it('are measured against the bound of what their line speaks of', () => {
    const bounds = { readers: 100, devices: 50_000 };
    expect(result('delivery_time{group=readers}: max < 10ms', bounds).state).toBe('pass');
    expect(result('delivery_time: max < 10ms', bounds).state).toBe('inconclusive');
  });

  it('count whatever the clocks say', () => {
    expect(result('delivery_time: count >= 1', { readers: 50_000 }).state).toBe('pass');
  });

  it('keep their bound and a doubt over a restart of the controller', () => {
    const text = 'delivery_time: max < 10ms';
    const again = (judge: Judge) => {
      const state: unknown = JSON.parse(JSON.stringify(judge));
      return new Judge({ plan: planOf([text], stages), agents: ['a'] }, judgeState.parse(state));
    };
    expect(only(again(judgeOf(text, { readers: 5_001 })).finish()).state).toBe('inconclusive');
    const doubted = judgeOf(text, { readers: 0 });
    doubted.doubtClocks('the clocks went mad');
    expect(only(again(doubted).finish()).remark).toBe('the clocks went mad');
  });

  it('end no run while nothing certain can be said of them', () => {
    const text = 'delivery_time: max < 1us over 1s abort';
    expect(judgeOf(text, { readers: 0 }).advance(60_000_000)).not.toBeNull();
    expect(judgeOf(text, { readers: 5 }).advance(60_000_000)).toBeNull();
  });
});

describe('the ledger', () => {
  it('is not built yet, so what it would count never passes', () => {
    expect(judged('lost: count == 0', [[], []])).toMatchObject({
      state: 'inconclusive',
      leadsTo: 'inconclusive',
    });
  });
});

function theTimesOf({ histogram }: SeriesDelta): SparseHistogram {
  if (histogram === undefined) throw new Error('no times');
  return histogram;
}
