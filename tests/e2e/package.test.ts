import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startProgram } from '../fixtures/process.ts';

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const folder = mkdtempSync(path.join(tmpdir(), 'squall-package-'));
const home = path.join(folder, 'home');
/** Newer versions come as packages with the program inside. */
const NEWER = ['22', '24'];
const binaries = `node-linux-${process.arch}`;

/** `{{broker}}` is the one that the command brings. */
const PLAN = `
squall: 1
name: from-the-package
vars: { broker: "mqtt://127.0.0.1:1883" }
targets: { broker: { protocol: mqtt, urls: ["{{broker}}"] } }
groups:
  devices: { target: broker, clients: 20, publish: { topic: "up/{{n}}", qos: 1, payload: 100B, every: 200ms } }
  readers: { target: broker, clients: 2, subscribe: { topic: "up/#", qos: 1 } }
stages:
  - { name: publish, run: { devices: publish, readers: subscribe }, for: 1s }
thresholds: ["lost: count == 0", "publish_failed: count == 0"]
`;

const GOOD = {
  verdict: 'pass',
  exitCode: 0,
  ledger: [{ expected: 200, unique: 200, lost: 0 }],
};

async function done(command: string, args: readonly string[], cwd: string): Promise<string> {
  const env = {
    ...(command === 'npm' ? { npm_config_update_notifier: 'false' } : {}),
    CI: undefined,
  };
  const program = startProgram(command, args, { cwd, env });
  const { code } = await program.ended;
  if (code !== 0)
    throw new Error(`${command} ${args.join(' ')} ended as ${code}:\n${program.output()}`);
  return program.stdout();
}

const install = (into: string, what: string) =>
  done('npm', ['install', '--no-audit', '--no-fund', '--prefix', into, what], folder);

/** What a user has who never saw this repository: an empty folder, the package, and a Node of their own. */
describe.concurrent('the npm package', () => {
  beforeAll(async () => {
    await done(process.execPath, [path.join(root, 'scripts', 'pack.js'), folder], root);
    writeFileSync(path.join(folder, 'plan.yaml'), PLAN);
    await install(home, path.join(folder, 'squall-0.1.0.tgz'));
  }, 180_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const squall = path.join(home, 'node_modules', 'squall', 'bin', 'squall.js');

  async function reportOfRun(node: string, out: string): Promise<unknown> {
    const args = [squall, 'run', 'plan.yaml', '--agents', '2', '--with-broker', '--out', out];
    const output = await done(node, args, folder);
    const file = path.join(folder, out, 'report.json');
    expect(existsSync(file), output).toBe(true);
    return JSON.parse(readFileSync(file, 'utf8'));
  }

  test('is a command, with its plans and its licence', async () => {
    const linked = path.join(home, 'node_modules', '.bin', 'squall');
    expect((await done(linked, ['--version'], folder)).trim()).toBe('0.1.0');
    const plan = path.join(home, 'node_modules', 'squall', 'plans', 'mqtt-to-mysql.yaml');
    expect(await done(linked, ['check', plan], folder)).toContain('100,000 clients');
    expect(existsSync(path.join(home, 'node_modules', 'squall', 'LICENSE'))).toBe(true);
  });

  test('runs a plan on this Node', { timeout: 60_000 }, async () => {
    expect(await reportOfRun(process.execPath, 'out-here')).toMatchObject(GOOD);
  });

  test.each(NEWER)('runs a plan on Node %s', { timeout: 180_000 }, async (version) => {
    const own = path.join(folder, `node-${version}`);
    await install(own, `${binaries}@${version}`);
    const node = path.join(own, 'node_modules', binaries, 'bin', 'node');
    expect(await done(node, ['--version'], folder)).toMatch(new RegExp(`^v${version}\\.`));
    expect(await reportOfRun(node, `out-${version}`)).toMatchObject(GOOD);
  });
});
