import type { Qos } from '../plan.ts';

export function qosOf(word: '0' | '1' | '2'): Qos {
  if (word === '0') return 0;
  return word === '1' ? 1 : 2;
}
