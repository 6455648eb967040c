/**
 * The states of aggregate, judge and generator watch, as they come back from a store: checked field by
 * field. A room of its own, because a worker, which measures, must not load what checks.
 */
export { aggregateState } from './aggregate-state.ts';
export { generatorState } from './generator-state.ts';
export { judgeState } from './judge-state.ts';
