import { BUILT_IN_NAMES, parseTemplate } from '../template/index.ts';
import { nearest } from '../text/nearest.ts';
import { type Findings, type PlanPath, printPath } from './problem.ts';

/** The plan's tree with its variables filled in. */
export interface Substituted {
  readonly value: unknown;
  readonly vars: Readonly<Record<string, string>>;
  /** Paths (printed) whose text changed: a column inside it says nothing about the file any more. */
  readonly changed: ReadonlySet<string>;
}

/**
 * Puts the values of `vars` (overridden by `--var`) wherever `{{name}}` stands. Everything else in
 * braces is left for the templates. Values are put in as they are: they may hold `{{env.X}}` or
 * `{{n}}`, but not other variables.
 */
export function substituteVariables(
  root: unknown,
  overrides: Readonly<Record<string, string>>,
  findings: Findings,
): Substituted {
  const declared = isMap(root) && isMap(root['vars']) ? root['vars'] : {};
  const vars = new Map<string, string>();
  for (const [name, value] of Object.entries(declared)) {
    if (['string', 'number', 'boolean'].includes(typeof value)) vars.set(name, String(value));
    checkVariable(name, String(value), { findings, declared });
  }
  for (const [name, value] of Object.entries(overrides)) {
    if (!Object.hasOwn(declared, name)) {
      const near = nearest(name, Object.keys(declared));
      findings.error(['vars'], `the plan has no variable "${name}" to set`, {
        hint: near === null ? namesHint(Object.keys(declared)) : `did you mean ${near}?`,
      });
    }
    vars.set(name, value);
  }
  const state: State = { vars, findings, changed: new Set(), used: new Set() };
  const value = substituteTree(root, [], state);
  for (const name of vars.keys()) {
    if (!state.used.has(name) && Object.hasOwn(declared, name)) {
      findings.warn(['vars', name], `the variable ${name} is never used`);
    }
  }
  return { value, vars: Object.fromEntries(vars), changed: state.changed };
}

interface State {
  readonly vars: ReadonlyMap<string, string>;
  readonly findings: Findings;
  readonly changed: Set<string>;
  readonly used: Set<string>;
}

function checkVariable(
  name: string,
  value: string,
  { findings, declared }: { findings: Findings; declared: Readonly<Record<string, unknown>> },
): void {
  if (BUILT_IN_NAMES.includes(name)) {
    findings.error(['vars', name], `{{${name}}} is built in: a variable cannot have this name`, {
      atKey: true,
    });
  }
  const parsed = parseTemplate(value);
  if (!parsed.ok) return;
  for (const part of parsed.parts) {
    if (part.kind === 'var' && Object.hasOwn(declared, part.name)) {
      findings.error(['vars', name], 'a variable cannot use another variable', {
        hint: 'write the value out',
      });
    }
  }
}

function substituteTree(value: unknown, path: PlanPath, state: State): unknown {
  if (typeof value === 'string') return substituteText(value, path, state);
  if (Array.isArray(value)) {
    return value.map((item, index) => substituteTree(item, [...path, index], state));
  }
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => {
      const own = path.length === 0 && key === 'vars';
      return [key, own ? child : substituteTree(child, [...path, key], state)];
    }),
  );
}

function substituteText(text: string, path: PlanPath, state: State): string {
  // What is no template is told by the key that wants one.
  const parsed = text.includes('{{') ? parseTemplate(text) : null;
  if (parsed === null || !parsed.ok) return text;
  let at = 0;
  let result = '';
  for (const part of parsed.parts) {
    const end = part.kind === 'text' ? at + part.text.length : text.indexOf('}}', at) + 2;
    const value = part.kind === 'var' ? state.vars.get(part.name) : undefined;
    result += value ?? text.slice(at, end);
    if (part.kind === 'var' && value !== undefined) state.used.add(part.name);
    if (part.kind === 'var' && value === undefined) {
      unknownVariable(part.name, { path, column: at + 1, state });
    }
    at = end;
  }
  if (result !== text) state.changed.add(printPath(path));
  return result;
}

function unknownVariable(
  name: string,
  { path, column, state }: { path: PlanPath; column: number; state: State },
): void {
  const known = [...state.vars.keys()];
  const near = nearest(name, [...known, ...BUILT_IN_NAMES]);
  state.findings.error(path, `there is no variable "${name}"`, {
    column,
    inFile: true,
    hint: near === null ? namesHint(known) : `did you mean {{${near}}}?`,
  });
}

function namesHint(names: readonly string[]): string {
  return names.length === 0
    ? 'the plan declares no vars'
    : `the plan declares ${names.slice(0, 20).join(', ')}`;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
