// The interoperability matrix: every feature on every broker that has it, in every version of MQTT.
// Writes the table of the outcome, with its date, to docs/interoperability.md.
//
//   npm run check:matrix
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PAGE = path.join(root, 'docs', 'interoperability.md');
const LACKS = JSON.parse(readFileSync(path.join(root, 'tests/interop/lacks.json'), 'utf8'));

process.exitCode = main();

function main() {
  const { status, cases } = runMatrix();
  if (cases.length === 0) {
    process.stderr.write('no case was tried: the page stays as it is\n');
    return 1;
  }
  writeFileSync(PAGE, pageOf(cases));
  process.stdout.write(`${summaryOf(cases)}; see ${path.relative(process.cwd(), PAGE)}\n`);
  return status;
}

/** Runs the tests and gives what became of each case. */
function runMatrix() {
  const folder = mkdtempSync(path.join(tmpdir(), 'squall-matrix-'));
  const file = path.join(folder, 'results.json');
  try {
    const { status } = spawnSync(
      path.join(root, 'node_modules', '.bin', 'vitest'),
      [
        'run',
        '--project=e2e',
        'tests/e2e/interop.test.ts',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${file}`,
      ],
      { cwd: root, stdio: 'inherit', env: { ...process.env, SQUALL_MATRIX: '1' } },
    );
    return { status: status ?? 1, cases: casesOf(JSON.parse(readFileSync(file, 'utf8'))) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function casesOf(results) {
  return results.testResults
    .flatMap((each) => each.assertionResults)
    .map(({ ancestorTitles: [broker, version], title, status }) => ({
      broker,
      version: version.replace('MQTT ', ''),
      feature: title,
      status,
    }));
}

function summaryOf(cases) {
  const passed = cases.filter((each) => each.status === 'passed').length;
  return `${passed} of ${cases.length} cases passed`;
}

function pageOf(cases) {
  const columns = distinct(cases.map((each) => `${each.broker} ${each.version}`));
  const rows = distinct(cases.map((each) => each.feature));
  const cell = (feature, column) => {
    const found = cases.find(
      (each) => each.feature === feature && `${each.broker} ${each.version}` === column,
    );
    if (found === undefined) return '–';
    return found.status === 'passed' ? 'yes' : found.status;
  };
  return `# Interoperability

Every feature on every broker that has it: Squall on one end, the \`mqtt\` library for Node.js on the other.
Written by \`npm run check:matrix\` on ${new Date().toISOString().slice(0, 10)}: ${summaryOf(cases)}.
A dash stands where the version of MQTT or the broker does not have the feature; the reasons are below.

| feature | ${columns.join(' | ')} |
|---|${columns.map(() => '---').join('|')}|
${rows.map((row) => `| ${row} | ${columns.map((column) => cell(row, column)).join(' | ')} |`).join('\n')}

## What brokers do not have

${lackLines().join('\n')}
`;
}

function lackLines() {
  return Object.entries(LACKS).flatMap(([broker, lacking]) =>
    Object.entries(lacking).map(([feature, reason]) => `- ${broker}, \`${feature}\`: ${reason}`),
  );
}

function distinct(values) {
  return [...new Set(values)];
}
