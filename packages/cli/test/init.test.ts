import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readPlan } from '@squall/core/plan';
import { afterAll, describe, expect, test } from 'vitest';
import { initCommand, type InitOptions } from '../src/commands/init.ts';
import type { Terminal } from '../src/terminal/terminal.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'squall-init-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const newFile = () => path.join(folder, `plan-${++files}.yaml`);

async function made(options: InitOptions, file = newFile()): Promise<string> {
  let printed = '';
  const terminal = {
    out: { isTTY: false },
    print: (text: string) => {
      printed += text;
    },
  };
  await initCommand(file, options, terminal as unknown as Terminal);
  expect(printed).toContain(`squall run ${file}`);
  return readFileSync(file, 'utf8');
}

describe('squall init', () => {
  const every = ['mqtt', 'rocketmq'].flatMap((protocol) =>
    ['0', '1', '2'].flatMap((qos) => ['yes', 'no'].map((verify) => ({ protocol, qos, verify }))),
  );

  test.each(every)('writes a plan that is right: %j', async (answers) => {
    const read = readPlan(await made(answers));
    expect(read).toMatchObject({ ok: true, warnings: [] });
  });

  test('takes what is given', async () => {
    const text = await made({ broker: 'mqtts://h:8883', clients: '10k', every: '2s', for: '10m' });
    const read = readPlan(text);
    if (!read.ok) throw new Error(text);
    expect(read.plan).toMatchObject({
      vars: { broker: 'mqtts://h:8883' },
      groups: [{ clients: 10_000 }, { clients: 1 }],
      stages: [{ forUs: 600e6 }],
    });
  });

  test('writes over nothing unless it is told to', async () => {
    const file = newFile();
    writeFileSync(file, 'mine');
    await expect(made({}, file)).rejects.toMatchObject({ code: 'SQ_OUTPUT' });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(await made({ force: true }, file)).toContain('squall: 1');
  });

  test('answers that make no plan are told, and nothing is written', async () => {
    const file = newFile();
    await expect(made({ every: 'fast' }, file)).rejects.toThrow(/"fast" is not a duration/);
    await expect(made({ qos: '3' }, file)).rejects.toMatchObject({ code: 'SQ_USAGE' });
    expect(() => readFileSync(file)).toThrow(/ENOENT/);
  });
});
