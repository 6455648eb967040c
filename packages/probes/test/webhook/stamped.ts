import {
  clockDomainHash,
  runHash,
  STAMP_BYTES,
  StampWriter,
  writeTextStamp,
} from '@squall/core/stamp';
import { crc32 } from '@squall/core/stamp';

export const DOMAIN = 'boot-1 time:[1]';

export interface Message {
  readonly run?: string;
  readonly publisher?: number;
  readonly seq: number;
  readonly dueUs?: number;
  readonly domain?: string;
  readonly rest?: string;
}

/** A payload with a stamp at its beginning, as publishers make it. */
export function stamped(message: Message): Buffer {
  const {
    run = 'run-1',
    publisher = 0,
    seq,
    dueUs = nowUs(),
    rest = 'rest',
    domain = DOMAIN,
  } = message;
  const writer = new StampWriter({
    runHash: runHash(run),
    subject: 0,
    clockDomain: clockDomainHash(domain),
  });
  const bytes = Buffer.concat([Buffer.alloc(STAMP_BYTES), Buffer.from(rest)]);
  writer.publisher = publisher;
  writer.seq = seq;
  writer.timesUs.set([dueUs, dueUs]);
  writer.takeRest(bytes, 0, bytes.length);
  writer.write(bytes, 0);
  return bytes;
}

/** A payload that is JSON with a stamp in text form. */
export function stampedText(message: Message): string {
  const [before, after] = ['{"id":"', '","value":1}'];
  const bytes = stamped({ ...message, rest: '' });
  const writer = bytes.subarray(0, STAMP_BYTES);
  // The checksum of a stamp in text is over what stands around it.
  const around =
    crc32(Buffer.from(before), 0, before.length) ^ crc32(Buffer.from(after), 0, after.length);
  writer.writeInt32BE(crc32(writer, 0, STAMP_BYTES - 4) ^ around, STAMP_BYTES - 4);
  const text = Buffer.alloc(54);
  writeTextStamp(writer, text, 0);
  return `${before}${text.toString()}${after}`;
}

export function nowUs(): number {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1_000_000 + nanos / 1_000;
}
