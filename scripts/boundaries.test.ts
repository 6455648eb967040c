import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';

/**
 * The walls between the rooms are kept by oxlint (folder rules) and tsc (purity of core). A rule that
 * never fires looks just like one that holds, so each is seen here to fail on a file that crosses it,
 * in a house of paper that has the project's own configuration and nothing else.
 */
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const paper = mkdtempSync(path.join(tmpdir(), 'squall-walls-'));
for (const file of ['.oxlintrc.json', 'tsconfig.base.json', 'packages/core/tsconfig.json']) {
  cpSync(path.join(root, file), path.join(paper, file), { recursive: true });
}

const CROSSINGS = [
  ['core', 'node:fs', 'core is pure'],
  ['core', 'node:fs/promises', 'core is pure'],
  ['core', '@squall/agent', 'ground floor'],
  ['mqtt', '@squall/core/plan', 'knows nothing of load tests'],
  ['mqtt', 'mqtt-packet', 'oracles in tests'],
  ['mqtt', './testing/index.ts', 'made for tests'],
  ['agent', '@squall/mqtt/testing', 'made for tests'],
  ['rocketmq', '@squall/core/plan', 'knows nothing of load tests'],
  ['rocketmq', '@squall/mqtt', 'knows nothing of load tests'],
  ['rocketmq', './testing/index.ts', 'made for tests'],
  ['agent', '@squall/rocketmq/testing', 'made for tests'],
  ['rocketmq/src/codec', 'node:net', 'The wire is pure'],
  ['rocketmq/src/codec', '../connections/connection.ts', 'The wire is pure'],
  ['agent', '@squall/controller', 'meet only in'],
  ['agent', '@squall/cli', 'meet only in'],
  ['controller', '@squall/agent', 'meet only in'],
  ['controller', '@squall/mqtt', 'meet only in'],
  ['controller', '@squall/rocketmq', 'meet only in'],
  ['import', '@squall/agent', 'knows the plan and nothing else'],
  ['import', 'node:fs', 'opens no file'],
  ['report', '@squall/controller', 'knows the report and nothing else'],
  ['report', 'node:fs', 'opens no file'],
  ['probes', '@squall/mqtt', 'A probe reads servers'],
  ['probes', '@squall/controller', 'A probe reads servers'],
  ['redis-bus', '@squall/agent', 'knows nothing of'],
  ['redis-bus', '@squall/rocketmq', 'knows nothing of'],
  ['redis-bus', '@squall/controller', 'knows nothing of'],
] as const;

afterAll(() => rmSync(paper, { recursive: true, force: true }));

describe('walls between the rooms', () => {
  test.each(CROSSINGS)('%s may not import %s', (room, imported, message) => {
    const result = lint(room, `import { thing } from '${imported}';\nexport const use = thing;\n`);
    expect(result.output).toContain(message);
    expect(result.status).not.toBe(0);
  });

  test.each(['agent', 'controller'])('%s may import core and node', (room) => {
    const text = `import { split } from '@squall/core/partition';\nimport { connect } from 'node:net';\nexport const use = [split, connect];\n`;
    const result = lint(room, text);
    expect(result.output).toContain('Found 0 warnings and 0 errors');
    expect(result.status).toBe(0);
  });

  test('probes may ask RocketMQ through our own client', () => {
    const text = `import { RocketmqClient } from '@squall/rocketmq';\nexport const use = RocketmqClient;\n`;
    expect(lint('probes', text).output).toContain('Found 0 warnings and 0 errors');
  });

  test.each([
    ['a process', 'process.hrtime.bigint()', "Cannot find name 'process'"],
    ['a timer', 'setTimeout(() => undefined, 1)', "Cannot find name 'setTimeout'"],
    ['a clock', 'performance.now()', "Cannot find name 'performance'"],
  ])('the compiler keeps %s out of core', (_what, expression, message) => {
    plant('core', `export const use = (): unknown => ${expression};\n`);
    const result = run('tsc', ['-p', path.join(paper, 'packages', 'core')]);
    expect(result.output).toContain(message);
    expect(result.status).not.toBe(0);
  });
});

function lint(room: string, text: string) {
  return run('oxlint', [plant(room, text)]);
}

function plant(room: string, text: string): string {
  // `rocketmq/src/codec` is a room inside a room.
  const folder = path.join(paper, 'packages', room, room.includes('/') ? '' : 'src');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'crossing.ts');
  writeFileSync(file, text);
  return path.relative(paper, file);
}

function run(tool: string, args: readonly string[]) {
  const program = path.join(root, 'node_modules', '.bin', tool);
  const result = spawnSync(program, args, { cwd: paper, encoding: 'utf8' });
  return { status: result.status, output: `${result.stdout}${result.stderr}` };
}
