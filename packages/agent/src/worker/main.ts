/**
 * The entry of a worker process: started by its agent with `child_process.fork` and an IPC channel
 * (`serialization: 'advanced'`). It imports only what the data path needs.
 */
import { createMqttClients } from '@squall/mqtt';
import { RocketmqClient } from '@squall/rocketmq';
import { readMonotonic } from './clock.ts';
import { ownDescriptorLimit } from './host-limits.ts';
import type { FromWorker, ToWorker } from './ipc.ts';
import { FINISH_LINGER_MS } from './limits.ts';
import { Worker } from './worker.ts';

/** The agent is gone or never was: nobody would take what the worker measures. */
const EXIT_ORPHANED = 3;
/** A fault of ours, told on the standard error stream. */
const EXIT_FAULT = 1;

/** Messages that the channel has not taken yet. */
let unsent = 0;
let leaving = false;

function send(message: FromWorker): void {
  unsent += 1;
  // A message that finds the channel closed is lost with the agent; `disconnect` follows.
  process.send?.(message, undefined, undefined, () => {
    unsent -= 1;
    if (leaving && unsent === 0) leave();
  });
}

function leave(): void {
  process.off('disconnect', orphaned);
  process.disconnect();
  // What is left is sockets on their way to a clean close.
  setTimeout(() => process.exit(0), FINISH_LINGER_MS).unref();
}

const worker = new Worker({
  readClock: readMonotonic,
  createClients: createMqttClients,
  createRocketmq: (options, moment) =>
    new RocketmqClient({
      ...options,
      // What is read from a socket happens then: handlers find the worker's moment set.
      readClock: (cell) => {
        readMonotonic(cell);
        moment[0] = cell[0] ?? 0;
      },
    }),
  descriptorLimit: ownDescriptorLimit(),
  send,
  usage: () => {
    const { user, system } = process.cpuUsage();
    const { maxRSS } = process.resourceUsage();
    return { cpuSeconds: (user + system) / 1e6, rssBytesMax: maxRSS * 1024 };
  },
  exit: () => {
    leaving = true;
  },
});

function orphaned(): void {
  worker.abort();
  process.exit(EXIT_ORPHANED);
}

process.title = 'squall worker';
if (process.send === undefined) {
  process.stderr.write('a worker is started by its agent: use "squall agent" or "squall run"\n');
  process.exit(EXIT_ORPHANED);
}
// Ctrl-C reaches the whole process group; the agent decides what it means for the load.
process.on('SIGINT', () => {});
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`);
  process.exit(EXIT_FAULT);
});
process.on('disconnect', orphaned);
process.on('message', (message: ToWorker) => worker.onMessage(message));
send({ type: 'hello' });
