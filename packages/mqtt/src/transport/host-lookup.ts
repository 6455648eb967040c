import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { monotonicUs } from '../monotonic.ts';

/** Thousands of connects a second must not become thousands of look-ups, nor pin a dead address. */
const LOOKUP_VALID_US = 30e6;
/** A plan names a handful of brokers; past this many names the cache starts afresh. */
const NAMES_MAX = 256;

interface Entry {
  addresses: readonly LookupAddress[];
  validUntilUs: number;
}

type Answer = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void;

const known = new Map<string, Entry>();
/** Look-ups under way, each with all who wait for it. */
const waiting = new Map<string, Answer[]>();

/**
 * Resolves a name as `dns.lookup` does (IPv4 first), for `net.connect`: answers are kept for 30 s,
 * and those who ask for one name at a time share one look-up. Failures are not kept.
 */
export const lookupHost: LookupFunction = (name, options, callback) => {
  resolve(name, (error, addresses) => {
    const family = options.family === 4 || options.family === 6 ? options.family : 0;
    const fitting = addresses.filter((a) => family === 0 || a.family === family);
    const [first] = fitting;
    if (error !== null) callback(error, []);
    else if (first === undefined) callback(notFound(name), []);
    else if (options.all === true) callback(null, fitting);
    else callback(null, first.address, first.family);
  });
};

function resolve(name: string, answer: Answer): void {
  const entry = known.get(name);
  if (entry !== undefined && entry.validUntilUs > monotonicUs()) {
    process.nextTick(answer, null, entry.addresses);
    return;
  }
  const others = waiting.get(name);
  if (others !== undefined) {
    others.push(answer);
    return;
  }
  const answers = [answer];
  waiting.set(name, answers);
  lookup(name, { all: true, order: 'ipv4first' }, (error, addresses) => {
    waiting.delete(name);
    if (error === null) {
      if (known.size >= NAMES_MAX) known.clear();
      known.set(name, { addresses, validUntilUs: monotonicUs() + LOOKUP_VALID_US });
    }
    for (const each of answers) each(error, error === null ? addresses : []);
  });
}

function notFound(name: string): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`no address of ${name} fits the source address`);
  error.code = 'ENOTFOUND';
  return error;
}
