import { RocketmqError } from '../codec/rocketmq-error.ts';

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/**
 * `host:port` as routes and plans write it; the last colon divides, so that IPv6 literals may stand
 * with or without brackets.
 *
 * @throws RocketmqError ARGUMENT
 */
export function parseAddress(address: string): HostAndPort {
  const at = address.lastIndexOf(':');
  const port = Number(address.slice(at + 1));
  const host = address.slice(0, at).replace(/^\[(.*)\]$/, '$1');
  if (at <= 0 || host === '' || !/^\d+$/.test(address.slice(at + 1)) || port > 65_535 || port < 1) {
    throw new RocketmqError('ARGUMENT', `${JSON.stringify(address)} is no address (host:port)`);
  }
  return { host, port };
}
