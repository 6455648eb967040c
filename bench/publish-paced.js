// 1,000 clients × 10 msg/s, QoS 1, 200 B, to Mosquitto: a Squall worker with stamps and histograms
// on, beside bare MQTT.js clients and a C epoll loop, in interleaved rounds.
import { startMosquitto } from './broker.js';
import { controlCost, workerCost } from './cost.js';
import { compileEpollPublisher, startEpollPublisher, startMqttJsPublisher } from './controls.js';
import { LOAD, pacedPlan } from './paced-load.js';
import { median, spread } from './statistics.js';

const ROUNDS = 7;

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
      cost.squall.push(await workerCost(pacedPlan('publish-paced', broker.port)));
      cost.mqttjs.push(await controlCost(() => startMqttJsPublisher(load)));
      if (binary !== null) cost.c.push(await controlCost(() => startEpollPublisher(binary, load)));
    }
  } finally {
    broker.stop();
  }
  return report(cost);
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
