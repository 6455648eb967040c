import { beforeEach, describe, expect, it } from 'vitest';
import { StageStates, type WorkerStageState } from '../../src/main/stage-states.ts';

let told: WorkerStageState[];
let states: StageStates;

beforeEach(() => {
  told = [];
  states = new StageStates((state) => told.push(state));
});

describe('states of a stage over the workers', () => {
  it('are told once, when the last worker has reached them, with failures added', () => {
    states.reached(0, { stage: 1, state: 'complete', failed: { a: 2 } }, [0, 1]);
    expect(told).toEqual([]);
    states.reached(1, { stage: 1, state: 'complete', failed: { a: 1, b: 4 } }, [0, 1]);
    states.reached(1, { stage: 1, state: 'complete', failed: { a: 1, b: 4 } }, [0, 1]);
    expect(told).toEqual([{ stage: 1, state: 'complete', failed: { a: 3, b: 4 } }]);
  });

  it('are not held up by a worker that is gone, whose failures stay counted', () => {
    states.reached(0, { stage: 0, state: 'prologue_done', failed: { a: 1 } }, [0, 1, 2]);
    states.reached(1, { stage: 0, state: 'prologue_done', failed: { a: 1 } }, [0, 1, 2]);
    states.review([1]);
    expect(told).toEqual([{ stage: 0, state: 'prologue_done', failed: { a: 2 } }]);
  });

  it('are not told by nobody', () => {
    states.reached(0, { stage: 0, state: 'complete', failed: {} }, [0, 1]);
    states.review([]);
    expect(told).toEqual([]);
  });
});
