import { readPlan } from '@squall/core/plan';
import { expect, it } from 'vitest';
import { namesOfRun } from '../../src/clean/rocketmq-names.ts';
import { RenderContext } from '../../src/worker/publish/render-context.ts';

const PLAN = `
squall: 1
name: names
targets: { rocketmq: { protocol: rocketmq, nameServers: ["127.0.0.1:9876"], create: {} } }
groups:
  producers:
    target: rocketmq
    clients: 1
    publish:
      - { name: own, topic: "load-{{run}}", payload: 100B, rate: 1/s }
      - { name: made, topic: made-here, payload: 100B, rate: 1/s }
      - { name: old, topic: old-topic, payload: 100B, rate: 1/s }
  consumers:
    target: rocketmq
    clients: 1
    consume:
      - { name: own, topic: old-topic, group: "readers-{{run}}" }
      - { name: old, topic: made-here, group: old-group }
stages: [{ name: load, run: { producers: publish.own }, for: 1s }]
`;

function names(index: number) {
  const read = readPlan(PLAN);
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  const group = read.plan.groups[index];
  const target = read.plan.targets['rocketmq'];
  if (group === undefined || target === undefined) throw new Error('no group, no target');
  const context = new RenderContext({
    group,
    target,
    shortRun: 'abcd',
    secrets: {},
    vars: {},
    seed: 1,
  });
  const { topics, groups } = namesOfRun(group, context, new Set(['topic made-here']));
  return { topics: [...topics], groups: [...groups] };
}

it('names with the run in them, and those that it made, are its own; others stay', () => {
  expect(names(0)).toEqual({ topics: ['load-abcd', 'made-here'], groups: [] });
});

it('a group of the run takes its retry and dead-letter topics with it', () => {
  expect(names(1)).toEqual({
    topics: ['%RETRY%readers-abcd', '%DLQ%readers-abcd', 'made-here'],
    groups: ['readers-abcd'],
  });
});
