import { stageNeeds } from '@squall/core/schedule';
import { describe, expect, test } from 'vitest';
import { StageTimeline } from '../../src/worker/engine/stage-timeline.ts';
import { groupOf, planOf, publishing, streamOf } from './fixture/plan.ts';

const group = groupOf({ publish: [streamOf()] });
const publish = [{ group: 0, activities: [publishing(group)] }];
const connect = [{ group: 0, activities: [{ kind: 'connect' as const }] }];

function timelineOf(stages: Parameters<typeof planOf>[0]['stages']) {
  const plan = planOf({ groups: [group], stages });
  const told: string[] = [];
  const timeline = new StageTimeline(plan.stages, stageNeeds(plan), {
    onCut: ({ stage, phase, n, fromUs, toUs }) =>
      told.push(`${phase} ${stage}/${n} ${fromUs / 1e6}–${toUs / 1e6}`),
    onEnter: (stage, atUs) => told.push(`enter ${stage} at ${atUs / 1e6}`),
    onClock: (stage, atUs) => told.push(`clock ${stage} at ${atUs / 1e6}`),
    onEnd: (stage, { atUs, forUs }) =>
      told.push(`end ${stage} at ${atUs / 1e6}${forUs === null ? '' : ' by for'}`),
    onSettle: (atUs) => told.push(`settle at ${atUs / 1e6}`),
  });
  const passTo = (us: number): string[] => {
    while (timeline.nextUs() <= us) timeline.pass();
    return told.splice(0);
  };
  return { timeline, passTo };
}

describe('stage timeline', () => {
  test('changes stages with `for` by itself and leaves the others to the controller', () => {
    const { timeline, passTo } = timelineOf([{ run: connect }, { run: publish, forUs: 1.5e6 }]);
    expect(passTo(1e9)).toEqual([]);
    timeline.advance(0, 10e6);
    expect(passTo(12.2e6)).toEqual([
      'enter 0 at 10',
      'clock 0 at 10',
      'main 0/0 0–1',
      'main 0/1 1–2',
    ]);
    timeline.advance(1, 12.5e6);
    expect(passTo(15e6)).toEqual([
      'main 0/2 2–2.5',
      'end 0 at 12.5',
      'enter 1 at 12.5',
      'clock 1 at 12.5',
      'main 1/0 2.5–3.5',
      'main 1/1 3.5–4',
      'end 1 at 14 by for',
      'settle at 14',
      'settle 1/0 4–5',
    ]);
  });

  test('counts a prologue from its start and the stage from its clock', () => {
    const { timeline, passTo } = timelineOf([{ run: publish, forUs: 1e6 }]);
    timeline.advance(0, 0);
    timeline.clock(0, 1.25e6);
    expect(passTo(2.3e6)).toEqual([
      'enter 0 at 0',
      'prologue 0/0 0–1',
      'prologue 0/1 1–1.25',
      'clock 0 at 1.25',
      'main 0/0 1.25–2.25',
      'end 0 at 2.25 by for',
      'settle at 2.25',
    ]);
  });

  test('takes an early end of the load wherever it is, before the start, too', () => {
    const early = timelineOf([{ run: publish, forUs: 10e6 }]);
    early.timeline.stop(3e6);
    expect(early.passTo(4e6)).toEqual(['settle at 3', 'settle 0/0 0–1']);
    const inside = timelineOf([{ run: connect, forUs: 10e6 }, { run: publish }]);
    inside.timeline.advance(0, 0);
    inside.passTo(0.5e6);
    inside.timeline.stop(0.7e6);
    expect(inside.passTo(0.8e6)).toEqual(['main 0/0 0–0.7', 'end 0 at 0.7', 'settle at 0.7']);
    inside.timeline.advance(1, 5e6);
    expect(inside.passTo(1.5e6)).toEqual([]);
  });

  test('cuts no overlapping slices when a command comes late', () => {
    const { timeline, passTo } = timelineOf([{ run: connect }, { run: connect }]);
    timeline.advance(0, 0);
    passTo(3.1e6);
    timeline.advance(1, 2.5e6);
    expect(passTo(4.1e6)).toEqual([
      'end 0 at 2.5',
      'enter 1 at 2.5',
      'clock 1 at 2.5',
      'main 1/0 3–3.5',
    ]);
  });

  test('ignores old news', () => {
    const { timeline, passTo } = timelineOf([{ run: connect }, { run: connect }]);
    timeline.advance(1, 0);
    passTo(0.1e6);
    timeline.advance(0, 0.2e6);
    timeline.clock(0, 0.3e6);
    expect(passTo(0.9e6)).toEqual([]);
  });
});
