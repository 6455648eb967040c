export { crc32, crc32OfText } from './crc32.ts';
export { clockDomainHash, runHash } from './identity.ts';
export {
  DUE,
  SENT,
  STAMP_BYTES,
  STAMP_MAGIC,
  STAMP_VERSION,
} from './layout.ts';
export {
  STAMP_CORRUPT,
  STAMP_NONE,
  STAMP_OK,
  StampReader,
} from './stamp-reader.ts';
export { TEXT_STAMP_BYTES, writeTextStamp } from './text-stamp.ts';
export { type StampConstants, StampWriter } from './stamp-writer.ts';
