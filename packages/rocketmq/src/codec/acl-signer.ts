import * as crypto from 'node:crypto';

/** SHA-1 works on blocks of 64 bytes (FIPS 180-4), and so does HMAC (RFC 2104). */
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 20;
const SCRATCH_BYTES = 8 * 1024;

/** An access key with its secret. The secret stays in here: nothing prints it. */
export interface AclCredentials {
  readonly accessKey: string;
  readonly secretKey: string;
  /** Of temporary credentials. */
  readonly securityToken?: string;
}

type OneShotHash = (algorithm: string, data: Uint8Array, encoding: 'binary' | 'base64') => string;

/** From Node 20.12 on; it costs a third less than an HMAC object. */
const oneShot: OneShotHash | undefined = Reflect.get(crypto, 'hash');

/**
 * Signs requests as brokers of every version check them: HMAC-SHA1 over the values of all fields, in
 * the order of their names, and the body; in Base64, 28 characters.
 */
export class AclSigner {
  readonly accessKey: string;
  readonly securityToken: string | undefined;
  readonly #key: crypto.KeyObject;
  /** The inner block, then what is signed. */
  #inner = Buffer.alloc(BLOCK_BYTES + SCRATCH_BYTES);
  /** The outer block, then the inner digest. */
  readonly #outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);

  constructor(credentials: AclCredentials) {
    this.accessKey = credentials.accessKey;
    this.securityToken = credentials.securityToken;
    const secret = Buffer.from(credentials.secretKey);
    this.#key = crypto.createSecretKey(secret);
    const block = Buffer.alloc(BLOCK_BYTES);
    if (secret.length > BLOCK_BYTES) crypto.createHash('sha1').update(secret).digest().copy(block);
    else secret.copy(block);
    for (let i = 0; i < BLOCK_BYTES; i += 1) {
      this.#inner[i] = (block[i] ?? 0) ^ 0x36;
      this.#outer[i] = (block[i] ?? 0) ^ 0x5c;
    }
  }

  /** The fields of a request with those that prove who sends it. */
  signed(ext: Readonly<Record<string, string>>, body: Uint8Array): Record<string, string> {
    const named: Record<string, string> = { ...ext, AccessKey: this.accessKey };
    if (this.securityToken !== undefined) named['SecurityToken'] = this.securityToken;
    delete named['Signature'];
    const values = Object.keys(named)
      .toSorted(byCodeUnit)
      .map((name) => named[name])
      .join('');
    return { ...named, Signature: this.sign(Buffer.from(values), body) };
  }

  /** The signature of sorted values and body. */
  sign(values: Uint8Array, body: Uint8Array): string {
    if (oneShot === undefined) {
      return crypto.createHmac('sha1', this.#key).update(values).update(body).digest('base64');
    }
    const end = BLOCK_BYTES + values.length + body.length;
    if (end > this.#inner.length) this.#grow(end);
    this.#inner.set(values, BLOCK_BYTES);
    this.#inner.set(body, BLOCK_BYTES + values.length);
    const inner = oneShot('sha1', this.#inner.subarray(0, end), 'binary');
    this.#outer.write(inner, BLOCK_BYTES, 'latin1');
    return oneShot('sha1', this.#outer, 'base64');
  }

  #grow(needed: number): void {
    const larger = Buffer.alloc(Math.max(needed, this.#inner.length * 2));
    this.#inner.copy(larger, 0, 0, BLOCK_BYTES);
    this.#inner = larger;
  }
}

/** Java's order of strings: upper case before lower, so AccessKey comes first. */
function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
