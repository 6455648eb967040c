import { SquallError } from '@squall/core/errors';
import { parseDuration, parseRate } from '@squall/core/units';
import { InvalidArgumentError } from 'commander';

/** Parsers of option values. Each throws what commander prints as a usage error (exit code 2). */

/** `--var k=v`, any number of times. */
export function keyValue(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must have the form key=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** `90s`, `5m` → µs, above 0. */
export function durationUs(text: string): number {
  try {
    const us = parseDuration(text);
    if (us > 0) return us;
  } catch (error) {
    if (!(error instanceof SquallError)) throw error;
    throw new InvalidArgumentError(`${error.message}; ${error.hint ?? ''}.`);
  }
  throw new InvalidArgumentError('It must be longer than nothing.');
}

/** `--scale 0.01`: any factor above 0. */
export function scaleFactor(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('The scale must be a number above 0, such as 0.01.');
}

/** `500/s` → a second, above 0. */
export function perSecond(text: string): number {
  try {
    const rate = parseRate(text);
    if (rate > 0) return rate;
  } catch (error) {
    if (!(error instanceof SquallError)) throw error;
    throw new InvalidArgumentError(`${error.message}; ${error.hint ?? ''}.`);
  }
  throw new InvalidArgumentError('It must be above 0.');
}

/** `10m` as it is written, for a plan to hold: checked, not changed. */
export function planDuration(text: string): string {
  durationUs(text);
  return text;
}

export interface HostAndPort {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** `127.0.0.1:7000`, `[::1]:7000`. */
export function hostAndPort(text: string): HostAndPort {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535) {
    throw new InvalidArgumentError('It must have the form host:port, such as 127.0.0.1:7000.');
  }
  return { host, port };
}

export interface SplitSize {
  readonly agents: number;
  readonly workers: number;
}

/** `5` (one worker each) or `5x2`. */
export function splitSize(text: string): SplitSize {
  const match = /^(\d{1,4})(?:x(\d{1,4}))?$/.exec(text);
  const agents = Number(match?.[1]);
  const workers = Number(match?.[2] ?? 1);
  if (agents >= 1 && workers >= 1) return { agents, workers };
  throw new InvalidArgumentError(
    'It must be a number of agents, such as 5, or 5x2 (2 workers each).',
  );
}

/** `ws://host:port`, or the `http://` address of the same port; with TLS `wss://` or `https://`. */
export function controllerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const known = /^(ws|http)s?:$/.test(url?.protocol ?? '');
  if (known && url?.hostname !== '') return text.replace(/^http/, 'ws');
  throw new InvalidArgumentError('It must be an address such as ws://127.0.0.1:4747.');
}

/** `http://host:port`, or the `ws://` address of the same port; with TLS `https://` or `wss://`. */
export function apiUrl(text: string): string {
  return controllerUrl(text).replace(/^ws/, 'http');
}

const DAY_US = 24 * 3_600_000_000;

/** `90d`, `48h` → µs; `forever`. */
export function retention(text: string): number | 'forever' {
  if (text === 'forever') return text;
  const days = /^(\d{1,6})d$/.exec(text)?.[1];
  return days === undefined ? durationUs(text) : Number(days) * DAY_US;
}
