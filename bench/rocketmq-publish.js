// 64 senders, one message under way each, to a RocketMQ broker, beside the official Java client with 64
// threads: the same broker, in turns.
import { startRig } from './rocketmq-rig.js';
import { median, spread } from './statistics.js';

const VERSION = '4.9.7';
const ROUNDS = 3;
const SENDERS = 64;
const LOAD = { seconds: 5, warmup: 3 };
const BATCH = 16;

const LEAST_RATE = 2.5;
const LEAST_PER_CPU = 4;
const LEAST_BATCH_RATE = 1.3;
const MOST_ACL_COST = 0.25;

export async function rocketmqPublish() {
  const plain = await startRig(VERSION, { topic: 'bench' });
  const secured = await startRig(VERSION, { topic: 'bench', acl: true });
  const rounds = [];
  try {
    // The other broker is warm by its rounds before the same is asked of both.
    await secured.ours({ ...LOAD, warmup: 15, senders: SENDERS, size: 1024 });
    for (let round = 0; round < ROUNDS; round++) {
      const of = {};
      for (const size of [128, 1024]) of[size] = await pair(plain, { size });
      of.batch = await pair(plain, { size: 128, batch: BATCH });
      const open = await plain.ours({ ...LOAD, senders: SENDERS, size: 1024 });
      const signed = await secured.ours({ ...LOAD, senders: SENDERS, size: 1024 });
      of.aclCost = 1 - signed.perS / open.perS;
      rounds.push(of);
    }
  } finally {
    await plain.stop();
    await secured.stop();
  }
  return report(rounds);
}

async function pair(rig, load) {
  const java = await rig.java('bench', { ...LOAD, ...load, threads: SENDERS });
  const [messages, failed, cpuSeconds, , p99Us] = java;
  const ours = await rig.ours({ ...LOAD, ...load, senders: SENDERS });
  if (failed + ours.failed > 0) throw new Error(`failed sends: ${failed} and ${ours.failed}`);
  const control = { perS: messages / LOAD.seconds, cpuUs: (cpuSeconds * 1e6) / messages, p99Us };
  return {
    ours,
    control,
    rate: ours.perS / control.perS,
    perCpu: control.cpuUs / ours.cpuUs,
    p99: ours.p99Us / control.p99Us,
  };
}

function report(rounds) {
  const figures = [];
  const goals = [];
  const least = (text, values, limit) =>
    goals.push({
      text: `${text} ≥ ${limit}`,
      observed: spread(values),
      holds: median(values) >= limit,
    });
  const most = (text, values, limit) =>
    goals.push({
      text: `${text} ≤ ${limit}`,
      observed: spread(values),
      holds: median(values) <= limit,
    });
  for (const [kind, name] of [
    [128, '128 B'],
    [1024, '1 KB'],
    ['batch', `lists of ${BATCH} × 128 B`],
  ]) {
    const of = (pick) => rounds.map((round) => pick(round[kind]));
    figures.push([
      `${name}: messages a second`,
      spread(
        of(({ ours }) => ours.perS),
        0,
      ),
    ]);
    figures.push([
      `${name}: official client, messages a second`,
      spread(
        of(({ control }) => control.perS),
        0,
      ),
    ]);
    figures.push([`${name}: CPU µs a message`, spread(of(({ ours }) => ours.cpuUs))]);
    least(
      `${name}: messages a second ÷ official`,
      of((each) => each.rate),
      kind === 'batch' ? LEAST_BATCH_RATE : LEAST_RATE,
    );
    if (kind === 'batch') continue;
    least(
      `${name}: messages a CPU-second ÷ official`,
      of((each) => each.perCpu),
      LEAST_PER_CPU,
    );
    most(
      `${name}: p99 ÷ official`,
      of((each) => each.p99),
      1,
    );
  }
  most(
    'share of the rate that ACL costs, 1 KB',
    rounds.map((round) => round.aclCost),
    MOST_ACL_COST,
  );
  return { name: 'rocketmq-publish', rounds: rounds.length, figures, goals };
}
