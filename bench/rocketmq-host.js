// A process of its own for our RocketMQ client under load, so that its CPU is its own. Takes one JSON
// argument, prints one line of JSON.
import { crcMatches, RocketmqClient, Sent } from '@squall/rocketmq';

const options = JSON.parse(process.argv[2]);
const readClock = (cell) => {
  const [seconds, nanos] = process.hrtime();
  cell[0] = seconds * 1e6 + nanos / 1e3;
};
const now = new Float64Array(1);
const client = new RocketmqClient({
  nameServers: [options.nameServer],
  readClock,
  acl: options.acl ?? null,
  connections: options.connections ?? 1,
});
const KINDS = { publish, consume, topic };
const result = await KINDS[options.kind ?? 'publish']();
await client.end();
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(0);

/** `senders` closed loops of one message (or batch) under way each, as the official tool's threads. */
async function publish() {
  const { senders, size, batch = 1, seconds, warmup } = options;
  const sentAtUs = new Float64Array(senders);
  const samplesUs = new Float64Array(4_000_000);
  const body = Buffer.alloc(size, 'x');
  const message = { body, bodyAt: 0, bodyEnd: size, properties: '', key: '', bornAtMs: Date.now() };
  let samples = 0;
  let stored = 0;
  let failed = 0;
  let going = true;
  let open = 0;
  let wholeBatch = null;
  const send = (token) => {
    readClock(now);
    sentAtUs[token] = now[0];
    message.bornAtMs = Date.now();
    let sent;
    if (batch === 1) sent = producer.send(token, message);
    else {
      wholeBatch.clear();
      for (let i = 0; i < batch; i++) wholeBatch.add(message);
      sent = producer.sendBatch(token, wholeBatch, message.bornAtMs);
    }
    if (sent !== Sent.accepted) throw new Error(`not accepted: ${sent}`);
    open++;
  };
  const producer = await client.produce(
    { topic: options.topic, group: 'squall-bench', serialization: options.serialization },
    {
      settled: (token, settlement) => {
        open--;
        if (settlement.outcome === 0) {
          stored += batch;
          readClock(now);
          if (samples < samplesUs.length) samplesUs[samples++] = now[0] - sentAtUs[token];
        } else failed++;
        if (going) send(token);
      },
    },
  );
  wholeBatch = producer.newBatch();
  for (let token = 0; token < senders; token++) send(token);
  await sleep(warmup * 1e3);
  stored = 0;
  failed = 0;
  samples = 0;
  const cpu = process.cpuUsage();
  const heap = process.memoryUsage().heapUsed;
  await sleep(seconds * 1e3);
  const used = process.cpuUsage(cpu);
  const messages = stored;
  const count = samples;
  going = false;
  const isIdle = () => open === 0;
  while (!isIdle()) await sleep(10);
  const sorted = samplesUs.subarray(0, count).toSorted();
  return {
    messages,
    failed,
    perS: messages / seconds,
    cpuUs: (used.user + used.system) / messages,
    p50Us: sorted[Math.floor(count / 2)],
    p99Us: sorted[Math.floor(count * 0.99)],
    heap,
  };
}

/** Reads `count` messages from the start, by one reader of all queues. */
async function consume() {
  const { count, verify } = options;
  let received = 0;
  let bytes = 0;
  let begun = null;
  let finish = null;
  const enough = new Promise((resolve) => {
    finish = resolve;
  });
  const consumer = await client.consume(
    {
      topic: options.topic,
      group: `squall-${process.pid}`,
      sharing: { by: 'turn', index: 0, count: 1 },
      from: { at: 'first' },
    },
    {
      received: (record) => {
        if (received === 0) begun = { cpu: process.cpuUsage(), at: process.hrtime.bigint() };
        received++;
        bytes += record.bodyEnd - record.bodyAt;
        if (received === count) finish();
        if (verify && !crcMatches(record)) throw new Error('damaged');
        return true;
      },
    },
  );
  await enough;
  const used = process.cpuUsage(begun.cpu);
  const seconds = Number(process.hrtime.bigint() - begun.at) / 1e9;
  const figures = { messages: received, bytes, gaps: consumer.counts.gaps };
  return { ...figures, perS: received / seconds, cpuUs: (used.user + used.system) / received };
}

async function topic() {
  await client.admin.createTopic(options.topic, { queues: 8 });
  return {};
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
