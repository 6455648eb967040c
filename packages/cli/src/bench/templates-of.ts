import type { GivenFlags } from './parse-flags.ts';
import { usage } from '../usage-error.ts';

/** `{{n}}`, or with --startnumber what is added to it: the number that emqtt_bench gives a client. */
function clientNumber(flags: GivenFlags): string {
  const start = flags.number('startnumber');
  return start === 0 ? '{{n}}' : `{{n + ${start}}}`;
}

export function clientId(flags: GivenFlags): string {
  const prefix = flags.text('prefix');
  const number = clientNumber(flags);
  if (flags.on('shortids')) return `${prefix}${number}`;
  // emqtt_bench takes the host's name and a random number; the run's id is as unique and shorter.
  return `${prefix === '' ? '{{run}}' : prefix}_bench_${flags.kind}_${number}`;
}

/** User names and passwords: `%i` and `%rand_N` count where they are the whole text. */
export function credential(flags: GivenFlags, text: string): string {
  if (text === '%i') return clientNumber(flags);
  return randomOf(text) ?? text;
}

/** Topics: what emqtt_bench fills in, it fills in where it is a whole level. */
export function topic(flags: GivenFlags, text: string): string {
  return text
    .split('/')
    .map((level) => topicLevel(flags, level))
    .join('/');
}

function topicLevel(flags: GivenFlags, level: string): string {
  switch (level) {
    case '%i':
      return clientNumber(flags);
    case '%c':
      return clientId(flags);
    case '%u':
      return flags.has('username') ? credential(flags, flags.text('username')) : level;
    case '%s':
      return flags.kind === 'pub' ? '{{seq}}' : level;
    default:
      return (flags.kind === 'pub' ? randomOf(level) : null) ?? level;
  }
}

function randomOf(text: string): string | null {
  const most = /^%rand_(\d{1,15})$/.exec(text)?.[1];
  return most === undefined ? null : `{{random 1 ${most}}}`;
}

/** Digits of one `{{random}}`; longer random texts are several in a row. */
const RANDOM_DIGITS = 9;
/** Beyond it the template would be larger than any plan should be. */
const MAX_RANDOM_BYTES = 16_384;

/** The placeholders of `template://` payloads; each is filled in as often as it stands. */
export function payloadTemplate(text: string, size: number): string {
  return text.replaceAll(/%(TIMESTAMP(?:MS|US|NS)?|UNIQUE|RANDOM)%/g, (_all, name: string) => {
    switch (name) {
      case 'TIMESTAMPUS':
        return '{{now}}000';
      case 'TIMESTAMPNS':
        return '{{now}}000000';
      case 'UNIQUE':
        return '{{uuid}}';
      case 'RANDOM':
        return randomDigits(size);
      default:
        return '{{now}}';
    }
  });
}

function randomDigits(bytes: number): string {
  if (bytes > MAX_RANDOM_BYTES) {
    throw usage(
      `%RANDOM% of ${bytes} bytes is too much for a template`,
      `give --size up to ${MAX_RANDOM_BYTES}, or no template: --size alone makes up any number of bytes`,
    );
  }
  const whole = Math.floor(bytes / RANDOM_DIGITS);
  const rest = bytes - whole * RANDOM_DIGITS;
  return `${digits(RANDOM_DIGITS).repeat(whole)}${rest === 0 ? '' : digits(rest)}`;
}

/** A random number of so many digits. */
function digits(count: number): string {
  return `{{random ${'1'.padEnd(count, '0')} ${'9'.repeat(count)}}}`;
}
