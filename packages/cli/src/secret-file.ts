import { readFileSync } from 'node:fs';
import { SquallError } from '@squall/core/errors';

/**
 * A secret out of a file that holds it and nothing else. `what` is the word for it in messages: `token`.
 * @throws SquallError SQ_USAGE where the file cannot be read or is empty.
 */
export function readSecret(file: string, what: string): string {
  // Editors end a file with a newline; nobody means it as a part of the secret.
  const secret = readText(file, what).trim();
  if (secret !== '') return secret;
  throw new SquallError('SQ_USAGE', `the ${what} file is empty`, { path: file });
}

function readText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SquallError('SQ_USAGE', `the ${what} file cannot be read`, {
      path: file,
      hint: `give the path of a file that holds the ${what} and nothing else`,
      cause,
    });
  }
}
