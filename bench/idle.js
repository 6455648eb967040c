// CPU of a controller, five agents and their workers while nothing is due: all processes together,
// as a share of one core.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startMosquitto } from './broker.js';
import { cpuSeconds, processTree } from './process-figures.js';

const AGENTS = 5;
const START_MS = 12_000;
const WINDOW_S = 20;
const MOST_SHARE_OF_A_CORE = 0.05;
const CLI = fileURLToPath(new URL('../packages/cli/dist/main.js', import.meta.url));

const planText = (port) => `
squall: 1
name: idle
targets: { broker: { protocol: mqtt, urls: ["mqtt://127.0.0.1:${port}"] } }
groups:
  devices: { target: broker, clients: 5, connect: { rate: 100/s, keepAlive: 60s } }
stages:
  - { name: connect, run: { devices: connect } }
  - { name: idle, run: { devices: idle }, for: 5m }
`;

export async function idle() {
  const broker = await startMosquitto();
  const directory = mkdtempSync(join(tmpdir(), 'squall-idle-'));
  writeFileSync(join(directory, 'plan.yaml'), planText(broker.port));
  const run = spawn(
    process.execPath,
    [CLI, 'run', 'plan.yaml', '--agents', String(AGENTS), '--out', 'out'],
    { cwd: directory, stdio: 'ignore' },
  );
  try {
    await new Promise((resolve) => setTimeout(resolve, START_MS));
    const processes = processTree(run.pid);
    const cpu = () => processes.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
    const before = cpu();
    await new Promise((resolve) => setTimeout(resolve, WINDOW_S * 1000));
    const share = (cpu() - before) / WINDOW_S;
    return {
      name: 'idle',
      rounds: 1,
      figures: [['processes', String(processes.length)]],
      goals: [
        {
          text: `share of one core ≤ ${MOST_SHARE_OF_A_CORE}`,
          observed: share.toFixed(4),
          holds: processes.length > 2 * AGENTS && share <= MOST_SHARE_OF_A_CORE,
        },
      ],
    };
  } finally {
    const ended = new Promise((resolve) => run.once('exit', resolve));
    run.kill('SIGINT');
    await ended;
    rmSync(directory, { recursive: true, force: true });
    broker.stop();
  }
}
