import { readFileSync } from 'node:fs';
import { SquallError } from '@squall/core/errors';

export interface EncryptionOptions {
  /** Files in PEM form, both or none. */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** Listen for other machines without TLS. */
  readonly unencrypted?: true;
}

interface Encryption {
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly unencrypted?: true;
}

/**
 * How the controller's port is encrypted, as its options want it.
 * @throws SquallError SQ_USAGE for half a pair, both ways at once, or a file that cannot be read.
 */
export function encryption({ tlsCert, tlsKey, unencrypted }: EncryptionOptions): Encryption {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new SquallError('SQ_USAGE', '--tls-cert and --tls-key belong together', {
      hint: 'give both, or none',
    });
  }
  if (tlsCert === undefined || tlsKey === undefined) {
    return unencrypted === undefined ? {} : { unencrypted };
  }
  if (unencrypted !== undefined) {
    throw new SquallError('SQ_USAGE', '--unencrypted contradicts --tls-cert', {
      hint: 'leave one of them out',
    });
  }
  return { tls: { cert: pem('--tls-cert', tlsCert), key: pem('--tls-key', tlsKey) } };
}

function pem(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SquallError('SQ_USAGE', `the file of ${option} cannot be read`, {
      path: file,
      hint: 'give the path of a file in PEM form',
      cause,
    });
  }
}
