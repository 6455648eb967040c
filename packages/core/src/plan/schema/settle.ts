import { duration, strictMap } from './leaves.ts';

/** How long late messages, and the other sides of a balance, are waited for. */
export const settle = strictMap({
  quiet: duration().prefault('5s').describe('Nothing was received for so long.'),
  max: duration().prefault('30s').describe('Longest wait.'),
});
