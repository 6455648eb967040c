import { createHash, randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { httpRefusal, UPGRADE_REASONS } from './ws-reasons.ts';

/** How one connection asks for its WebSocket. */
export interface WsRequest {
  /** From its `/` on, with the query if there is one. */
  readonly path: string;
  /** Further headers, by name. */
  readonly headers: Readonly<Record<string, string>>;
  /** `mqtt`; `mqttv3.1` with version 3.1 [MQTT-6.0.0-3]. */
  readonly subprotocol: string;
}

export interface Upgrade {
  /** The request, ready to be sent. */
  readonly request: Buffer;
  /** What the answer must bear as Sec-WebSocket-Accept. */
  readonly accept: string;
}

/** RFC 6455, 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
/** Spaces, tabs and visible characters (RFC 9110, 5.5): what could end a line is none of them. */
const FIELD = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
/** One request line: no space, no end of the line. */
const PATH = /^\/[\u0021-\u007e]*$/;
/** Written by us alone. */
const OWN = /^(?:upgrade|connection|sec-websocket-.*|content-length|transfer-encoding)$/i;

/**
 * The request for a WebSocket (RFC 6455, 4.1).
 * @throws RangeError for a path or a header that fits in no request.
 */
export function makeUpgrade(
  server: { host: string; port: number; secure: boolean },
  ws: WsRequest,
): Upgrade {
  if (!PATH.test(ws.path)) throw new RangeError(`"${ws.path}" is no path of a WebSocket`);
  const key = randomBytes(16).toString('base64');
  const headers = Object.entries(ws.headers);
  for (const [name, value] of headers) checkHeader(name, value);
  const lines = [
    `GET ${ws.path} HTTP/1.1`,
    ...(headers.some(([name]) => /^host$/i.test(name)) ? [] : [`Host: ${hostOf(server)}`]),
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${key}`,
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Protocol: ${ws.subprotocol}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  return {
    request: Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
    accept: createHash('sha1').update(`${key}${GUID}`).digest('base64'),
  };
}

/** Why the answer grants no WebSocket, or null where it does. `head` ends before its empty line. */
export function upgradeFault(
  head: string,
  expected: { readonly accept: string; readonly subprotocol: string },
): string | null {
  const [first = '', ...lines] = head.split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(first)?.[1];
  if (status === undefined) return UPGRADE_REASONS.notHttp;
  if (status !== '101') return httpRefusal(Number(status));
  const headers = readHeaders(lines);
  const has = (name: string, token: string): boolean =>
    (headers.get(name) ?? '')
      .toLowerCase()
      .split(/\s*,\s*/)
      .includes(token);
  if (!has('upgrade', 'websocket') || !has('connection', 'upgrade')) {
    return UPGRADE_REASONS.noUpgrade;
  }
  if (headers.get('sec-websocket-accept') !== expected.accept) return UPGRADE_REASONS.wrongAccept;
  if (headers.has('sec-websocket-extensions')) return UPGRADE_REASONS.extension;
  const chosen = headers.get('sec-websocket-protocol');
  return chosen === expected.subprotocol ? null : UPGRADE_REASONS.subprotocol;
}

/** Names in lower case; a name that comes twice is one list. */
function readHeaders(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

function checkHeader(name: string, value: string): void {
  if (!TOKEN.test(name)) throw new RangeError(`"${name}" is no name of a header`);
  if (OWN.test(name)) throw new RangeError(`the header ${name} belongs to the upgrade itself`);
  if (!FIELD.test(value))
    throw new RangeError(`the header ${name} has a character that fits in none`);
}

/** With its port where it is not the scheme's own. */
function hostOf({ host, port, secure }: { host: string; port: number; secure: boolean }): string {
  const name = isIPv6(host) ? `[${host}]` : host;
  return port === (secure ? 443 : 80) ? name : `${name}:${port}`;
}
