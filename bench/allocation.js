// Garbage a message: growth of the used heap with no collection in between, of a worker (schedule →
// template → socket write, and ack → histogram) less that of a bare socket loop at the same pace.
import { createInterface } from 'node:readline';
import { startMosquitto } from './broker.js';
import { startSocketPublisher } from './controls.js';
import { LOAD, pacedPlan } from './paced-load.js';
import { median, spread } from './statistics.js';
import { startWorker } from './worker-host.js';

const ROUNDS = 5;
/** Long enough for the optimising compiler to have done its part. */
const WARM_UP_MS = 8000;
const WINDOW_S = 8;
const MOST_BYTES_A_MESSAGE = 1;

/** A young generation so large, and a collector so lazy, that nothing is collected in a round. */
const EXEC_ARGV = [
  '--no-memory-reducer',
  '--min-semi-space-size=1024',
  '--max-semi-space-size=1024',
  `--import=${new URL('heap-probe.js', import.meta.url).href}`,
];

export async function allocation() {
  const broker = await startMosquitto();
  const bytes = { squall: [], sockets: [] };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      bytes.squall.push(await worker(broker.port));
      bytes.sockets.push(await control({ ...LOAD, port: broker.port }));
    }
  } finally {
    broker.stop();
  }
  const beyond = bytes.squall.map((value, round) => value - bytes.sockets[round]);
  return {
    name: 'allocation',
    rounds: ROUNDS,
    figures: [
      ['worker, bytes a message', spread(bytes.squall, 1)],
      ['bare sockets, bytes a message', spread(bytes.sockets, 1)],
    ],
    goals: [
      {
        text: `bytes a message beyond the bare socket loop ≤ ${MOST_BYTES_A_MESSAGE}`,
        observed: spread(beyond, 1),
        holds: median(beyond) <= MOST_BYTES_A_MESSAGE,
      },
    ],
  };
}

async function worker(port) {
  const host = await startWorker(pacedPlan('allocation', port), { execArgv: EXEC_ARGV });
  const lines = createInterface({ input: host.child.stdout })[Symbol.asyncIterator]();
  const probe = async () => {
    host.child.kill('SIGUSR2');
    return JSON.parse((await lines.next()).value);
  };
  await host.completeStage(0);
  host.enterStage(1);
  await pause(WARM_UP_MS);
  await host.nextSlice();
  const from = host.slices.length;
  const before = await probe();
  for (let second = 0; second < WINDOW_S; second++) await host.nextSlice();
  const after = await probe();
  const acked = host.sum('acked', from);
  await host.stop();
  return growth(before, after) / acked;
}

async function control(load) {
  const sockets = await startSocketPublisher(load, EXEC_ARGV);
  const probe = async () => {
    process.kill(sockets.pid, 'SIGUSR2');
    return JSON.parse(await sockets.line());
  };
  await pause(WARM_UP_MS);
  const { acked: ackedBefore } = await sockets.mark();
  const before = await probe();
  await pause(WINDOW_S * 1000);
  const after = await probe();
  const { acked } = await sockets.mark();
  await sockets.stop();
  return growth(before, after) / (acked - ackedBefore);
}

function growth(before, after) {
  if (after.collections !== before.collections) throw new Error('a collection spoiled the round');
  return after.usedHeap - before.usedHeap;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
