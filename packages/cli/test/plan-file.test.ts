import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadPlan } from '../src/plan-file.ts';
import { PlanRefused } from '../src/plan-refused.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'squall-plans-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PLAN = `
squall: 1
name: tiny
vars: { broker: "mqtt://127.0.0.1:1883" }
targets: { broker: { protocol: mqtt, urls: ["{{broker}}"] } }
groups:
  devices:
    target: broker
    clients: 1
    password: "{{env.SECRET}}"
    username: user
    publish: { topic: t, payload: 100B, every: 1s }
stages: [{ name: publish, run: { devices: publish }, for: 1s }]
`;

function written(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('plan files', () => {
  const file = written('plan.yaml', PLAN);

  test('are read with variables and the secrets that they need, and no others', () => {
    const env = { SECRET: 's3cret', OTHER: 'x' };
    const loaded = loadPlan({ file, vars: { broker: 'mqtt://127.0.0.1:7' }, env });
    expect(loaded.plan.targets['broker']).toMatchObject({ urls: [{ port: 7 }] });
    expect(loaded.secrets).toEqual({ SECRET: 's3cret' });
    expect(loaded.about).toBe('tiny · 1 group, 1 client, 1 stage, 0 thresholds');
  });

  test('the scale stands beside the name, where there is one', () => {
    const text = PLAN.replace('clients: 1', 'clients: 10');
    const loaded = loadPlan({ file: written('scaled.yaml', text), scale: 0.5, env: null });
    expect(loaded.about).toBe('tiny at scale 0.5 · 1 group, 5 clients, 1 stage, 0 thresholds');
  });

  test('a secret that is not set is refused where secrets count, and only there', () => {
    // At the very place of its use, behind the quote.
    expect(() => loadPlan({ file, env: {} })).toThrow(
      /plan\.yaml:10:16: error: groups\.devices\.password: the environment variable SECRET is not set/,
    );
    expect(loadPlan({ file, env: null }).plan.name).toBe('tiny');
    const checked = loadPlan({ file, env: {}, missingEnv: 'warning' });
    expect(checked.warnings).toEqual([
      expect.stringMatching(
        /plan\.yaml:10:\d+: warning: groups\.devices\.password: .* SECRET is not set/,
      ),
    ]);
  });

  test('faults are told with the name of the file, line and column', () => {
    const wrong = written('wrong.yaml', PLAN.replace('every', 'evry'));
    expect(() => loadPlan({ file: wrong, env: null })).toThrow(PlanRefused);
    expect(() => loadPlan({ file: wrong, env: null })).toThrow(/wrong\.yaml:12:\d+: error: .*evry/);
  });

  test.each(['utf16le', 'latin1'] as const)(
    'a file in %s says that UTF-8 is wanted',
    (encoding) => {
      const foreign = path.join(folder, `${encoding}.yaml`);
      writeFileSync(foreign, Buffer.from(`\uFEFF${PLAN}# für alle\n`, encoding));
      expect(() => loadPlan({ file: foreign, env: null })).toThrow(
        expect.objectContaining({ code: 'SQ_PLAN', message: 'the plan is not text in UTF-8' }),
      );
    },
  );

  test('a mark at the beginning of UTF-8 is no part of the plan', () => {
    expect(loadPlan({ file: written('marked.yaml', `\uFEFF${PLAN}`), env: null }).plan.name).toBe(
      'tiny',
    );
  });

  test('a file that cannot be read is an expected error with its path', () => {
    const nowhere = path.join(folder, 'nowhere.yaml');
    expect(() => loadPlan({ file: nowhere, env: null })).toThrow(
      expect.objectContaining({ code: 'SQ_PLAN', path: nowhere }),
    );
  });
});
