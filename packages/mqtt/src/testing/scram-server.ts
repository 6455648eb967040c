import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import type { AuthAnswer, AuthStep } from './broker/broker-scene.ts';

const ITERATIONS = 4_096;
const KEY_BYTES = 32;
const SALT = Buffer.from('salt of this server');
const [GO_ON, DONE, NOT_AUTHORIZED, BAD_METHOD] = [0x18, 0x00, 0x87, 0x8c];

/** The server's side of SCRAM-SHA-256 [RFC 5802, 7677] for one password: `auth` of a `FaultBroker`. */
export class ScramServer {
  readonly #salted: Buffer;
  /** Exchanges under way, by the client's nonce. */
  readonly #exchanges = new Map<string, { readonly bare: string; readonly first: string }>();
  /** A server that does not know the password itself. */
  readonly #isImpostor: boolean;

  constructor(password: string, options: { readonly isImpostor?: boolean } = {}) {
    this.#salted = pbkdf2Sync(password, SALT, ITERATIONS, KEY_BYTES, 'sha256');
    this.#isImpostor = options.isImpostor ?? false;
  }

  answer({ data, method }: AuthStep): AuthAnswer {
    if (method !== 'SCRAM-SHA-256') return { reasonCode: BAD_METHOD };
    const text = Buffer.from(data ?? []).toString();
    return text.startsWith('n,,') ? this.#challenge(text.slice(3)) : this.#judge(text);
  }

  #challenge(bare: string): AuthAnswer {
    const nonce = `${/r=(.*)$/.exec(bare)?.[1] ?? ''}of-the-server`;
    const first = `r=${nonce},s=${SALT.toString('base64')},i=${ITERATIONS}`;
    this.#exchanges.set(nonce, { bare, first });
    return { reasonCode: GO_ON, data: Buffer.from(first) };
  }

  #judge(text: string): AuthAnswer {
    const [withoutProof = '', proof = ''] = text.split(',p=');
    const nonce = /r=(.*)$/.exec(withoutProof)?.[1] ?? '';
    const exchange = this.#exchanges.get(nonce);
    if (exchange === undefined) return { reasonCode: NOT_AUTHORIZED };
    this.#exchanges.delete(nonce);
    const authMessage = `${exchange.bare},${exchange.first},${withoutProof}`;
    const clientKey = hmac(this.#salted, 'Client Key');
    const signature = hmac(createHash('sha256').update(clientKey).digest(), authMessage);
    const expected = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0)));
    if (!expected.equals(Buffer.from(proof, 'base64'))) return { reasonCode: NOT_AUTHORIZED };
    const shown = hmac(hmac(this.#salted, 'Server Key'), authMessage);
    if (this.#isImpostor) shown.fill(0);
    return { reasonCode: DONE, data: Buffer.from(`v=${shown.toString('base64')}`) };
  }
}

function hmac(key: Buffer, what: string): Buffer {
  return createHmac('sha256', key).update(what).digest();
}
