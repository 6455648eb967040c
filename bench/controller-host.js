// Drives a controller that is a process of its own, as its users and agents reach it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('control/controller-host.js', import.meta.url));

/** A folder for a store, gone after `work`. */
export async function withStoreFile(work) {
  const directory = mkdtempSync(join(tmpdir(), 'squall-bench-'));
  try {
    return await work(join(directory, 'store.db'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export async function startControllerProcess(storeFile) {
  const child = spawn(process.execPath, [PROGRAM, storeFile], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const address = `127.0.0.1:${Number(String(line))}`;
  return {
    pid: child.pid,
    /** Where agents dial. */
    agentUrl: `ws://${address}`,
    /** Text of the answer. @throws where it is not a good one. */
    async request(path, body) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
      const response = await fetch(
        `http://${address}${path}`,
        body === undefined ? {} : { ...init, body: JSON.stringify(body) },
      );
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
      return text;
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await ended;
    },
  };
}
