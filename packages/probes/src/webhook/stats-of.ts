import { isMap, type JsonMap, numberIn } from '../http/json-value.ts';
import { ProbeError } from '../probe.ts';
import type { HookFigures, HookLatency } from './stats.ts';

/** The statistics of a hook out of what its page says. @throws ProbeError where it is another page */
export function statsOf(answer: JsonMap): HookFigures {
  const { badBodies, hookLatency } = answer;
  if (!isMap(badBodies) || !isMap(hookLatency)) throw notOurs('it has no latency of a hook');
  return {
    requests: countIn(answer, 'requests'),
    refused: countIn(answer, 'refused'),
    bytes: countIn(answer, 'bytes'),
    messages: countIn(answer, 'messages'),
    unique: countIn(answer, 'unique'),
    duplicated: countIn(answer, 'duplicated'),
    lost: countIn(answer, 'lost'),
    corrupted: countIn(answer, 'corrupted'),
    foreign: countIn(answer, 'foreign'),
    untracked: countIn(answer, 'untracked'),
    forgotten: countIn(answer, 'forgotten'),
    untimed: countIn(answer, 'untimed'),
    badBodies: Object.fromEntries(
      Object.keys(badBodies).map((reason) => [reason, countIn(badBodies, reason)]),
    ),
    hookLatency: latencyOf(hookLatency),
  };
}

function latencyOf(map: JsonMap): HookLatency {
  return {
    count: countIn(map, 'count'),
    minUs: countIn(map, 'minUs'),
    meanUs: countIn(map, 'meanUs'),
    p50Us: countIn(map, 'p50Us'),
    p90Us: countIn(map, 'p90Us'),
    p95Us: countIn(map, 'p95Us'),
    p99Us: countIn(map, 'p99Us'),
    p999Us: countIn(map, 'p999Us'),
    maxUs: countIn(map, 'maxUs'),
    negative: countIn(map, 'negative'),
    boundUs: countIn(map, 'boundUs'),
  };
}

function countIn(map: JsonMap, key: string): number {
  const value = numberIn(map, key);
  if (value === null) throw notOurs(`it says nothing of ${key}`);
  return value;
}

const notOurs = (detail: string): ProbeError => new ProbeError('not a page of squall sink', detail);
