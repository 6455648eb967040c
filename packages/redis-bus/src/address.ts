import { SquallError } from '@squall/core/errors';

const DEFAULT_PORT = 6379;

/** Where a Redis server is, and how to be let in. Only `shown` is fit to be printed. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly username: string | null;
  readonly password: string | null;
  readonly db: number;
  /** Without the password: `redis://user:…@host:6379/0`. */
  readonly shown: string;
}

/**
 * Reads `redis://[[user]:password@]host[:port][/db]`, with `rediss://` for TLS. Errors never repeat
 * the text, because it may hold a password.
 *
 * @throws SquallError SQ_USAGE
 */
export function parseRedisAddress(text: string): RedisAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  const tls = url?.protocol === 'rediss:';
  if (url === null || (!tls && url.protocol !== 'redis:') || url.hostname === '') throw refused();
  // An unescaped # or ? in a password ends up here, and the rest of the address with it.
  if (url.search !== '' || url.hash !== '') throw refused();
  const db = /^\/?(\d{0,5})$/.exec(url.pathname)?.[1];
  if (db === undefined) throw refused();
  const username = decoded(url.username);
  const address = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    tls,
    username,
    password: decoded(url.password) ?? (username === null ? null : ''),
    db: Number(db),
  };
  return { ...address, shown: shownOf(address, url.hostname) };
}

function shownOf(address: Omit<RedisAddress, 'shown'>, hostname: string): string {
  const { db, password, port, tls, username } = address;
  const user = username === null ? '' : encodeURIComponent(username);
  const login =
    username === null && password === null ? '' : `${user}${password === '' ? '' : ':…'}@`;
  return `redis${tls ? 's' : ''}://${login}${hostname}:${port}${db === 0 ? '' : `/${db}`}`;
}

function decoded(part: string): string | null {
  if (part === '') return null;
  try {
    return decodeURIComponent(part);
  } catch {
    throw refused();
  }
}

function refused(): SquallError {
  return new SquallError('SQ_USAGE', 'this is not the address of a Redis server', {
    hint: 'write it as redis://user:password@host:6379 (rediss:// for TLS); characters such as @ / # ? % in a password are written as %40 %2F %23 %3F %25',
  });
}
