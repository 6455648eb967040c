import type { Findings } from '../findings.ts';
import type { JmeterElement } from './element.ts';
import { JmeterElement as Element } from './element.ts';
import { besidePlan } from './connection.ts';
import { columnName, type Variable } from './variables.ts';

/** Name of the element in which XMeter keeps what is asked for when a run is started. */
const RUNTIME = 'xmeter_runtime_vars';

/** Every enabled element, in the order of the file. */
export function enabledElements(level: readonly JmeterElement[]): JmeterElement[] {
  return level
    .filter(({ enabled }) => enabled)
    .flatMap((element) => [element, ...enabledElements(element.children)]);
}

/** User defined variables, wherever they stand: they are the same for the whole plan. */
export function userVariables(elements: readonly JmeterElement[]): {
  readonly known: Map<string, Variable>;
  readonly runtime: readonly string[];
} {
  const known = new Map<string, Variable>();
  const runtime: string[] = [];
  for (const element of elements) {
    const own =
      element.kind === 'Arguments' ? element : element.nested('TestPlan.user_defined_variables');
    const isRuntime = element.title === RUNTIME;
    for (const xml of own?.list('Arguments.arguments') ?? []) {
      const entry = new Element(xml, []);
      const name = entry.text('Argument.name').trim();
      if (name === '') continue;
      known.set(name, {
        kind: 'text',
        value: entry.text('Argument.value'),
        line: xml.line,
        runtime: isRuntime,
      });
      if (isRuntime) runtime.push(name);
    }
  }
  return { known, runtime };
}

/** Counters and random variables; what is counted over all threads has no counterpart. */
export function madeVariables(
  elements: readonly JmeterElement[],
  findings: Findings,
): Map<string, Variable> {
  const made = new Map<string, Variable>();
  for (const element of elements) {
    if (element.kind === 'CounterConfig') {
      const start = Number(element.text('CounterConfig.start', '0')) || 0;
      const width = /^0+$/.exec(element.text('CounterConfig.format').trim())?.[0].length ?? 0;
      if (!element.flag('CounterConfig.per_user')) {
        findings.lose(
          element.line,
          element.what,
          'one counter over all threads; here each client counts for itself',
        );
      }
      const shift = start === 0 ? '' : ` + ${start}`;
      const value = `{{seq${shift}${width === 0 ? '' : `:0${width}`}}}`;
      made.set(element.text('CounterConfig.name'), { kind: 'template', value, perMessage: true });
    }
    if (element.kind === 'RandomVariableConfig') {
      const [least, most] = [element.text('minimumValue', '1'), element.text('maximumValue', '1')];
      const whole = [least, most].every((bound) => /^\d{1,15}$/.test(bound.trim()));
      if (!whole)
        findings.lose(element.line, element.what, 'its bounds are no whole numbers that are known');
      const value = whole ? `{{random ${least.trim()} ${most.trim()}}}` : '0';
      made.set(element.text('variableName'), { kind: 'template', value });
    }
  }
  return made;
}

/** The rows of a group's clients. */
export interface CsvFile {
  readonly file: string;
  readonly columns: ReadonlyMap<string, Variable>;
}

/** A group has one CSV file here; a second one is told. */
export function csvOf(elements: readonly JmeterElement[], findings: Findings): CsvFile | null {
  const [first, ...others] = elements.filter(({ kind }) => kind === 'CSVDataSet');
  for (const { line, what } of others)
    findings.lose(line, what, 'a group has one CSV file: join the columns of both');
  if (first === undefined) return null;
  const names = first
    .text('variableNames')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  const { line, what } = first;
  const file = besidePlan(first.text('filename')).replaceAll('{{', '{ {');
  if (names.length === 0)
    findings.lose(line, what, `the names of its columns stand in ${file} only`);
  const columns = names.map(columnName).join(',');
  findings.change(
    line,
    what,
    `each client has one row, from the first on; the first line of ${file} must be: ${columns}`,
  );
  const delimiter = first.text('delimiter', ',');
  if (delimiter !== ',' && delimiter !== '') {
    findings.change(line, what, `the delimiter of ${file} must become a comma`);
  }
  return { file, columns: new Map(names.map((name) => [name, { kind: 'csv' }])) };
}
