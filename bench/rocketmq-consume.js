// Messages of 128 B read from 8 queues: our client, a socket that decodes nothing, and the official
// push consumer, in turns.
import { startRig } from './rocketmq-rig.js';
import { median, spread } from './statistics.js';

const VERSION = '4.9.7';
const ROUNDS = 3;
const MESSAGES = 600_000;
/** The first are left to warm-up by all three. */
const FILL = { senders: 64, size: 128, batch: 16, seconds: 6, warmup: 1 };

const LEAST_OF_PULL_LOOP = 0.7;

export async function rocketmqConsume() {
  const rig = await startRig(VERSION, { topic: 'bench' });
  const cost = { ours: [], loop: [], official: [] };
  const rate = { ours: [], official: [] };
  try {
    let filled = 0;
    while (filled < MESSAGES) filled += (await rig.ours(FILL)).messages;
    for (let round = 0; round < ROUNDS; round++) {
      const ours = await rig.ours({ kind: 'consume', count: MESSAGES });
      const loop = await rig.pullLoop(MESSAGES);
      const options = { group: `java-${round}`, count: MESSAGES, seconds: 60 };
      const [messages, seconds, cpuSeconds] = await rig.java('bench-consume', options);
      cost.ours.push(ours.cpuUs);
      cost.loop.push(loop.cpuUs);
      cost.official.push((cpuSeconds * 1e6) / messages);
      rate.ours.push(ours.perS);
      rate.official.push(messages / seconds);
    }
  } finally {
    await rig.stop();
  }
  const ofLoop = cost.loop.map((loop, k) => loop / cost.ours[k]);
  const ahead = rate.ours.map((ours, k) => ours / rate.official[k]);
  return {
    name: 'rocketmq-consume',
    rounds: ROUNDS,
    figures: [
      ['CPU µs a message', spread(cost.ours)],
      ['a pull loop that decodes nothing, CPU µs a message', spread(cost.loop)],
      ['official push consumer, CPU µs a message', spread(cost.official)],
      ['messages a second', spread(rate.ours, 0)],
    ],
    goals: [
      {
        text: `messages a CPU-second ÷ pull loop ≥ ${LEAST_OF_PULL_LOOP}`,
        observed: spread(ofLoop),
        holds: median(ofLoop) >= LEAST_OF_PULL_LOOP,
      },
      {
        text: 'messages a second ÷ official push consumer ≥ 1',
        observed: spread(ahead),
        holds: median(ahead) >= 1,
      },
    ],
  };
}
