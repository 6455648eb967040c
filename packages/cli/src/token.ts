import { readFileSync } from 'node:fs';
import { SquallError } from '@squall/core/errors';

export interface TokenSource {
  /** `--token` or SQUALL_TOKEN. */
  readonly token?: string;
  readonly tokenFile?: string;
}

/**
 * The join token that the command line, the environment or a file gives, or null.
 * @throws SquallError SQ_USAGE where the file cannot be read or is empty.
 */
export function joinToken(source: TokenSource): string | null {
  if (source.tokenFile === undefined) return source.token ?? null;
  const token = readToken(source.tokenFile);
  if (token !== '') return token;
  throw new SquallError('SQ_USAGE', 'the token file is empty', { path: source.tokenFile });
}

function readToken(file: string): string {
  try {
    // Editors end a file with a newline; nobody means it as a part of the token.
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new SquallError('SQ_USAGE', 'the token file cannot be read', {
      path: file,
      hint: 'give the path of a file that holds the token and nothing else',
      cause,
    });
  }
}
