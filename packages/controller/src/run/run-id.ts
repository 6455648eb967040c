import { randomBytes } from 'node:crypto';

/** Lower-case base32 (RFC 4648 alphabet): safe in client ids, topics, file names and URLs. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Length of `{{run}}`: client ids must stay short, and 40 bits do not collide in practice. */
const SHORT_LENGTH = 8;

export interface RunId {
  /** `20261130t173055-k3v9x2qa`: sorts by start, unique. */
  readonly full: string;
  /** `k3v9x2qa`: what `{{run}}` gives. */
  readonly short: string;
}

/** @throws RangeError for a text that is no full id. */
export function readRunId(full: string): RunId {
  const short = /^\d{8}t\d{6}-([a-z2-7]{8})$/.exec(full)?.[1];
  if (short === undefined) throw new RangeError(`${full} is no id of a run`);
  return { full, short };
}

export function createRunId(utcMs: number, entropy: Uint8Array = randomBytes(SHORT_LENGTH)): RunId {
  const short = Array.from(entropy.subarray(0, SHORT_LENGTH), (byte) => ALPHABET[byte & 31]).join(
    '',
  );
  const [day = '', time = ''] = new Date(utcMs).toISOString().split('T');
  const stamp = `${day.replaceAll('-', '')}t${time.slice(0, 8).replaceAll(':', '')}`;
  return { full: `${stamp}-${short}`, short };
}
