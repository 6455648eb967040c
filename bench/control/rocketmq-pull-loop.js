// The least that reading a topic can cost: one pull under way a queue over one socket, headers made by
// string template, answers looked at for their opaque and next offset only, messages not decoded.
import { connect } from 'node:net';

const { port, topic, count, queues } = JSON.parse(process.argv[2]);
const NEXT = Buffer.from('"nextBeginOffset":"');
const OPAQUE = Buffer.from('"opaque":');
const offsets = Array.from({ length: queues }, () => 0);
let messages = 0;
let begun = null;

const chunk = Buffer.allocUnsafeSlow(512 * 1024);
let kept = Buffer.alloc(0);
const socket = connect({
  port,
  host: '127.0.0.1',
  noDelay: true,
  onread: { buffer: chunk, callback: (length) => received(chunk.subarray(0, length)) },
});
socket.on('connect', () => {
  for (let queue = 0; queue < queues; queue++) pull(queue);
});

function pull(queue) {
  const header = `{"code":11,"language":"OTHER","version":409,"opaque":${queue},"flag":0,"extFields":{"consumerGroup":"pull-loop","topic":"${topic}","queueId":"${queue}","queueOffset":"${offsets[queue]}","maxMsgNums":"32","sysFlag":"6","commitOffset":"0","suspendTimeoutMillis":"15000","subscription":"*","expressionType":"TAG","subVersion":"0"}}`;
  const frame = Buffer.allocUnsafe(8 + header.length);
  frame.writeInt32BE(4 + header.length, 0);
  frame.writeInt32BE(header.length, 4);
  frame.write(header, 8, 'latin1');
  socket.write(frame);
}

function received(bytes) {
  begun ??= { cpu: process.cpuUsage(), at: process.hrtime.bigint() };
  let all = kept.length === 0 ? bytes : Buffer.concat([kept, bytes]);
  while (all.length >= 8) {
    const end = 4 + all.readInt32BE(0);
    if (all.length < end) break;
    answered(all.subarray(8, 8 + (all.readInt32BE(4) & 0xffffff)));
    all = all.subarray(end);
  }
  kept = Buffer.from(all);
  return true;
}

function answered(header) {
  const queue = numberBehind(header, OPAQUE);
  const next = numberBehind(header, NEXT);
  messages += next - offsets[queue];
  offsets[queue] = next;
  if (messages >= count) finish();
  pull(queue);
}

function numberBehind(header, name) {
  let at = header.indexOf(name) + name.length;
  let value = 0;
  for (; header[at] >= 0x30 && header[at] <= 0x39; at++) value = value * 10 + header[at] - 0x30;
  return value;
}

function finish() {
  const used = process.cpuUsage(begun.cpu);
  const seconds = Number(process.hrtime.bigint() - begun.at) / 1e9;
  const result = {
    messages,
    perS: messages / seconds,
    cpuUs: (used.user + used.system) / messages,
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  process.exit(0);
}
