import { closeSync, existsSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SquallError } from '@squall/core/errors';
import { formatProblems, readPlan } from '@squall/core/plan';
import {
  type Finding,
  type ImportedPlan,
  importPlan,
  MAX_FILE_BYTES,
  tooLarge,
} from '@squall/import';
import { EXIT } from '../exit-codes.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface ImportOptions {
  /** Where the plan goes; standard output if left out. */
  readonly out?: string;
  /** Writes over a file that is there. */
  readonly force?: true;
}

/**
 * `squall import`: a plan out of the file of another load generator. The plan goes to standard output, what is
 * said about it to standard error. @returns the exit code.
 * @throws SquallError SQ_PLAN for what cannot be imported, SQ_OUTPUT where the plan cannot be written.
 */
export function importCommand(file: string, options: ImportOptions, terminal: Terminal): number {
  const { out, force } = options;
  if (out !== undefined && force !== true && existsSync(out)) {
    throw new SquallError('SQ_OUTPUT', `--out ${out} is there already`, {
      path: out,
      hint: 'name another file, or write over it with --force',
    });
  }
  const imported = importPlan(readBounded(file), path.basename(file));
  if (out === undefined) terminal.print(imported.text);
  else write(out, imported.text);
  terminal.error(findingsText(imported));
  const read = readPlan(imported.text);
  if (!read.ok) {
    terminal.error(
      `the plan is written, and not right yet:\n${formatProblems(out ?? 'plan', read.errors)}\n`,
    );
    return EXIT.planInvalid;
  }
  return imported.lostCount > 0 ? EXIT.inconclusive : EXIT.ok;
}

/** One line a finding, with its line in the original; the numbers last. */
function findingsText({ lost, changed, lostCount, changedCount }: ImportedPlan): string {
  const total = `${lostCount} not carried over · ${changedCount} changed`;
  return `${[...linesOf('changed', changed, changedCount), ...linesOf('lost   ', lost, lostCount), total].join('\n')}\n`;
}

function linesOf(kind: string, list: readonly Finding[], count: number): string[] {
  const more = count > list.length ? [`${kind}  and ${count - list.length} more`] : [];
  return [...list.map(({ line, what, why }) => `${kind}  line ${line}: ${what}: ${why}`), ...more];
}

function write(out: string, text: string): void {
  try {
    writeFileSync(out, text);
  } catch (cause) {
    throw new SquallError('SQ_OUTPUT', `nothing can be written to --out ${out}`, {
      path: out,
      cause,
    });
  }
}

/** Never more of it than is looked at. */
function readBounded(file: string): Uint8Array {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (cause) {
    throw new SquallError('SQ_PLAN', 'the file cannot be read', {
      path: file,
      hint: 'give the path of a JMeter plan or a HiveMQ Swarm scenario',
      cause,
    });
  }
  try {
    const { size } = fstatSync(descriptor);
    if (size > MAX_FILE_BYTES) throw tooLarge(file, size);
    return readAtMost(descriptor, file);
  } finally {
    closeSync(descriptor);
  }
}

/** Pipes and devices do not say how much they hold. */
function readAtMost(descriptor: number, file: string): Uint8Array {
  const pieces: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const piece = new Uint8Array(PIECE_BYTES);
    const bytes = readPiece(descriptor, piece, file);
    if (bytes === 0) return Buffer.concat(pieces);
    total += bytes;
    if (total > MAX_FILE_BYTES) throw tooLarge(file, total);
    pieces.push(piece.subarray(0, bytes));
  }
}

const PIECE_BYTES = 1024 * 1024;

function readPiece(descriptor: number, piece: Uint8Array, file: string): number {
  try {
    return readSync(descriptor, piece);
  } catch (cause) {
    throw new SquallError('SQ_PLAN', 'the file cannot be read', {
      path: file,
      hint: 'is it a file?',
      cause,
    });
  }
}
