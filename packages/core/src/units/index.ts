export { formatBytes, formatCount, formatDuration, formatRate, formatShare } from './format.ts';
export {
  parseByteRate,
  parseCount,
  parseDuration,
  parseRate,
  parseShare,
  parseSize,
} from './parse.ts';
