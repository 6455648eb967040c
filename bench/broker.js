// Real Mosquitto for the benchmarks: own port, own configuration, throw-away data.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const READY_DEADLINE_MS = 10_000;

/** Starts Mosquitto from PATH; rejects with what to install when it is not there. */
export async function startMosquitto() {
  const directory = mkdtempSync(join(tmpdir(), 'squall-bench-'));
  const port = await freePort();
  const config = join(directory, 'mosquitto.conf');
  // The limits are off because Mosquitto's defaults drop QoS 1 messages in silence.
  writeFileSync(
    config,
    [
      `listener ${port} 127.0.0.1`,
      'allow_anonymous true',
      'max_queued_messages 0',
      'max_inflight_messages 0',
      'persistence false',
      'log_dest none',
      'set_tcp_nodelay true',
      '',
    ].join('\n'),
  );
  const child = spawn('mosquitto', ['-c', config], { stdio: 'ignore' });
  const failed = new Promise((_, reject) => {
    child.once('error', (cause) =>
      reject(
        new Error('mosquitto cannot be started: install it (apt-get install mosquitto)', { cause }),
      ),
    );
    child.once('exit', (code) => reject(new Error(`mosquitto ended with code ${code}`)));
  });
  failed.catch(() => undefined);
  await Promise.race([listening(port), failed]);
  return {
    port,
    pid: child.pid,
    stop() {
      child.kill('SIGTERM');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A loopback port that was free a moment ago. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function listening(port) {
  const deadline = Date.now() + READY_DEADLINE_MS;
  for (;;) {
    const open = await new Promise((resolve) => {
      const socket = net.connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return;
    if (Date.now() > deadline) throw new Error(`nothing listens on port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
