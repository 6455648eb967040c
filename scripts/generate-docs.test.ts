import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { tuningScript } from '../packages/agent/src/host/index.ts';
import { BENCH_FLAGS } from '../packages/cli/src/bench/flags.ts';
import { TOOL_FLAGS } from '../packages/cli/src/rocketmq/flag-table.ts';
import { openApiDocument } from '../packages/controller/src/rest/openapi.ts';
import { METRICS, REASONS } from '../packages/core/src/metrics/index.ts';
import { planJsonSchema } from '../packages/core/src/plan/index.ts';
import { reportSchema } from '../packages/core/src/report/index.ts';
import { referenceFiles } from './docs/reference.js';

/** The reference is generated from the schemas: where this fails, run `npm run build && npm run docs`. */
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const files = referenceFiles({
  planSchema: planJsonSchema(),
  reportSchema: reportSchema.toJSONSchema(),
  metrics: METRICS,
  reasons: REASONS,
  openApi: await openApiDocument(versionOf('package.json')),
  benchFlags: BENCH_FLAGS,
  toolFlags: TOOL_FLAGS,
  errorSource: readFileSync(path.join(root, 'packages/core/src/errors/squall-error.ts'), 'utf8'),
});

function versionOf(file: string): string {
  return (JSON.parse(readFileSync(path.join(root, file), 'utf8')) as { version: string }).version;
}

test.each(Object.entries(files))('docs/reference/%s is what the schemas say', (name, text) => {
  expect(readFileSync(path.join(root, 'docs', 'reference', name), 'utf8')).toBe(text);
});

test('deploy/tune/squall-tune.sh is what squall doctor --fix prints', () => {
  const file = path.join(root, 'deploy', 'tune', 'squall-tune.sh');
  expect(readFileSync(file, 'utf8')).toBe(tuningScript());
});

test('every key of a plan has a meaning', () => {
  expect(keysWithoutMeaning(planJsonSchema(), '')).toEqual([]);
});

function keysWithoutMeaning(schema: unknown, at: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, child]: [string, unknown]) => {
    if (key !== 'properties') return keysWithoutMeaning(child, `${at}/${key}`);
    return Object.entries(child as Record<string, { description?: string }>).flatMap(
      ([name, value]) => [
        ...(value.description === undefined ? [`${at}/${name}`] : []),
        ...keysWithoutMeaning(value, `${at}/${name}`),
      ],
    );
  });
}

test('every reference inside the OpenAPI document leads somewhere', () => {
  const text = files['openapi.json'] ?? '';
  const { components } = JSON.parse(text) as { components: { schemas: Record<string, unknown> } };
  const named = [...text.matchAll(/#\/components\/schemas\/([A-Za-z]+)/g)].map((match) => match[1]);
  expect(named.filter((name) => !Object.hasOwn(components.schemas, name ?? ''))).toEqual([]);
  expect(named.length).toBeGreaterThan(30);
});
