// An hour of a run in the store: what it takes there, and how long its whole time line takes to be
// answered over REST. Seconds are written as a controller writes them, only not at their own pace.
import { statSync } from 'node:fs';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { RunAggregate } from '@squall/core/metrics';
import { readPlan } from '@squall/core/plan';
import { startControllerProcess, withStoreFile } from './controller-host.js';
import { openStore, TimelineRecorder } from './controller-parts.js';
import { planText, SERIES_A_GROUP, slice } from './frames.js';
import { cpuSeconds } from './process-figures.js';
import { median, spread } from './statistics.js';

const HOUR_S = 3600;
const SERIES = 20;
const AGENTS = ['agent-1', 'agent-2', 'agent-3', 'agent-4', 'agent-5'];
const RUN = 'bench-run';
/** The rhythm of checkpoints; the time line goes with them. */
const KEPT_EVERY_S = 3;
/** What a checkpoint holds of the run itself takes the room of the one before, so few of them do. */
const STATE_EVERY_S = 60;
const MOST_MB = 20;
const MOST_MS = 200;
const WARM_UP_ANSWERS = 3;
const ROUNDS = 10;
const SECOND_US = 1_000_000;

const deflated = promisify(deflate);

export async function store() {
  return withStoreFile(async (file) => {
    const chunkBytes = await writeAnHour(file);
    const megabytes = sizeOf(file) / 1e6;
    const controller = await startControllerProcess(file);
    try {
      return report({ megabytes, chunkBytes, ...(await answers(controller)) });
    } finally {
      await controller.stop();
    }
  });
}

/** Gives the bytes of the time line alone. */
async function writeAnHour(file) {
  const opened = await openStore(file);
  await enterRun(opened);
  const aggregate = new RunAggregate(RUN);
  const recorder = new TimelineRecorder();
  aggregate.onSlice((agent, one) => recorder.add(agent, one));
  let state = new Uint8Array(0);
  for (let second = 0; second < HOUR_S; second++) {
    for (const agent of AGENTS) aggregate.fold(frameOf(agent, second));
    if ((second + 1) % STATE_EVERY_S === 0) state = await deflated(JSON.stringify(aggregate));
    if ((second + 1) % KEPT_EVERY_S !== 0) continue;
    const { chunks, kept } = recorder.changed();
    const agents = AGENTS.map((agent) => ({ agent, epoch: 1, seq: second + 1 }));
    await opened.saveCheckpoint(RUN, { savedMs: Date.now(), state, agents, chunks });
    kept();
  }
  const end = { verdict: 'pass', validity: 'valid', exitCode: 0, reasons: [], report: null };
  await opened.finishRun(RUN, { ...end, endedMs: Date.now() });
  const chunks = await opened.timeline(RUN, 0, HOUR_S);
  await opened.close();
  return chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

async function enterRun(opened) {
  const text = planText(SERIES / SERIES_A_GROUP, AGENTS.length);
  const { plan } = readPlan(text);
  const record = { id: 'p-bench', hash: 'bench', name: plan.name, format: 'yaml' };
  await opened.putPlan({ ...record, createdMs: Date.now(), text, plan });
  await opened.createRun({
    id: RUN,
    plan: record.id,
    name: plan.name,
    labels: {},
    notes: '',
    submittedMs: Date.now(),
    options: { vars: {}, scale: 1, strict: false, timeoutUs: null, agents: null },
  });
  await opened.updateRun(RUN, { state: 'running', startedMs: Date.now(), stage: 'publish' });
}

function frameOf(agent, second) {
  const variant = second * AGENTS.length + AGENTS.indexOf(agent);
  const groups = SERIES / SERIES_A_GROUP;
  const slices = [slice({ groups, n: second, fromUs: second * SECOND_US, variant })];
  return { run: RUN, agent, epoch: 1, seqFrom: second + 1, seqTo: second + 1, slices };
}

/** With the log that lies beside the file as long as it is open. */
function sizeOf(file) {
  return [file, `${file}-wal`].reduce(
    (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

async function answers(controller) {
  const path = `/v1/runs/${RUN}/metrics`;
  let text = '';
  for (let n = 0; n < WARM_UP_ANSWERS; n++) text = await controller.request(path);
  const cpuMs = [];
  const wallMs = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    const before = cpuSeconds(controller.pid);
    await controller.request(path);
    cpuMs.push((cpuSeconds(controller.pid) - before) * 1000);
    wallMs.push(performance.now() - startedAt);
  }
  const { series } = JSON.parse(text);
  const whole = series.every((one) => (one.count ?? one.value).length === HOUR_S);
  return { cpuMs, wallMs, bytes: text.length, curves: whole ? series.length : 0 };
}

function report({ megabytes, chunkBytes, cpuMs, wallMs, bytes, curves }) {
  return {
    name: 'store',
    rounds: ROUNDS,
    figures: [
      ['time line alone, bytes a series and second', (chunkBytes / SERIES / HOUR_S).toFixed(1)],
      ['curves in the answer', String(curves)],
      ['answer, MB of JSON', (bytes / 1e6).toFixed(1)],
      ['from request to answer, ms', spread(wallMs, 0)],
    ],
    goals: [
      {
        text: `an hour of ${SERIES} series, MB of the store ≤ ${MOST_MB}`,
        observed: megabytes.toFixed(1),
        holds: megabytes <= MOST_MB,
      },
      {
        text: `its whole time line, CPU ms of the controller ≤ ${MOST_MS}`,
        observed: spread(cpuMs, 0),
        holds: curves === SERIES && median(cpuMs) <= MOST_MS,
      },
    ],
  };
}
