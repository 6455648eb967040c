import { existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { SquallError } from '@squall/core/errors';
import { formatProblems, readPlan } from '@squall/core/plan';
import { planText } from '../init/plan-text.ts';
import { type InitAnswers, type Question, QUESTIONS } from '../init/questions.ts';
import { PlanRefused } from '../plan-refused.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface InitOptions extends Partial<InitAnswers> {
  /** Writes over a file that is there. */
  readonly force?: true;
  /** Asks nothing: what is not given is as usual. */
  readonly yes?: true;
}

/**
 * `squall init`: a first plan, of a few questions on a terminal or of options.
 * @throws SquallError SQ_OUTPUT where a file is there already, or nothing can be written; SQ_USAGE
 * @throws PlanRefused where an answer makes no plan
 */
export async function initCommand(
  file: string,
  options: InitOptions,
  terminal: Terminal,
): Promise<void> {
  if (options.force !== true && existsSync(file)) {
    throw new SquallError('SQ_OUTPUT', `${file} is there already`, {
      path: file,
      hint: 'name another file, or write over it with --force',
    });
  }
  const asks = options.yes !== true && process.stdin.isTTY && terminal.out.isTTY;
  const text = planText(asks ? await asked(options) : answered(options));
  const read = readPlan(text);
  if (!read.ok) throw new PlanRefused(formatProblems('the plan of these answers', read.errors));
  write(file, text);
  terminal.print(`${file} is written. Next:\n\n  squall check ${file}\n  squall run ${file}\n`);
}

function answered(options: InitOptions): InitAnswers {
  return answersOf((question, before) => {
    const given = options[question.name] ?? question.usual(before);
    checkChoice(question, given);
    return given;
  });
}

async function asked(options: InitOptions): Promise<InitAnswers> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answers: Partial<Record<keyof InitAnswers, string>> = {};
  try {
    for (const question of QUESTIONS) {
      answers[question.name] =
        options[question.name] ?? (await ask(question, question.usual(answers), terminal));
    }
  } finally {
    terminal.close();
  }
  return answersOf((question, before) => answers[question.name] ?? question.usual(before));
}

async function ask(
  question: Question,
  usual: string,
  terminal: { question(text: string): Promise<string> },
): Promise<string> {
  for (;;) {
    const answer = (await terminal.question(`${question.text} [${usual}]: `)).trim() || usual;
    if (question.choices === undefined || question.choices.includes(answer)) return answer;
  }
}

function answersOf(
  answer: (question: Question, before: Partial<InitAnswers>) => string,
): InitAnswers {
  const before: Partial<Record<keyof InitAnswers, string>> = {};
  for (const question of QUESTIONS) before[question.name] = answer(question, before);
  const of = (name: keyof InitAnswers) => before[name] ?? '';
  return {
    protocol: of('protocol'),
    broker: of('broker'),
    clients: of('clients'),
    every: of('every'),
    qos: of('qos'),
    payload: of('payload'),
    for: of('for'),
    verify: of('verify'),
  };
}

function checkChoice({ choices, flag }: Question, given: string): void {
  if (choices === undefined || choices.includes(given)) return;
  throw new SquallError(
    'SQ_USAGE',
    `${flag.split(' ')[0]} ${given}: it is ${choices.join(' or ')}`,
  );
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    throw new SquallError('SQ_OUTPUT', `nothing can be written to ${file}`, { path: file, cause });
  }
}
