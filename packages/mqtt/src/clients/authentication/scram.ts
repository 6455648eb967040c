import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ScramCredentials } from '../connect-options.ts';

/** RFC 5802 asks for 4,096 at least; above this an answer would keep a core busy for seconds. */
const ITERATIONS_MAX = 1_000_000;
const NONCE_BYTES = 18;
/** GS2 header: no channel binding, no other identity [RFC 5802, section 7]. */
const GS2_HEADER = 'n,,';

const HASHES = {
  'SCRAM-SHA-256': { name: 'sha256', bytes: 32 },
  'SCRAM-SHA-512': { name: 'sha512', bytes: 64 },
} as const;

/**
 * The client's side of one SCRAM exchange [RFC 5802, RFC 7677], which shows that both sides know the
 * password without sending it. User and password are taken as they are (no SASLprep).
 */
export class ScramExchange {
  readonly #credentials: ScramCredentials;
  readonly #nonce: string;
  readonly #firstBare: string;
  #serverSignature: Buffer | null = null;

  constructor(credentials: ScramCredentials, nonce = randomBytes(NONCE_BYTES).toString('base64')) {
    const name = credentials.username.replaceAll('=', '=3D').replaceAll(',', '=2C');
    this.#credentials = credentials;
    this.#nonce = nonce;
    this.#firstBare = `n=${name},r=${nonce}`;
  }

  /** The client's first message. */
  first(): Buffer {
    return Buffer.from(GS2_HEADER + this.#firstBare);
  }

  /**
   * The client's final message in answer to the server's first one; the key is derived off the
   * event loop. Rejects with a `ScramError` for a server message that is none, or not of this exchange.
   */
  async final(serverFirst: Uint8Array): Promise<Buffer> {
    const text = Buffer.from(serverFirst).toString();
    const { nonce, salt, iterations } = this.#readChallenge(text);
    const hash = HASHES[this.#credentials.method];
    const salted = await derive(this.#credentials.password, { salt, iterations, hash });
    const withoutProof = `c=${Buffer.from(GS2_HEADER).toString('base64')},r=${nonce}`;
    const authMessage = `${this.#firstBare},${text},${withoutProof}`;
    const clientKey = hmac(hash.name, salted, 'Client Key');
    const storedKey = createHash(hash.name).update(clientKey).digest();
    const signature = hmac(hash.name, storedKey, authMessage);
    const proof = clientKey.map((byte, at) => byte ^ (signature[at] ?? 0));
    this.#serverSignature = hmac(hash.name, hmac(hash.name, salted, 'Server Key'), authMessage);
    return Buffer.from(`${withoutProof},p=${Buffer.from(proof).toString('base64')}`);
  }

  /** Whether the server's final message shows that it knows the password, too. */
  accepts(serverFinal: Uint8Array): boolean {
    const expected = this.#serverSignature;
    const shown = fieldsOf(Buffer.from(serverFinal).toString()).get('v');
    if (expected === null || shown === undefined) return false;
    const signature = Buffer.from(shown, 'base64');
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  }

  #readChallenge(text: string): { nonce: string; salt: Buffer; iterations: number } {
    const fields = fieldsOf(text);
    const nonce = fields.get('r') ?? '';
    const iterations = Number(fields.get('i'));
    const salt = Buffer.from(fields.get('s') ?? '', 'base64');
    if (!nonce.startsWith(this.#nonce) || nonce.length === this.#nonce.length) {
      throw new ScramError('nonce that is not of this exchange');
    }
    if (salt.length === 0) throw new ScramError('challenge without salt');
    if (!Number.isInteger(iterations) || iterations < 1 || iterations > ITERATIONS_MAX) {
      throw new ScramError(`iteration count that is not 1 to ${ITERATIONS_MAX}`);
    }
    return { nonce, salt, iterations };
  }
}

/** The server's part of the exchange is not what it has to be. */
export class ScramError extends Error {}

interface Derivation {
  readonly salt: Buffer;
  readonly iterations: number;
  readonly hash: { readonly name: string; readonly bytes: number };
}

function derive(password: string, { salt, iterations, hash }: Derivation): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    pbkdf2(password, salt, iterations, hash.bytes, hash.name, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

function hmac(hash: string, key: Buffer, text: string): Buffer {
  return createHmac(hash, key).update(text).digest();
}

/** `r=…,s=…,i=…` by letter. */
function fieldsOf(text: string): Map<string, string> {
  return new Map(text.split(',').map((field) => [field.slice(0, 1), field.slice(2)]));
}
