// Real Mosquitto for the benchmarks: own port, own configuration, throw-away data.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const READY_DEADLINE_MS = 10_000;

/**
 * Starts Mosquitto from PATH; rejects with what to install when it is not there.
 * @param {{ tls?: boolean }} [options] whether it has a port with TLS beside the plain one
 */
export async function startMosquitto({ tls = false } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'squall-bench-'));
  const port = await freePort();
  const tlsPort = tls ? await freePort() : null;
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
      // Of root's files, the key alone matters.
      'user root',
      ...(tlsPort === null ? [] : tlsListener(tlsPort, directory)),
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
  await Promise.race([listening(tlsPort ?? port), failed]);
  return {
    port,
    tlsPort,
    pid: child.pid,
    stop() {
      child.kill('SIGTERM');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A listener with TLS and a certificate of its own making, which clients do not verify. */
function tlsListener(port, directory) {
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const files = ['-days', '1', '-subj', '/CN=localhost', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', ...kind, ...files], { stdio: 'ignore' });
  return [`listener ${port} 127.0.0.1`, `certfile ${cert}`, `keyfile ${key}`];
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
