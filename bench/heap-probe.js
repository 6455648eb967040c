// Loaded into a process with --import: on SIGUSR2 it prints the used heap and the collections so far.
import { writeSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import v8 from 'node:v8';

let collections = 0;
new PerformanceObserver((list) => {
  collections += list.getEntries().length;
}).observe({ entryTypes: ['gc'] });

process.on('SIGUSR2', () => {
  const { used_heap_size: usedHeap } = v8.getHeapStatistics();
  writeSync(1, `${JSON.stringify({ usedHeap, collections })}\n`);
});
