// CPU of a controller, as a share of one core, while 200 agents send it a frame a second each. The
// agents are simulated in a process of their own; the controller judges, keeps a time line and puts
// the run away every few seconds, as it always does.
import { startControllerProcess, withStoreFile } from './controller-host.js';
import { startSimulatedAgents } from './controls.js';
import { planText, SERIES_A_GROUP } from './frames.js';
import { cpuSeconds, residentBytes } from './process-figures.js';

const AGENTS = 200;
const SERIES = 20;
/** Long enough for the optimising compiler, and for the time line's open seconds to fill. */
const SETTLE_MS = 75_000;
const WINDOW_S = 30;
const MOST_SHARE_OF_A_CORE = 0.5;
/** Frames are acknowledged when they are in a checkpoint, one every 3 s. */
const MOST_UNACKED_S = 10;

export async function fleet() {
  return withStoreFile(async (storeFile) => {
    const controller = await startControllerProcess(storeFile);
    try {
      return await measure(controller);
    } finally {
      await controller.stop();
    }
  });
}

async function measure(controller) {
  const groups = SERIES / SERIES_A_GROUP;
  await controller.request('/v1/runs', { text: planText(groups, AGENTS) });
  const agents = await startSimulatedAgents({ url: controller.agentUrl, agents: AGENTS, groups });
  await pause(SETTLE_MS);
  const before = { cpu: cpuSeconds(controller.pid), ...(await agents.mark()) };
  await pause(WINDOW_S * 1000);
  const after = { cpu: cpuSeconds(controller.pid), ...(await agents.mark()) };
  const memory = residentBytes(controller.pid);
  await agents.stop();
  return report(before, after, memory);
}

function report(before, after, memory) {
  const share = (after.cpu - before.cpu) / WINDOW_S;
  const frames = after.sent - before.sent;
  const taken = after.sent - after.acked <= MOST_UNACKED_S * AGENTS;
  const paced = frames >= AGENTS * (WINDOW_S - 1);
  return {
    name: 'fleet',
    rounds: 1,
    figures: [
      ['frames in the window', String(frames)],
      ['CPU ms a frame, all included', (((after.cpu - before.cpu) * 1000) / frames).toFixed(2)],
      ['resident memory of the controller, MB', (memory / 1048576).toFixed(0)],
    ],
    goals: [
      {
        text: `${AGENTS} agents × ${SERIES} series, share of one core ≤ ${MOST_SHARE_OF_A_CORE}`,
        observed: share.toFixed(3),
        holds: taken && paced && share <= MOST_SHARE_OF_A_CORE,
      },
    ],
  };
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
