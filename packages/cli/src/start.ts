import { descriptorLimit, loadingShortage } from './processes/descriptors.ts';

/** The command, once there is room to load it. Imports nothing else before that is known. */
const TOO_FEW = 113;

const shortage = loadingShortage(descriptorLimit());
if (shortage === null) {
  await import('./main.ts');
} else {
  process.stderr.write(`error SQ_CAPACITY: ${shortage.message}\n  next   ${shortage.hint}\n`);
  process.exitCode = TOO_FEW;
}
