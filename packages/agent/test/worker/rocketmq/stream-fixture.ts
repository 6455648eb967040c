import type { PublishStream, RocketmqPublish, RocketmqTarget } from '@squall/core/plan';
import type { SeriesDelta } from '@squall/core/metrics';
import { type ProducerMessage, Sent, type Settlement } from '@squall/rocketmq';
import { CONNECTED } from '../../../src/worker/clients/connection-state.ts';
import { clientOrder } from '../../../src/worker/clients/client-order.ts';
import { item } from '../../../src/worker/element.ts';
import { Recorder } from '../../../src/worker/measure/recorder.ts';
import { PlanFiles } from '../../../src/worker/plan-files.ts';
import { ClosedLoop } from '../../../src/worker/publish/closed-loop.ts';
import { MessageSource } from '../../../src/worker/publish/message-source.ts';
import { RenderContext } from '../../../src/worker/publish/render-context.ts';
import { RocketmqRun } from '../../../src/worker/rocketmq/rocketmq-run.ts';
import { RocketmqStream, type Sender } from '../../../src/worker/rocketmq/rocketmq-stream.ts';
import { groupOf, streamOf } from '../fixture/plan.ts';

export const TARGET: RocketmqTarget = {
  name: 'mq',
  protocol: 'rocketmq',
  nameServers: ['127.0.0.1:9876'],
  acl: null,
  tls: null,
  connections: 1,
  create: null,
};

export const PLAIN: RocketmqPublish = {
  batch: 1,
  keys: null,
  tags: null,
  userProperties: [],
  delayLevel: null,
  shardingKey: null,
  ordered: false,
  queue: null,
  compressFromBytes: null,
  transaction: null,
};

/** What its clients handed over, by token; answers come when a test gives them. */
class HeldSender {
  readonly tokens: number[] = [];
  isConnected = true;
  unsentBytes = 0;
  answer: Sent = Sent.accepted;

  send(token: number, _message: ProducerMessage): Sent {
    this.tokens.push(token);
    return this.answer;
  }

  newBatch(): never {
    throw new Error('no batches here');
  }

  sendBatch(): Sent {
    return this.answer;
  }
}

/** A stream of three clients in a closed loop, at a producer whose answers a test gives. */
export function closedLoop(parts: { readonly window?: number; readonly count?: number | null }) {
  const { window = 1, count = null } = parts;
  const moment = new Float64Array([1_000]);
  const order = clientOrder({ first: 0, last: 2, clients: 3 }, 3);
  const group = groupOf({ name: 'g', clients: 3 });
  const context = new RenderContext({
    group,
    target: TARGET,
    shortRun: 'r1',
    secrets: {},
    vars: {},
    seed: 1,
  });
  const spec: PublishStream = streamOf({
    topic: 'orders',
    qos: 1,
    payload: { kind: 'size', bytes: 64, fill: 'repeat' },
  });
  const recorder = new Recorder(moment);
  const meter = recorder.meter({ kind: 'publish', subject: 'g', stage: 0, qos: 1 });
  const unresolved: string[] = [];
  const handed = new Uint32Array(3);
  const book = {
    nextOf: (position: number) => handed[position] ?? 0,
    handed: (position: number) => {
      handed[position] = (handed[position] ?? 0) + 1;
    },
    mark: () => {},
    refused: (position: number, seq: number) => unresolved.push(`refused ${position}/${seq}`),
    unresolved: (position: number, seq: number) => unresolved.push(`open ${position}/${seq}`),
    unresolvedTail: () => {},
  };
  const sender = new HeldSender();
  const used: Sender = sender;
  const run = (): RocketmqRun => item(runs, 0);
  const stamp = { runHash: 7, subject: 0, clockDomain: 9 };
  const stream: RocketmqStream = new RocketmqStream({
    index: 0,
    spec,
    rocketmq: PLAIN,
    source: new MessageSource({
      stream: spec,
      order,
      context,
      files: new PlanFiles({}),
      stamp,
      moment,
    }),
    context,
    numbers: order.numbers,
    states: new Uint8Array(3).fill(CONNECTED),
    moment,
    failed: (of, { metric, reason, n }) => of.fail(metric, reason, n),
    committedLate: () => {},
    pump: (position) => run().feed.pump(position),
  });
  stream.use(used);
  const options = { stage: 0, stream, meter, book, window, paced: false };
  const runs = [
    new RocketmqRun(
      options,
      (outlet) =>
        new ClosedLoop({ order, clockUs: 0, count, meter, moment, outlet, polled: false }),
    ),
  ];
  const figures = (): Record<string, number> => {
    const series: SeriesDelta[] = [];
    meter.drain(series);
    return Object.fromEntries(
      series.flatMap(({ metric, reason, value }) =>
        value === undefined
          ? []
          : [[reason === undefined ? metric : `${metric}: ${reason}`, value]],
      ),
    );
  };
  const settle = (token: number, answer: Partial<Settlement>): void => {
    moment[0] = (moment[0] ?? 0) + 500;
    stream.settled(token, { ...STORED, ...answer });
  };
  return { moment, run: run(), sender, settle, figures, unresolved, stream };
}

const STORED: Settlement = {
  outcome: 0,
  responseCode: 0,
  reason: '',
  brokerName: 'a',
  queueId: 0,
  queueOffset: 0,
};
