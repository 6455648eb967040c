import { descriptorLimit, loadingShortage } from './processes/descriptors.ts';

/** The command, once there is room to load it. Imports nothing else before that is known. */
const TOO_FEW = 113;
const SIGNALLED = 105;

// The first process of a container gets no signal that it does not listen to, not even before it is
// loaded; whoever listens beside this takes it over.
if (process.pid === 1) {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(SIGNALLED);
    });
  }
}

const shortage = loadingShortage(descriptorLimit());
if (shortage === null) {
  await import('./main.ts');
} else {
  const before = process.env['SQUALL_LOG'] === 'line' ? ' · next: ' : '\n  next   ';
  process.stderr.write(`error SQ_CAPACITY: ${shortage.message}${before}${shortage.hint}\n`);
  process.exitCode = TOO_FEW;
}
