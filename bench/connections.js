// Resident memory of one worker that holds 15,000 idle connections.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { residentBytes } from './process-figures.js';
import { startWorker } from './worker-host.js';

const CLIENTS = 15_000;
const SETTLE_MS = 3000;
const MOST_KB_A_CONNECTION = 7;

const planText = (port) => `
squall: 1
name: connections
targets: { broker: { protocol: mqtt, urls: ["mqtt://127.0.0.1:${port}"] } }
groups:
  devices:
    target: broker
    clients: ${CLIENTS}
    connect: { rate: 3000/s, keepAlive: 60s }
stages:
  - { name: connect, run: { devices: connect } }
  - { name: hold, run: { devices: idle }, for: 10m }
`;

export async function connections() {
  const acceptor = spawn(
    process.execPath,
    [fileURLToPath(new URL('acceptor.js', import.meta.url))],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  try {
    const [line] = await once(acceptor.stdout, 'data');
    const port = Number(String(line));
    const idle = await startWorker(planText(port));
    const before = residentBytes(idle.pid);
    await idle.completeStage(0);
    idle.enterStage(1);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const connected = idle.sum('connected');
    const kb = (residentBytes(idle.pid) - before) / 1024 / connected;
    await idle.stop();
    return {
      name: 'connections',
      rounds: 1,
      figures: [
        ['connections held', String(connected)],
        ['worker before connecting, MB', (before / 1048576).toFixed(1)],
      ],
      goals: [
        {
          text: `KB of resident memory a connection ≤ ${MOST_KB_A_CONNECTION}`,
          observed: kb.toFixed(2),
          holds: connected === CLIENTS && kb <= MOST_KB_A_CONNECTION,
        },
      ],
    };
  } finally {
    acceptor.stdin.end();
  }
}
