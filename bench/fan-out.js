// One publisher, 1,000 subscribers in one worker that get each of its messages: stamps checked, delivery
// times recorded, the ledger kept. Beside it a C loop over epoll whose subscribers only count, at the
// same time, so that whatever else the machine does falls on both.
import { startMosquitto } from './broker.js';
import { compileControl, startEpollFanOut } from './controls.js';
import { measureLoad, startLoad } from './cost.js';
import { median, spread } from './statistics.js';

const ROUNDS = 5;
/** By then the code is compiled. */
const SETTLE_MS = 4000;
const WINDOW_S = 8;
const SUBSCRIBERS = 1000;
const EVERY_MS = 200;
const PAYLOAD_BYTES = 200;
/** Messages per CPU-second of the worker, as a multiple of the C loop's. */
const LEAST_OVER_C = 0.5;

const planText = (port, qos) => `
squall: 1
name: fan-out
targets: { broker: { protocol: mqtt, urls: ["mqtt://127.0.0.1:${port}"] } }
groups:
  readers:
    target: broker
    clients: ${SUBSCRIBERS}
    connect: { rate: 2000/s, keepAlive: 60s }
    subscribe: { topic: bench/fan-out/squall, qos: ${qos} }
  device:
    target: broker
    clients: 1
    publish: { topic: bench/fan-out/squall, qos: ${qos}, payload: ${PAYLOAD_BYTES}B, every: ${EVERY_MS}ms }
stages:
  - { name: connect, run: { readers: subscribe, device: connect } }
  - { name: publish, run: { device: publish }, for: 10m }
`;

export async function fanOut() {
  const binary = compileControl('epoll-fan-out');
  const broker = await startMosquitto();
  try {
    const figures = [];
    const goals = [];
    for (const qos of [0, 1]) {
      const { squall, c } = await rounds(broker.port, binary, qos);
      figures.push([`worker at QoS ${qos}, CPU µs a message`, spread(squall)]);
      if (c.length === 0) {
        figures.push(['C epoll loop', 'no C compiler here']);
        continue;
      }
      figures.push([`C epoll loop at QoS ${qos}, CPU µs a message`, spread(c)]);
      const overC = c.map((cost, round) => cost / squall[round]);
      goals.push({
        text: `messages received per CPU-second at QoS ${qos} ÷ C epoll loop ≥ ${LEAST_OVER_C}`,
        observed: spread(overC),
        holds: median(overC) >= LEAST_OVER_C,
      });
    }
    return { name: 'fan-out', rounds: ROUNDS, figures, goals };
  } finally {
    broker.stop();
  }
}

async function rounds(port, binary, qos) {
  const cost = { squall: [], c: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const sides = [() => workerCost(port, qos)];
    if (binary !== null) sides.push(() => controlCost(binary, port, qos));
    const [squall, c] = await Promise.all(sides.map((side) => side()));
    cost.squall.push(squall);
    if (c !== undefined) cost.c.push(c);
  }
  return cost;
}

async function workerCost(port, qos) {
  const host = await startLoad(planText(port, qos), SETTLE_MS);
  const { cpuUs, received, arrived } = await measureLoad(host, WINDOW_S);
  if (received === 0 || received !== arrived) {
    throw new Error(`${received} messages were received, ${arrived} of them for the first time`);
  }
  return cpuUs / received;
}

async function controlCost(binary, port, qos) {
  const load = { host: '127.0.0.1', port, subscribers: SUBSCRIBERS, everyMs: EVERY_MS };
  const control = await startEpollFanOut(binary, { ...load, payloadBytes: PAYLOAD_BYTES, qos });
  await pause(SETTLE_MS);
  const before = await control.mark();
  await pause(WINDOW_S * 1000);
  const after = await control.mark();
  await control.stop();
  return (after.cpuUs - before.cpuUs) / (after.received - before.received);
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
