import type { z } from 'zod';
import type { ErrorCode } from '../errors/index.ts';
import { nearest } from '../text/nearest.ts';
import type { Finding, PlanPath } from './problem.ts';
import { type Fault, NAME_HINT } from './schema/leaves.ts';

type Issue = z.core.$ZodIssue;

/** zod's issues in the words of the plan language. `root` is what was checked. */
export function findingsOf(issues: readonly Issue[], root: unknown): Finding[] {
  return issues.flatMap((issue) => findings(issue, { at: [], root }));
}

interface Around {
  readonly at: PlanPath;
  readonly root: unknown;
}

function findings(issue: Issue, { at, root }: Around): Finding[] {
  const path: PlanPath = [...at, ...issue.path.map(step)];
  switch (issue.code) {
    case 'custom': {
      const fault = (issue.params ?? {}) as Partial<Fault>;
      return [{ ...fault, path, message: issue.message }];
    }
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(key, path, issue.message.split(' ')));
    case 'invalid_key':
      return [
        {
          path,
          message: `"${String(path.at(-1)).slice(0, 80)}" is not a name`,
          hint: NAME_HINT,
          atKey: true,
        },
      ];
    case 'invalid_union':
      return unionFindings(issue, { at: path, root });
    case 'invalid_type':
      return [wrongType([expectedWord(issue.expected)], path, root)];
    case 'invalid_value':
      return [
        wrongType(
          issue.values.map((value) => JSON.stringify(value)),
          path,
          root,
        ),
      ];
    case 'too_small':
      return [{ path, message: 'at least one entry is needed here' }];
    case 'too_big':
      return [{ path, message: `at most ${String(issue.maximum)} are allowed here` }];
    case 'invalid_element':
    case 'invalid_format':
    case 'not_multiple_of':
      return [{ path, message: issue.message }];
  }
}

function unknownKey(key: string, path: PlanPath, known: readonly string[]): Finding {
  const near = nearest(key, known);
  const hint =
    near === null
      ? known.join('') === ''
        ? 'no keys are allowed here'
        : `the keys here are ${known.join(', ')}`
      : `did you mean ${near}?`;
  return { path: [...path, key], message: `unknown key "${key}"`, hint, atKey: true };
}

/** Tells only what is wrong in the form that the author chose. */
function unionFindings(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  around: Around,
): Finding[] {
  const branches = issue.errors.filter((branch) => branch.length > 0);
  if (branches.length === 0) {
    // A discriminated union without a fitting branch: its message names the words.
    return [{ path: around.at, message: issue.message }];
  }
  const chosen = branches
    .filter((branch) => !branch.every(isOtherForm))
    .map((branch) => branch.flatMap((inner) => findings(inner, around)))
    .toSorted((a, b) => weight(a) - weight(b))[0];
  if (chosen !== undefined) return chosen;
  return [wrongType([...new Set(branches.flatMap(expectedWords))], around.at, around.root)];
}

function weight(branch: readonly Finding[]): number {
  return branch.some((finding) => finding.code === ('SQ_UNSUPPORTED' satisfies ErrorCode))
    ? 0
    : branch.length;
}

/** The branch wants another kind of value altogether. */
function isOtherForm(issue: Issue): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === 'invalid_union') return issue.errors.flat().every(isOtherForm);
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

function expectedWords(branch: readonly Issue[]): string[] {
  return branch.flatMap((issue) => {
    if (issue.code === 'invalid_type') return [expectedWord(issue.expected)];
    if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value));
    return issue.code === 'invalid_union' ? issue.errors.flatMap(expectedWords) : [];
  });
}

function wrongType(expected: readonly string[], path: PlanPath, root: unknown): Finding {
  const { value, exists } = lookUp(root, path);
  const wanted = expected.join(' or ');
  if (!exists) {
    return { path, message: `"${String(path.at(-1) ?? 'the plan')}" is missing: ${wanted}` };
  }
  const isText = ['text', 'text or a number'].includes(wanted);
  const hint = isText && typeof value !== 'object' ? 'put it in quotes' : undefined;
  return { path, message: `${kindOf(value)} stands here, ${wanted} is expected`, hint };
}

function lookUp(root: unknown, path: PlanPath): { value: unknown; exists: boolean } {
  let value: unknown = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) {
      return { value: undefined, exists: false };
    }
    value = Reflect.get(value, key);
  }
  return { value, exists: value !== undefined };
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value === 'string') return value.length > 40 ? 'a text' : JSON.stringify(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'something else';
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map',
  record: 'a map',
  array: 'a list',
  null: 'nothing',
};

function expectedWord(expected: string): string {
  return WORDS[expected] ?? expected;
}

function step(key: PropertyKey): string | number {
  return typeof key === 'symbol' ? String(key) : key;
}
