import { CHECKS, type Finding, type Report } from './model.ts';
import { thresholdReason } from './verdict.ts';

interface Case {
  readonly classname: string;
  readonly name: string;
  readonly outcome: CaseOutcome | null;
  readonly note: string;
}

interface CaseOutcome {
  readonly kind: 'failure' | 'error' | 'skipped';
  readonly type: string;
  readonly message: string;
  readonly text: string;
}

/**
 * The report as JUnit XML, for the pages of a build server: a case per threshold, one per check of
 * the harness, one for each
 * equation of the books and of the balance and each row of the ledger, and one for the run. What is uncertain is
 * `skipped`, what the harness did wrong an `error`.
 */
export function toJunit(report: Report): string {
  const cases = [
    runCase(report),
    ...report.thresholds.map((threshold) => thresholdCase(report, threshold)),
    ...CHECKS.filter((check) => check !== 'books').map((check) => checkCase(report, check)),
    ...report.books.map((book) => bookCase(report, book)),
    ...report.ledger.map((row) => ledgerCase(report, row)),
    ...report.balance.map((row) => balanceCase(report, row)),
  ];
  const counts = [
    attribute('tests', cases.length),
    ...(['failure', 'error', 'skipped'] as const).map((kind) =>
      attribute(PLURALS[kind], cases.filter(({ outcome }) => outcome?.kind === kind).length),
    ),
    attribute('time', seconds(report.run.durationUs)),
  ].join('');
  const suite = `${attribute('name', report.run.name)}${counts}`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${suite}>`,
    `  <testsuite${suite}${attribute('id', report.run.id)}${attribute('timestamp', report.run.startedAt)}>`,
    ...properties(report),
    ...cases.flatMap(drawCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const PLURALS = { failure: 'failures', error: 'errors', skipped: 'skipped' } as const;

function properties({ run, verdict, validity, exitCode }: Report): string[] {
  const values: readonly (readonly [string, string])[] = [
    ['verdict', verdict],
    ['validity', validity.state],
    ['exitCode', String(exitCode)],
    ['scale', String(run.scale)],
    ['version', run.version],
    ...Object.entries(run.labels).map(([key, value]) => [`label.${key}`, value] as const),
  ];
  return [
    '    <properties>',
    ...values.map(
      ([name, value]) => `      <property${attribute('name', name)}${attribute('value', value)}/>`,
    ),
    '    </properties>',
  ];
}

/** How the run itself ended: a build page that has only thresholds would hide an early end. */
function runCase({ run, verdict, reasons, notes, thresholds }: Report): Case {
  const base = { classname: `${run.name}.run`, name: 'the run goes to its end' };
  const note = notes.join('\n');
  if (verdict === 'error' || verdict === 'aborted' || verdict === 'cancelled') {
    const message = reasons[0] ?? verdict;
    return {
      ...base,
      note,
      outcome: { kind: 'error', type: verdict, message, text: reasons.join('\n') },
    };
  }
  const message = reasons[0] ?? verdict;
  if (thresholds.some(({ aborted }) => aborted)) {
    const text = reasons.join('\n');
    return { ...base, note, outcome: { kind: 'failure', type: verdict, message, text } };
  }
  if (verdict !== 'inconclusive') return { ...base, note, outcome: null };
  return { ...base, note, outcome: { kind: 'skipped', type: verdict, message, text: '' } };
}

function thresholdCase({ run, exitCode, verdict }: Report, threshold: Threshold): Case {
  const { id, text, state, leadsTo, expected, observedText, worst } = threshold;
  const reason = thresholdReason(threshold);
  const note = state === 'pass' || state === 'warn' ? reason : '';
  const base = {
    classname: `${run.name}.thresholds`,
    name: id === null ? text : `${id}: ${text}`,
    note,
  };
  const details = [
    reason,
    `expected: ${expected}`,
    `observed: ${observedText}`,
    ...(worst === null ? [] : [`worst: ${worst.stage}, ${worst.from} to ${worst.to}`]),
    `windows: ${threshold.windows}, not holding: ${threshold.failedWindows}`,
    `verdict of the run: ${verdict}, exit code ${exitCode}`,
  ].join('\n');
  switch (leadsTo) {
    case 'fail':
      return { ...base, outcome: { kind: 'failure', type: state, message: reason, text: details } };
    case 'inconclusive':
      return { ...base, outcome: { kind: 'skipped', type: state, message: reason, text: '' } };
    case 'warn':
    case 'pass':
      return { ...base, note: note === '' ? reason : note, outcome: null };
  }
}

type Threshold = Report['thresholds'][number];

function checkCase({ run, validity }: Report, check: string): Case {
  const findings = validity.findings.filter((finding) => finding.check === check);
  const base = { classname: `${run.name}.harness`, name: check };
  const lines = findings.map(findingLine);
  const harm = findings.filter((finding) => finding.state !== 'note' && finding.state !== 'valid');
  const [worst] = harm;
  if (worst === undefined) return { ...base, note: lines.join('\n'), outcome: null };
  const outcome = { type: worst.state, message: worst.hint, text: lines.join('\n') };
  // Degraded is accepted by default: told, but no error.
  if (worst.state === 'degraded' && !run.strict)
    return { ...base, note: lines.join('\n'), outcome: null };
  return { ...base, note: '', outcome: { kind: 'error', ...outcome } };
}

function findingLine({ state, observed, limit, agent, hint }: Finding): string {
  const who = agent === undefined ? '' : ` (${agent})`;
  const than = limit === null ? '' : `, limit ${limit}`;
  return `${state}${who}: observed ${observed}${than}. ${hint}`;
}

function bookCase({ run }: Report, book: Report['books'][number]): Case {
  const { equation, left, right, holds } = book;
  const base = { classname: `${run.name}.books`, name: equation };
  const text = `${left} = ${right}`;
  if (holds) return { ...base, note: text, outcome: null };
  const message = `the books do not balance: ${left} is not ${right}`;
  return { ...base, note: '', outcome: { kind: 'error', type: 'books', message, text: message } };
}

/** Told of a row where it has some. */
const LEDGER_DETAILS = [
  'duplicated',
  'reordered',
  'corrupted',
  'wrongTopic',
  'wrongQos',
  'unexpected',
  'foreign',
  'unresolved',
  'refused',
  'expired',
  'unverifiable',
] as const;

function ledgerCase({ run }: Report, row: Report['ledger'][number]): Case {
  const { from, to, qos, state, remark, expected, unique, lost } = row;
  const base = { classname: `${run.name}.ledger`, name: `${from} to ${to} at QoS ${qos}` };
  const others = LEDGER_DETAILS.flatMap((figure) =>
    row[figure] === 0 ? [] : [`${figure} ${row[figure]}`],
  );
  const text = [`expected ${expected}, arrived ${unique}, lost ${lost}`, ...others].join(', ');
  if (state === 'pass') return { ...base, note: text, outcome: null };
  const kind = state === 'fail' ? 'failure' : 'skipped';
  return { ...base, note: '', outcome: { kind, type: state, message: remark, text } };
}

function balanceCase({ run }: Report, row: Report['balance'][number]): Case {
  const { equation, state, remark } = row;
  const base = { classname: `${run.name}.balance`, name: equation };
  if (state === 'pass') return { ...base, note: remark, outcome: null };
  const kind = state === 'fail' ? 'failure' : 'skipped';
  return { ...base, note: '', outcome: { kind, type: state, message: remark, text: remark } };
}

function drawCase({ classname, name, outcome, note }: Case): string[] {
  const head = `    <testcase${attribute('classname', classname)}${attribute('name', name)}`;
  const out = note === '' ? [] : [`      <system-out>${escape(note)}</system-out>`];
  if (outcome === null && out.length === 0) return [`${head}/>`];
  const result = outcome === null ? [] : [drawOutcome(outcome)];
  return [`${head}>`, ...result, ...out, '    </testcase>'];
}

function drawOutcome({ kind, type, message, text }: CaseOutcome): string {
  const said = attribute('message', message);
  if (kind === 'skipped') return `      <skipped${said}/>`;
  return `      <${kind}${attribute('type', type)}${said}>${escape(text)}</${kind}>`;
}

function attribute(name: string, value: string | number): string {
  // Line breaks in an attribute are read as spaces unless they are written as references.
  const escaped = escape(String(value)).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
  return ` ${name}="${escaped}"`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\r': '&#13;',
};

/**
 * Text for XML 1.0: reasons and names come from brokers and plans, and may hold anything. Characters
 * that XML cannot hold at all, and halves of surrogate pairs, become U+FFFD.
 */
function escape(text: string): string {
  let escaped = '';
  for (const character of text) {
    escaped += ESCAPES[character] ?? (isXml(character.codePointAt(0) ?? 0) ? character : '\uFFFD');
  }
  return escaped;
}

/** The `Char` production of XML 1.0. */
function isXml(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || code >= 0x10000;
}

function seconds(us: number): string {
  return (us / 1_000_000).toFixed(3);
}
