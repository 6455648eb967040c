import { readSecret } from './secret-file.ts';

export interface TokenSource {
  /** `--token` or SQUALL_TOKEN. */
  readonly token?: string | undefined;
  /** `--token-file` or SQUALL_TOKEN_FILE; goes before the other. */
  readonly tokenFile?: string | undefined;
}

/**
 * The join token that the command line, the environment or a file gives, or null.
 * @throws SquallError SQ_USAGE where the file cannot be read or is empty.
 */
export function joinToken(source: TokenSource): string | null {
  if (source.tokenFile === undefined) return source.token ?? null;
  return readSecret(source.tokenFile, 'token');
}
