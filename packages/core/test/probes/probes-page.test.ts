import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ProbeSource } from '../../src/plan/index.ts';
import { figuresOf, PRESETS } from '../../src/probes/index.ts';

const page = readFileSync(new URL('../../../../docs/probes.md', import.meta.url), 'utf8');
const named = new Set([...page.matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text));

const url = 'http://h';
const SOURCES: readonly ProbeSource[] = [
  { type: 'nginx', url },
  { type: 'node', url },
  { type: 'host', agent: 'a', labels: {} },
  { type: 'webhook', url, listen: null },
  { type: 'emqx', url, rules: [], sinks: [] },
  { type: 'mosquitto', url },
  { type: 'rabbitmq', url },
  { type: 'rocketmq', nameServers: [], acl: null, tls: null, topics: ['t'], groups: ['g'] },
];

test.each(SOURCES)('docs/probes.md tells every figure of $type', (source) => {
  expect(Object.keys(figuresOf(source)).filter((name) => !named.has(name))).toEqual([]);
});

test.each(Object.entries(PRESETS))(
  'docs/probes.md tells every figure of the preset %s',
  (name, figures) => {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
    const missing = Object.keys(figures).filter((figure) => !row.includes(`\`${figure}\``));
    expect(missing).toEqual([]);
  },
);
