import { expect, test } from 'vitest';
import { descriptorLimit, descriptorShortage } from '../../src/worker/host-limits.ts';

const limits = (soft: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units
Max processes             31793                31793                processes
Max open files            ${soft.padEnd(20)} 1048576              files
`;

test('reads the soft limit of open files; unlimited and unknown are no limit', () => {
  expect(descriptorLimit(limits('20000'))).toBe(20_000);
  expect(descriptorLimit(limits('unlimited'))).toBe(Number.POSITIVE_INFINITY);
  expect(descriptorLimit('')).toBe(Number.POSITIVE_INFINITY);
});

test('names the shortage and the way out only where there is one', () => {
  expect(descriptorShortage(15_000, 20_000)).toBeNull();
  expect(descriptorShortage(20_000, 20_000)).toMatch(/20000 clients need 20064 .*ulimit -n/);
});
