// 1,000 clients × 10 msg/s, QoS 1, 200 B, to Mosquitto: a Squall worker with stamps and histograms
// on, beside bare MQTT.js clients and a C epoll loop, in interleaved rounds.
import { startMosquitto } from './broker.js';
import { compileEpollPublisher, startEpollPublisher, startMqttJsPublisher } from './controls.js';
import { LOAD, pacedPlan } from './paced-load.js';
import { cpuSeconds } from './process-figures.js';
import { median, spread } from './statistics.js';
import { startWorker } from './worker-host.js';

const ROUNDS = 9;
/** By then the code of all three is compiled. */
const SETTLE_MS = 4000;
const WINDOW_S = 8;

/** Least messages per CPU-second as a multiple of MQTT.js, and most CPU per message of the C loop. */
const LEAST_OVER_MQTTJS = 1.9;
const MOST_OVER_C = 1.3;

export async function publishPaced() {
  const broker = await startMosquitto();
  const binary = compileEpollPublisher();
  const load = { ...LOAD, port: broker.port };
  const cost = { squall: [], mqttjs: [], c: [] };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      cost.squall.push(await worker(broker.port));
      cost.mqttjs.push(await control(() => startMqttJsPublisher(load)));
      if (binary !== null) cost.c.push(await control(() => startEpollPublisher(binary, load)));
    }
  } finally {
    broker.stop();
  }
  return report(cost);
}

/** CPU µs a message of a control, between two marks. */
async function control(start) {
  const process = await start();
  await pause(SETTLE_MS);
  const before = await process.mark();
  await pause(WINDOW_S * 1000);
  const after = await process.mark();
  await process.stop();
  return (after.cpuUs - before.cpuUs) / (after.acked - before.acked);
}

/** The same of the whole worker process, between two of its slices. */
async function worker(port) {
  const host = await startWorker(pacedPlan('publish-paced', port));
  await host.completeStage(0);
  host.enterStage(1);
  await pause(SETTLE_MS);
  await host.nextSlice();
  const from = host.slices.length;
  const before = cpuSeconds(host.pid);
  for (let second = 0; second < WINDOW_S; second++) await host.nextSlice();
  const cpu = cpuSeconds(host.pid) - before;
  const acked = host.sum('acked', from);
  await host.stop();
  return (cpu * 1e6) / acked;
}

function report(cost) {
  const rounds = cost.squall.length;
  const overMqttJs = Array.from({ length: rounds }, (_, k) => cost.mqttjs[k] / cost.squall[k]);
  const overC = cost.c.map((c, k) => cost.squall[k] / c);
  const figures = [
    ['worker, CPU µs a message', spread(cost.squall)],
    ['MQTT.js, CPU µs a message', spread(cost.mqttjs)],
    ['C epoll loop, CPU µs a message', cost.c.length > 0 ? spread(cost.c) : 'no C compiler here'],
  ];
  const goals = [
    {
      text: `messages per CPU-second ÷ MQTT.js ≥ ${LEAST_OVER_MQTTJS}`,
      observed: spread(overMqttJs),
      holds: median(overMqttJs) >= LEAST_OVER_MQTTJS,
    },
  ];
  if (overC.length > 0) {
    goals.push({
      text: `CPU a message ÷ C epoll loop ≤ ${MOST_OVER_C}`,
      observed: spread(overC),
      holds: median(overC) <= MOST_OVER_C,
    });
  }
  return { name: 'publish-paced', rounds, figures, goals };
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
