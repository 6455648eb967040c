import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** What a worker loads costs memory and start-up time once a core of every load generator. */
const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const WORKER = path.join(root, 'packages', 'agent', 'dist', 'worker', 'main.js');
const IMPORT = /^\s*(?:import|export)\s(?:[^'"]*?\sfrom\s)?['"]([^'"]+)['"]/gm;

test('a worker loads the data path, and nothing that only the control path needs', () => {
  const { files, packages } = loadedFrom(WORKER);
  expect([...packages].toSorted()).toEqual(['@squall/core', '@squall/mqtt', '@squall/rocketmq']);
  const rooms = [...files].map((file) => path.relative(root, file));
  expect(rooms.filter((file) => /\/(control|report|thresholds|plan)\//.test(file))).toEqual([]);
  expect(rooms.length).toBeGreaterThan(20);
});

/** The files of the repository that a module loads, and the packages that it names. */
function loadedFrom(entry: string) {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      if (name.startsWith('node:')) continue;
      if (!name.startsWith('.')) packages.add(name.split('/').slice(0, 2).join('/'));
      const isOurs = name.startsWith('.') || name.startsWith('@squall/');
      if (isOurs) waiting.push(built(createRequire(file).resolve(name)));
    }
  }
  return { files, packages };
}

/** Tests resolve packages to their sources; here the built form is looked at, types erased. */
function built(file: string): string {
  return file.replace(/\/src\/(.*)\.ts$/, '/dist/$1.js');
}
