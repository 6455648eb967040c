// What a message costs a process, over a window in the middle of its load.
import { cpuSeconds } from './process-figures.js';
import { startWorker } from './worker-host.js';

/** By then the code of all that are compared is compiled. */
const SETTLE_MS = 4000;
const WINDOW_S = 8;

/** CPU µs an acknowledged message of a control, between two marks. */
export async function controlCost(start) {
  const process = await start();
  await pause(SETTLE_MS);
  const before = await process.mark();
  await pause(WINDOW_S * 1000);
  const after = await process.mark();
  await process.stop();
  return (after.cpuUs - before.cpuUs) / (after.acked - before.acked);
}

/** The same of a whole worker process in the second stage of a plan, between two of its slices. */
export async function workerCost(planText) {
  return costOf(await startLoad(planText));
}

/** The same of several workers side by side, so that whatever else the machine does falls on all. */
export async function workerCosts(planTexts) {
  const hosts = await Promise.all(planTexts.map(startLoad));
  return Promise.all(hosts.map(costOf));
}

async function startLoad(planText) {
  const host = await startWorker(planText);
  await host.completeStage(0);
  host.enterStage(1);
  await pause(SETTLE_MS);
  return host;
}

async function costOf(host) {
  await host.nextSlice();
  const from = host.slices.length;
  const before = cpuSeconds(host.pid);
  for (let second = 0; second < WINDOW_S; second++) await host.nextSlice();
  const cpu = cpuSeconds(host.pid) - before;
  const acked = host.sum('acked', from);
  await host.stop();
  return (cpu * 1e6) / acked;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
