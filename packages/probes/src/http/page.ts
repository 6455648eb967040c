import { probeErrorOf } from '../error-reason.ts';
import { ProbeError } from '../probe.ts';

/** Bytes of a page that is read whole. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

export interface PageRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** A text in JSON that is posted; left out: the page is got. */
  readonly post?: string;
}

const HINTS: Readonly<Record<number, string>> = {
  401: 'the account was refused',
  403: 'the account may not read this',
};

/** Credentials in an address go into a header: `fetch` takes none in addresses. */
export function pageOf(
  address: string,
  headers: Readonly<Record<string, string>> = {},
): Omit<PageRequest, 'signal'> {
  const url = new URL(address);
  const { username, password } = url;
  if (username === '' && password === '') return { url: url.href, headers };
  url.username = '';
  url.password = '';
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  return { url: url.href, headers: { authorization, ...headers } };
}

/** The chunks of a page. @throws ProbeError */
export async function* pageChunks(request: PageRequest): AsyncGenerator<Uint8Array> {
  try {
    const { url, headers, signal, post } = request;
    const answer = await fetch(url, {
      headers: post === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      signal,
      redirect: 'follow',
      ...(post === undefined ? {} : { method: 'POST', body: post }),
    });
    if (!answer.ok) {
      await answer.body?.cancel();
      throw new ProbeError(`HTTP ${answer.status}`, HINTS[answer.status]);
    }
    if (answer.body === null) return;
    for await (const chunk of answer.body) yield chunk;
  } catch (error) {
    throw probeErrorOf(error);
  }
}

/** A whole page as text. @throws ProbeError also where it is larger than `MAX_PAGE_BYTES` */
export async function pageText(request: PageRequest): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of pageChunks(request)) {
    bytes += chunk.length;
    if (bytes > MAX_PAGE_BYTES) {
      throw new ProbeError('answer too large', `more than ${MAX_PAGE_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
