// What `npm test` runs after set-up: installs the servers that the tests need where it may, checks
// types, lint, format and unused code, then runs all tests. The last line is alone on its line:
// `N passed, N failed, N skipped`. With CI=true a skipped test makes the run fail.
//
//   node scripts/test.js                 everything
//   node scripts/test.js tests/e2e/run   vitest filters: the tests of these files, without the checks
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { closingText } from './summary-reporter.js';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const bin = (tool) => path.join(root, 'node_modules', '.bin', tool);

/** Debian packages with the servers that the tests start, by the program that proves each there. */
const SERVERS = {
  mosquitto: 'mosquitto',
  'redis-server': 'redis-server',
  promtool: 'prometheus',
  mariadbd: 'mariadb-server',
  pg_createcluster: 'postgresql',
  nginx: 'nginx-light',
  'prometheus-node-exporter': 'prometheus-node-exporter',
  'prometheus-redis-exporter': 'prometheus-redis-exporter',
  'prometheus-mysqld-exporter': 'prometheus-mysqld-exporter',
  'rabbitmq-server': 'rabbitmq-server',
  // RocketMQ and HiveMQ run on Java, are fetched by Maven, and their launchers are compiled from source.
  javac: 'default-jdk-headless',
  mvn: 'maven',
  // Pages are looked at in it.
  chromium: 'chromium',
};

/** @type {[name: string, tool: string, args: string[]][]} */
const CHECKS = [
  ['types (sources)', 'tsc', ['-b']],
  ['types (tests)', 'tsc', ['-p', 'tsconfig.test.json']],
  ['lint', 'oxlint', ['--type-aware', '--deny-warnings']],
  ['format', 'biome', ['format', '.']],
  ['unused code', 'knip', []],
];

const filters = process.argv.slice(2);
process.exitCode = main();

function main() {
  installServers();
  const checks = filters.length === 0 ? CHECKS : CHECKS.slice(0, 1);
  const failedChecks = checks.filter((check) => !passes(check)).map(([name]) => name);
  const summary = runTests();
  for (const name of failedChecks) process.stdout.write(`failed check: ${name}\n`);
  summary.passed += checks.length - failedChecks.length;
  summary.failed += failedChecks.length;
  const strict = process.env.CI === 'true' && summary.skipped.length > 0;
  if (strict) process.stdout.write('CI=true: a skipped test is a failure\n');
  process.stdout.write(closingText(summary));
  return summary.failed > 0 || strict ? 1 : 0;
}

/** On Debian as root: what is missing is installed. Elsewhere tests say themselves what they lack. */
function installServers() {
  const missing = Object.entries(SERVERS)
    .filter(([program]) => !onPath(program))
    .map(([, name]) => name);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version') || !onPath('apt-get')) {
    process.stdout.write(`not on PATH, and not installed: ${missing.join(', ')}\n`);
    return;
  }
  process.stdout.write(`installing ${missing.join(', ')}\n`);
  if (aptInstall(missing)) return;
  // Package lists may be absent or old on a fresh machine: fetch them once and try again.
  runQuietly('apt-get', ['update', '-q']);
  if (!aptInstall(missing)) process.stdout.write(`could not install ${missing.join(', ')}\n`);
}

function aptInstall(packages) {
  return runQuietly('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages]);
}

function runQuietly(command, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { stdio: 'ignore', env }).status === 0;
}

function onPath(program) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin'];
  return folders.some((folder) => folder !== '' && existsSync(path.join(folder, program)));
}

/** Runs one check; its output is shown only when it fails. */
function passes([name, tool, args]) {
  const startedAt = process.hrtime.bigint();
  const result = spawnSync(bin(tool), args, { cwd: root, encoding: 'utf8' });
  const seconds = Number((process.hrtime.bigint() - startedAt) / 1_000_000n) / 1000;
  const passed = result.status === 0;
  process.stdout.write(`${passed ? 'passed' : 'FAILED'}  ${name}  ${seconds.toFixed(1)} s\n`);
  if (!passed) process.stdout.write(`${result.stdout ?? ''}${result.stderr ?? ''}\n`);
  return passed;
}

function runTests() {
  const folder = mkdtempSync(path.join(tmpdir(), 'squall-test-'));
  const file = path.join(folder, 'summary.json');
  const reporters = ['--reporter=default', '--reporter=./scripts/summary-reporter.js'];
  try {
    const { status } = spawnSync(bin('vitest'), ['run', ...reporters, ...filters], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, SQUALL_SUMMARY_FILE: file },
    });
    if (existsSync(file)) {
      const summary = JSON.parse(readFileSync(file, 'utf8'));
      // A failure that is no test's own (a hook, a missing file) shows in the status alone.
      if (status !== 0 && summary.failed === 0) summary.failed = 1;
      return summary;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write('vitest ended without a result\n');
  return { passed: 0, failed: 1, skipped: [] };
}
