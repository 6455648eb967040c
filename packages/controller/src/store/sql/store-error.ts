import path from 'node:path';
import { SquallError } from '@squall/core/errors';

interface Meaning {
  readonly message: string;
  readonly hint: string;
}

/** By SQLite's primary result code [sqlite.org/rescode.html]. */
const MEANINGS: Readonly<Record<number, Meaning>> = {
  5: {
    message: 'another controller has this store open',
    hint: 'a store belongs to one controller at a time: stop the other one, or use another file',
  },
  8: {
    message: 'the store is read-only',
    hint: 'let the user of the controller write to the file and to its folder',
  },
  10: {
    message: 'the disk of the store failed',
    hint: 'see what the system says about the disk; network file systems do not carry a store',
  },
  11: {
    message: 'the store is damaged',
    hint: 'keep the file for an inspection and start with a new one, or with a copy from before',
  },
  13: {
    message: 'the store has no room left',
    hint: 'make room on its disk, or delete runs that are not needed any more',
  },
  14: {
    message: 'the store cannot be opened',
    hint: 'see that its folder exists and that the user of the controller may write there',
  },
  26: {
    message: 'the file is no store of Squall',
    hint: 'give the path of another file; a new one is made where there is none',
  },
};

/** Codes that are found out here before SQLite would say them. */
export const RESULT = { readOnly: 8, damaged: 11, cannotOpen: 14, notOurs: 26 } as const;

const UNKNOWN: Meaning = {
  message: 'the store failed',
  hint: 'see the cause; a restart of the controller opens the store anew',
};

/** The low byte of an extended code is its primary one. */
const PRIMARY = 0xff;

/** What SQLite says, as an error of ours. Errors of ours stay what they are. */
export function storeError(error: unknown, file: string): SquallError {
  if (error instanceof SquallError) return error;
  const known = typeof error === 'object' && error !== null && 'errcode' in error;
  return refusal(known ? Number(error.errcode) : 0, file, error);
}

/** The error that a result code stands for. */
export function refusal(code: number, file: string, cause?: unknown): SquallError {
  const { message, hint: rule } = MEANINGS[code & PRIMARY] ?? UNKNOWN;
  const user = process.getuid?.();
  const mend = user === undefined ? rule : `${rule}: chown -R ${user} ${path.dirname(file)}`;
  const hint = (code & PRIMARY) === RESULT.readOnly ? mend : rule;
  return new SquallError('SQ_STORE', message, { path: file, hint, cause });
}
