// 200 clients as fast as a window of 16 lets them, QoS 1, 200 B, to Mosquitto: a Squall worker with
// stamps and histograms on, beside MQTT.js clients and a C epoll loop with the same window, in
// interleaved rounds.
import { startMosquitto } from './broker.js';
import { compileControl, startEpollClosedLoop, startMqttJsClosedLoop } from './controls.js';
import { controlCost, workerCost } from './cost.js';
import { median, spread } from './statistics.js';

const ROUNDS = 5;
const LEAST_OVER_MQTTJS = 1.5;
const LOAD = { host: '127.0.0.1', clients: 200, inflight: 16, payloadBytes: 200 };

const planText = (port) => `
squall: 1
name: closed-loop
targets: { broker: { protocol: mqtt, urls: ["mqtt://127.0.0.1:${port}"] } }
groups:
  devices:
    target: broker
    clients: ${LOAD.clients}
    connect: { rate: 2000/s, keepAlive: 60s }
    publish: { topic: "bench/{{n:05}}/up", qos: 1, payload: ${LOAD.payloadBytes}B, rate: max, inflight: ${LOAD.inflight} }
stages:
  - { name: connect, run: { devices: connect } }
  - { name: publish, run: { devices: publish }, for: 10m }
`;

export async function closedLoop() {
  const broker = await startMosquitto();
  const binary = compileControl('epoll-closed-loop');
  const load = { ...LOAD, port: broker.port };
  const cost = { squall: [], mqttjs: [], c: [] };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      cost.squall.push(await workerCost(planText(broker.port)));
      cost.mqttjs.push(await controlCost(() => startMqttJsClosedLoop(load)));
      if (binary !== null) cost.c.push(await controlCost(() => startEpollClosedLoop(binary, load)));
    }
  } finally {
    broker.stop();
  }
  const overMqttJs = cost.squall.map((squall, round) => cost.mqttjs[round] / squall);
  return {
    name: 'closed-loop',
    rounds: ROUNDS,
    figures: [
      ['worker, CPU µs a message', spread(cost.squall)],
      ['MQTT.js, CPU µs a message', spread(cost.mqttjs)],
      ['C epoll loop, CPU µs a message', cost.c.length > 0 ? spread(cost.c) : 'no C compiler here'],
    ],
    goals: [
      {
        text: `messages per CPU-second ÷ MQTT.js ≥ ${LEAST_OVER_MQTTJS}`,
        observed: spread(overMqttJs),
        holds: median(overMqttJs) >= LEAST_OVER_MQTTJS,
      },
    ],
  };
}
