import type { BrokerUrl } from './plan.ts';
import { notSupported } from './problem.ts';
import type { Fault } from './schema/leaves.ts';

/** Ports where an address has none [IANA; RFC 6455, 3]. */
const PORTS = { mqtt: 1883, mqtts: 8883, ws: 80, wss: 443 } as const;

/** Path of a WebSocket where an address has none: what most brokers answer to. */
const WS_PATH = '/mqtt';

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//;
const AUTHORITY = /^(?:\[([0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/;
/** Path and query, without what cannot stand in a request line (RFC 9112, 3). */
const PATH = /^\/[\u0021-\u007e]*$/;
const HINT = 'write mqtt://host:port (or mqtts://, ws://, wss://)';

/** `mqtt://host:port` and the like taken apart, or what is wrong with it. */
export function parseBrokerUrl(text: string): BrokerUrl | Fault {
  if (text.includes('{{')) {
    return {
      message: 'an address cannot hold templates or environment variables',
      hint: 'use a variable of the plan and set it with --var',
    };
  }
  const word = SCHEME.exec(text)?.[1];
  if (word === undefined) return { message: `"${text}" is not an address`, hint: HINT };
  const scheme = schemeOf(word.toLowerCase());
  if (typeof scheme !== 'string') return scheme;
  const rest = text.slice(word.length + 3);
  const slash = rest.search(/[/?#]/);
  const authority = parseAuthority(slash < 0 ? rest : rest.slice(0, slash));
  if (isFault(authority)) return authority;
  const path = parsePath(scheme, slash < 0 ? '' : rest.slice(slash));
  if (typeof path !== 'string') return path;
  const port = authority.port ?? PORTS[scheme];
  if (port < 1 || port > 65_535) return { message: `there is no port ${port}`, hint: '1 to 65535' };
  return { scheme, host: authority.host, port, path };
}

function schemeOf(word: string): BrokerUrl['scheme'] | Fault {
  if (word === 'mqtt' || word === 'mqtts' || word === 'ws' || word === 'wss') return word;
  if (word === 'quic') {
    return {
      message: notSupported('quic:// is'),
      code: 'SQ_UNSUPPORTED',
      hint: 'Node.js speaks no QUIC: use mqtts://',
    };
  }
  return { message: `${word}:// is not an address of MQTT`, hint: HINT };
}

function parseAuthority(
  authority: string,
): { readonly host: string; readonly port: number | null } | Fault {
  if (authority.includes('@')) {
    return {
      message: 'an address cannot hold a user name',
      hint: 'write username and password into the group',
    };
  }
  const match = AUTHORITY.exec(authority);
  const host = match?.[1] ?? match?.[2];
  if (match === null || host === undefined) {
    return { message: `"${authority}" is not host:port`, hint: HINT };
  }
  return { host, port: match[3] === undefined ? null : Number(match[3]) };
}

function parsePath(scheme: BrokerUrl['scheme'], rest: string): string | Fault {
  if (scheme === 'mqtt' || scheme === 'mqtts') {
    if (rest === '' || rest === '/') return '';
    return { message: 'an address of MQTT has no path', hint: 'ws:// and wss:// have one' };
  }
  if (rest === '') return WS_PATH;
  if (PATH.test(rest) && !rest.includes('#')) return rest;
  return { message: `"${rest}" is no path of a WebSocket`, hint: 'it begins with /' };
}

export function isFault(parsed: object): parsed is Fault {
  return 'message' in parsed;
}
