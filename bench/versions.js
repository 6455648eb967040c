// What QoS 2 and MQTT 5 cost beside QoS 1 and MQTT 3.1.1: workers with the same paced load side by
// side, so that whatever else the machine does falls on all of them.
import { startMosquitto } from './broker.js';
import { workerCosts } from './cost.js';
import { median, spread } from './statistics.js';

const ROUNDS = 7;
const MOST_QOS2_OVER_QOS1 = 2.2;
const MOST_V5_OVER_V311 = 1.15;
/** Of each worker; both share the machine with the broker. */
const CLIENTS = 500;

const planText = (port, { version, qos }) => `
squall: 1
name: versions
targets: { broker: { protocol: mqtt, version: "${version}", urls: ["mqtt://127.0.0.1:${port}"] } }
groups:
  devices:
    target: broker
    clients: ${CLIENTS}
    clientId: "v${version}-q${qos}-{{n}}"
    connect: { rate: 2000/s, keepAlive: 60s }
    publish: { topic: "v${version}/q${qos}/{{n:05}}/up", qos: ${qos}, payload: 200B, every: 100ms }
stages:
  - { name: connect, run: { devices: connect } }
  - { name: publish, run: { devices: publish }, for: 10m }
`;

const BASE = { version: '3.1.1', qos: 1 };

export async function versions() {
  const broker = await startMosquitto();
  try {
    const qos2 = await besideBase(broker.port, { version: '3.1.1', qos: 2 });
    const v5 = await besideBase(broker.port, { version: '5', qos: 1 });
    return {
      name: 'versions',
      rounds: ROUNDS,
      figures: [
        ['QoS 2 and QoS 1, CPU µs a message', `${spread(qos2.cost)}; ${spread(qos2.base)}`],
        ['MQTT 5 and 3.1.1, CPU µs a message', `${spread(v5.cost)}; ${spread(v5.base)}`],
      ],
      goals: [
        atMost('CPU a message, QoS 2 ÷ QoS 1', qos2.ratios, MOST_QOS2_OVER_QOS1),
        atMost('CPU a message, MQTT 5 ÷ 3.1.1', v5.ratios, MOST_V5_OVER_V311),
      ],
    };
  } finally {
    broker.stop();
  }
}

async function besideBase(port, load) {
  const seen = { cost: [], base: [], ratios: [] };
  for (let round = 0; round < ROUNDS; round++) {
    // They take turns in who begins.
    const plans = [planText(port, load), planText(port, BASE)];
    const costs = await workerCosts(round % 2 === 0 ? plans : plans.toReversed());
    const [cost, base] = round % 2 === 0 ? costs : costs.toReversed();
    seen.cost.push(cost);
    seen.base.push(base);
    seen.ratios.push(cost / base);
  }
  return seen;
}

function atMost(text, ratios, limit) {
  return { text: `${text} ≤ ${limit}`, observed: spread(ratios), holds: median(ratios) <= limit };
}
