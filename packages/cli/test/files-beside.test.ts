import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPlan } from '../src/plan-file.ts';

/** A plan in a folder of its own, and files beside it. */
describe('files of a plan', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'squall-files-'));
    mkdirSync(path.join(folder, 'plans', 'payloads', 'deeper'), { recursive: true });
    for (const name of ['b.bin', 'a.bin', '.hidden']) {
      writeFileSync(path.join(folder, 'plans', 'payloads', name), name);
    }
    writeFileSync(path.join(folder, 'devices.csv'), 'id,site\nd1,north\nd2,south\n');
    symlinkSync('a.bin', path.join(folder, 'plans', 'payloads', 'c.bin'));
    writeFileSync(path.join(folder, 'large.bin'), Buffer.alloc(33 * 1024 * 1024));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function load(group: string, payload = '64B') {
    const file = path.join(folder, 'plans', 'plan.yaml');
    writeFileSync(
      file,
      `squall: 1
name: files
targets: { broker: { protocol: mqtt, urls: ["mqtt://127.0.0.1"] } }
groups:
  devices:
    target: broker
    clients: 2
    ${group}
    publish: { topic: t, payload: ${payload}, every: 1s, verify: off }
stages: [{ name: go, run: { devices: publish }, for: 1s }]
`,
    );
    return loadPlan({ file, env: null });
  }

  test('are read from the directory of the plan on', () => {
    const { plan, material } = load('from: ../devices.csv', '{ file: payloads/a.bin }');
    expect(Object.keys(plan.files)).toEqual(['../devices.csv', 'payloads/a.bin']);
    expect(plan.files['payloads/a.bin']).toEqual({
      bytes: 5,
      sha256: '4fef9cffec13baaa0b8bab5ae61005c5ee8bdb7880b255d60c27e8b7b45202ba',
    });
    expect(material.rows).toEqual({
      devices: {
        first: 0,
        rows: [
          ['d1', 'north'],
          ['d2', 'south'],
        ],
      },
    });
    expect(material.files['payloads/a.bin']).toBe(Buffer.from('a.bin').toString('base64'));
  });

  test('of a directory are its visible files and what its links point to, nothing below it', () => {
    const { plan } = load('from: ../devices.csv', '{ files: payloads/ }');
    expect(plan.groups[0]?.publish[0]?.payload).toEqual({
      kind: 'files',
      files: ['payloads/a.bin', 'payloads/b.bin', 'payloads/c.bin'],
    });
  });

  test.each([
    ['payloads/none.bin', 'is not there'],
    ['payloads', 'is not a file'],
    ['../large.bin', 'at most 32 MiB'],
  ])('%s: %s, told with its place in the plan', (name, message) => {
    expect(() => load('from: ../devices.csv', `{ file: ${name} }`)).toThrow(
      new RegExp(
        `plan\\.yaml:9:\\d+: error: groups\\.devices\\.publish\\.payload\\.file: .*${message}`,
      ),
    );
  });
});
