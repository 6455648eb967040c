// Holds the units of deploy/systemd against systemd itself: `verify` must print nothing (an unknown key only
// prints, and its exit code says nothing), and the exposure that `security` sees is 3.0 at most.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const units = path.join(fileURLToPath(import.meta.url), '..', '..', 'deploy', 'systemd');
const COMMAND = 'opt/squall/node_modules/.bin/squall';
/** Tenths: 3.0 of 10. */
const MOST_EXPOSURE = 30;

const root = mkdtempSync(path.join(tmpdir(), 'squall-systemd-'));
try {
  mkdirSync(path.join(root, path.dirname(COMMAND)), { recursive: true });
  writeFileSync(path.join(root, COMMAND), '', { mode: 0o755 });
  const theirs = 'usr/lib/systemd/system';
  cpSync(`/${theirs}`, path.join(root, theirs), { recursive: true, verbatimSymlinks: true });
  cpSync(units, path.join(root, 'etc/systemd/system'), { recursive: true });
  for (const unit of readdirSync(units)) check(unit);
} finally {
  rmSync(root, { recursive: true, force: true });
}

function check(unit) {
  const verified = analyze('verify', `--root=${root}`, unit);
  const file = path.join(units, unit);
  const secured = analyze('security', '--offline=true', `--threshold=${MOST_EXPOSURE}`, file);
  const good = verified.status === 0 && verified.text === '' && secured.status === 0;
  const exposure = secured.text.trim().split('\n').at(-1) ?? '';
  process.stdout.write(`${good ? 'ok' : 'FAILED'}  ${unit}  ${verified.text}${exposure}\n`);
  if (!good) process.exitCode = 1;
}

function analyze(...args) {
  const { status, stdout, stderr, error } = spawnSync('systemd-analyze', args, {
    encoding: 'utf8',
  });
  return { status, text: error?.message ?? `${stdout}${stderr}` };
}
