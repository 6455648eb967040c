import { isMap, type JsonMap, mapOf, mapsOf, parseJson, textIn } from '../http/json-value.ts';
import { pageOf, pageText } from '../http/page.ts';
import { ProbeError } from '../probe.ts';

export type EmqxVersion = 4 | 5;

const REFUSED = 'HTTP 401';
const NOT_FOUND = 'HTTP 404';
const MAX_MESSAGE = 120;

/**
 * The management API of EMQX: where it is, who asks, and what is an error.
 *
 * 4.x wraps answers, and tells errors of the matter inside HTTP 200. 5.x takes an API key as it stands;
 * a user of the dashboard has to log in first, and too many wrong passwords lock the user out, so what
 * was refused once is not tried again.
 */
export class EmqxApi {
  readonly #base: string;
  readonly #account: Readonly<Record<string, string>>;
  readonly #login: string | null;
  #version: EmqxVersion | null;
  #token: string | null = null;
  #loggingIn: Promise<void> | null = null;
  #isRefused = false;

  /** @param address `http://key:secret@host:18083`; a path `/api/v4` or `/api/v5` tells the version */
  constructor(address: string) {
    const url = new URL(address);
    const named = /\/api\/v([45])\/?$/.exec(url.pathname)?.[1];
    this.#version = named === undefined ? null : named === '4' ? 4 : 5;
    url.pathname = url.pathname.replace(/\/(?:api\/v[45]\/?)?$/, '');
    url.search = '';
    url.hash = '';
    const { username, password } = url;
    this.#login =
      username === ''
        ? null
        : JSON.stringify({
            username: decodeURIComponent(username),
            password: decodeURIComponent(password),
          });
    const page = pageOf(url.href, { accept: 'application/json' });
    this.#base = page.url.replace(/\/$/, '');
    this.#account = page.headers;
  }

  /** 5.x tells without an account that it runs; 4.x knows no such page. */
  async version(signal: AbortSignal): Promise<EmqxVersion> {
    this.#version ??= (await this.#saysItRuns(signal)) ? 5 : 4;
    return this.#version;
  }

  /** The data of an answer. @throws ProbeError */
  async get(path: string, signal: AbortSignal): Promise<unknown> {
    if ((await this.version(signal)) === 5) return this.#get5(path, signal);
    const answer = await this.#page(`/api/v4${path}`, this.#account, signal);
    const envelope = mapOf(answer, path);
    if (envelope['code'] === 0) return envelope['data'];
    throw new ProbeError(`EMQX code ${String(envelope['code']).slice(0, 20)}`, messageOf(envelope));
  }

  async list(path: string, signal: AbortSignal): Promise<JsonMap[]> {
    return mapsOf(await this.get(path, signal), path);
  }

  /** Null where the API has no such page, as other versions and editions. */
  async listOrNone(path: string, signal: AbortSignal): Promise<JsonMap[] | null> {
    try {
      const answer = await this.get(path, signal);
      // Lists that come in pages are wrapped once more.
      return mapsOf(isMap(answer) ? answer['data'] : answer, path);
    } catch (error) {
      if (error instanceof ProbeError && error.reason === NOT_FOUND) return null;
      throw error;
    }
  }

  async #get5(path: string, signal: AbortSignal): Promise<unknown> {
    if (this.#isRefused)
      throw new ProbeError(REFUSED, 'the account was refused, and is not tried again');
    try {
      return await this.#page(`/api/v5${path}`, this.#headers(), signal);
    } catch (error) {
      if (!(error instanceof ProbeError) || error.reason !== REFUSED || this.#login === null)
        throw error;
      if (this.#isRefused) throw error;
      // Several requests of a reading are refused at once: one login is for all.
      this.#loggingIn ??= this.#logIn(this.#login, signal).finally(() => {
        this.#loggingIn = null;
      });
      await this.#loggingIn;
      return this.#page(`/api/v5${path}`, this.#headers(), signal);
    }
  }

  #headers(): Readonly<Record<string, string>> {
    if (this.#token === null) return this.#account;
    return { accept: 'application/json', authorization: `Bearer ${this.#token}` };
  }

  /** For an hour [dashboard.token_expired_time]; a token that is over is refused, and asked for anew. */
  async #logIn(account: string, signal: AbortSignal): Promise<void> {
    const page = { url: `${this.#base}/api/v5/login`, headers: {}, signal, post: account };
    try {
      const token = textIn(mapOf(parseJson(await pageText(page)), 'the login'), 'token');
      if (token === '') throw new ProbeError(REFUSED, 'the login gave no token');
      this.#token = token;
    } catch (error) {
      this.#isRefused = error instanceof ProbeError && error.reason === REFUSED;
      throw error;
    }
  }

  async #page(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<unknown> {
    return parseJson(await pageText({ url: this.#base + path, headers, signal }));
  }

  async #saysItRuns(signal: AbortSignal): Promise<boolean> {
    try {
      const page = { url: `${this.#base}/api/v5/status`, headers: {}, signal };
      return /\bemqx is /i.test(await pageText(page));
    } catch (error) {
      if (error instanceof ProbeError && error.reason.startsWith('HTTP 4')) return false;
      throw error;
    }
  }
}

function messageOf(envelope: JsonMap): string | undefined {
  const message = textIn(envelope, 'message').replaceAll(/\s+/g, ' ').slice(0, MAX_MESSAGE);
  return message === '' ? undefined : message;
}
