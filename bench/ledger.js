// What it costs a worker to verify delivery: two workers with the same load, one with stamps and
// ledger, one without, side by side, so that whatever else the machine does falls on both. The
// worker's own subscribers receive every message of its publishers once.
import { startMosquitto } from './broker.js';
import { measureLoad, startLoad } from './cost.js';
import { median, spread } from './statistics.js';

const ROUNDS = 7;
/** Long enough for the optimising compiler to have done its part. */
const SETTLE_MS = 6000;
const WINDOW_S = 12;
const PUBLISHERS = 1000;
const SUBSCRIBERS = 10;
/** Two workers with both sides of each message: half the rate of `publish-paced` for each. */
const EVERY_MS = 200;
const MOST_OVER_OFF = 1.15;
/** Messages sent before the window and received in it, or the other way round. */
const MOST_ASTRAY = 0.02;

const planText = (port, verify) => `
squall: 1
name: ledger
targets: { broker: { protocol: mqtt, urls: ["mqtt://127.0.0.1:${port}"] } }
groups:
  readers:
    target: broker
    clients: ${SUBSCRIBERS}
    clientId: "${verify}-{{group}}-{{n}}"
    connect: { rate: 100/s, keepAlive: 60s }
    subscribe: { topic: "${verify}/{{n - 1}}/+", qos: 1 }
  devices:
    target: broker
    clients: ${PUBLISHERS}
    clientId: "${verify}-{{group}}-{{n}}"
    connect: { rate: 2000/s, keepAlive: 60s }
    publish: { topic: "${verify}/{{n % ${SUBSCRIBERS}}}/{{n}}", qos: 1, payload: 200B, every: ${EVERY_MS}ms, verify: ${verify} }
stages:
  - { name: connect, run: { readers: subscribe, devices: connect } }
  - { name: publish, run: { devices: publish }, for: 10m }
`;

export async function ledger() {
  const broker = await startMosquitto();
  const cost = { on: [], off: [] };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      // They take turns in who begins.
      const order = round % 2 === 0 ? ['on', 'off'] : ['off', 'on'];
      const workers = await Promise.all(
        order.map((verify) => startLoad(planText(broker.port, verify), SETTLE_MS)),
      );
      const costs = await Promise.all(workers.map(costOf));
      for (const [place, verify] of order.entries()) cost[verify].push(costs[place]);
    }
  } finally {
    broker.stop();
  }
  const overOff = cost.on.map((on, round) => on / cost.off[round]);
  return {
    name: 'ledger',
    rounds: ROUNDS,
    figures: [
      ['verify on, CPU µs a message', spread(cost.on)],
      ['verify off, CPU µs a message', spread(cost.off)],
    ],
    goals: [
      {
        text: `CPU a message, sent and received, ÷ verify off ≤ ${MOST_OVER_OFF}`,
        observed: spread(overOff),
        holds: median(overOff) <= MOST_OVER_OFF,
      },
    ],
  };
}

/** CPU µs of the whole worker process for a message: sent, acknowledged and received. */
async function costOf(host) {
  const { cpuUs, acked, received } = await measureLoad(host, WINDOW_S);
  if (Math.abs(received / acked - 1) > MOST_ASTRAY) {
    throw new Error(`${acked} messages were acknowledged, ${received} received: not one each`);
  }
  return cpuUs / acked;
}
