import { arch, availableParallelism, hostname, release, totalmem, type } from 'node:os';

/** Where the controller ran, as far as a reader of the report may have to know. */
export function environment(): Record<string, string | number> {
  return {
    host: hostname(),
    node: process.version,
    system: `${type()} ${release()} ${arch()}`,
    cores: availableParallelism(),
    memoryBytes: totalmem(),
  };
}
