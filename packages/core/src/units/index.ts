export { formatBytes, formatCount, formatDuration, formatRate, formatShare } from './format.ts';
export {
  COUNT_SUFFIXES,
  DURATION_UNITS,
  parseByteRate,
  parseCount,
  parseDuration,
  parseRate,
  parseShare,
  parseSize,
  RATE_UNITS,
  SIZE_UNITS,
} from './parse.ts';
