// 1,000 clients × 10 msg/s over TLS 1.3, QoS 1, 200 B, to Mosquitto: a Squall worker with stamps,
// histograms and ledger on, beside bare `tls` sockets of Node, in interleaved rounds.
import { startMosquitto } from './broker.js';
import { startTlsPublisher } from './controls.js';
import { controlCost, workerCost } from './cost.js';
import { LOAD, pacedPlan } from './paced-load.js';
import { median, spread } from './statistics.js';

const ROUNDS = 5;
/** Most CPU a message, as a multiple of the bare sockets. */
const MOST_OVER_TLS = 1.3;

export async function tlsPublish() {
  const broker = await startMosquitto({ tls: true });
  const load = { ...LOAD, port: broker.tlsPort };
  const cost = { squall: [], tls: [] };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      cost.squall.push(await workerCost(pacedPlan('tls-publish', broker.tlsPort, 'tls')));
      cost.tls.push(await controlCost(() => startTlsPublisher(load)));
    }
  } finally {
    broker.stop();
  }
  const ratios = cost.squall.map((squall, round) => squall / cost.tls[round]);
  return {
    name: 'tls-publish',
    rounds: ROUNDS,
    figures: [
      ['worker, CPU µs a message', spread(cost.squall)],
      ['bare tls sockets, CPU µs a message', spread(cost.tls)],
    ],
    goals: [
      {
        text: `CPU a message ÷ bare tls sockets ≤ ${MOST_OVER_TLS}`,
        observed: spread(ratios),
        holds: median(ratios) <= MOST_OVER_TLS,
      },
    ],
  };
}
