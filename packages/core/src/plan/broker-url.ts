import type { BrokerUrl } from './plan.ts';
import { notSupported } from './problem.ts';
import type { Fault } from './schema/leaves.ts';

/** Port of MQTT without TLS [IANA]. */
const MQTT_PORT = 1883;

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//;
const AUTHORITY = /^(?:\[([0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/;
const LATER_SCHEMES = ['mqtts', 'ws', 'wss'];

/** `mqtt://host:port` taken apart, or what is wrong with it. */
export function parseBrokerUrl(text: string): BrokerUrl | Fault {
  if (text.includes('{{')) {
    return {
      message: 'an address cannot hold templates or environment variables',
      hint: 'use a variable of the plan and set it with --var',
    };
  }
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    return { message: `"${text}" is not an address`, hint: 'write mqtt://host:port' };
  }
  if (LATER_SCHEMES.includes(scheme)) {
    return { message: notSupported(`${scheme}:// is`), code: 'SQ_UNSUPPORTED' };
  }
  if (scheme !== 'mqtt') {
    return { message: `${scheme}:// is not an address of MQTT`, hint: 'write mqtt://host:port' };
  }
  return parseAuthority(text.slice(scheme.length + 3).replace(/\/$/, ''));
}

function parseAuthority(authority: string): BrokerUrl | Fault {
  if (authority.includes('@')) {
    return {
      message: 'an address cannot hold a user name',
      hint: 'write username and password into the group',
    };
  }
  if (/[/?#]/.test(authority)) return { message: 'an address of MQTT has no path' };
  const match = AUTHORITY.exec(authority);
  const host = match?.[1] ?? match?.[2];
  if (match === null || host === undefined) {
    return { message: `"${authority}" is not host:port`, hint: 'write mqtt://host:port' };
  }
  const port = Number(match[3] ?? MQTT_PORT);
  if (port < 1 || port > 65_535) return { message: `there is no port ${port}`, hint: '1 to 65535' };
  return { scheme: 'mqtt', host, port, path: '' };
}

export function isFault(parsed: BrokerUrl | Fault): parsed is Fault {
  return 'message' in parsed;
}
