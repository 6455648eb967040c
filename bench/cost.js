// What a message costs a process, over a window in the middle of its load.
import { cpuSeconds } from './process-figures.js';
import { startWorker } from './worker-host.js';

/**
 * By then the code of all that are compared is compiled, and what the connecting left behind is
 * collected (Node does that about eight seconds after): what a message costs in the hour after.
 */
const SETTLE_MS = 15_000;
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
  const hosts = await Promise.all(planTexts.map((planText) => startLoad(planText)));
  return Promise.all(hosts.map(costOf));
}

/** A worker that has been in the second stage of a plan for `settleMs`. */
export async function startLoad(planText, settleMs = SETTLE_MS) {
  const host = await startWorker(planText);
  await host.completeStage(0);
  host.enterStage(1);
  await pause(settleMs);
  return host;
}

/** CPU µs of the whole process over that many of its slices, and what its counters grew by; ends it. */
export async function measureLoad(host, seconds) {
  await host.nextSlice();
  const from = host.slices.length;
  const before = cpuSeconds(host.pid);
  for (let second = 0; second < seconds; second++) await host.nextSlice();
  const cpuUs = (cpuSeconds(host.pid) - before) * 1e6;
  const grown = { acked: 0, received: 0, arrived: 0 };
  for (const metric of Object.keys(grown)) grown[metric] = host.sum(metric, from);
  await host.stop();
  return { cpuUs, ...grown };
}

async function costOf(host) {
  const { cpuUs, acked } = await measureLoad(host, WINDOW_S);
  return cpuUs / acked;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
