// The control of the allocation benchmark: bare `net` sockets that write a ready PUBLISH and read
// the PUBACK, at the same pace; no schedule by index, no template, no stamp, no histogram.
//
//   node socket-publisher.js HOST PORT CLIENTS EVERY_MS PAYLOAD_BYTES
//
// Prints "connected", then publishes. A line on standard input is answered by {"acked":N,"cpuUs":N}.
import net from 'node:net';
import { createInterface } from 'node:readline';

const [host, port, clientCount, everyMs, payloadBytes] = process.argv.slice(2);
const count = Number(clientCount);
const periodMs = Number(everyMs);
const input = Buffer.alloc(65_536);
let acked = 0;
let connecting = count;

const sockets = [];
const packets = [];
for (let index = 0; index < count; index++) {
  const socket = net.connect({
    host,
    port: Number(port),
    noDelay: true,
    onread: { buffer: input, callback: onRead },
  });
  socket.on('connect', () => socket.write(connectPacket(index)));
  sockets.push(socket);
  packets.push(publishPacket(index));
}

/** The first answer of a socket is its CONNACK, four bytes as well. */
function onRead(bytes) {
  if (connecting > 0) {
    connecting--;
    if (connecting === 0) start();
    return true;
  }
  acked += bytes / 4;
  return true;
}

function start() {
  process.stdout.write('connected\n');
  const begun = performance.now();
  let sent = 0;
  const tick = () => {
    const due = ((performance.now() - begun) / periodMs) * count;
    while (sent <= due) {
      const index = sent % count;
      sockets[index].write(packets[index]);
      sent++;
    }
    setTimeout(tick, 1);
  };
  tick();
}

function connectPacket(index) {
  const id = Buffer.from(`bench-s-${index}`);
  const head = Buffer.from([
    0x10,
    12 + id.length,
    0,
    4,
    0x4d,
    0x51,
    0x54,
    0x54,
    4,
    2,
    0,
    60,
    0,
    id.length,
  ]);
  return Buffer.concat([head, id]);
}

function publishPacket(index) {
  const topic = Buffer.from(`bench/${String(index).padStart(5, '0')}/up`);
  const body = Buffer.concat([
    Buffer.from([0, topic.length]),
    topic,
    Buffer.from([0, 1]),
    Buffer.alloc(Number(payloadBytes), 'x'),
  ]);
  const length = body.length < 128 ? [body.length] : [(body.length % 128) | 128, body.length >> 7];
  return Buffer.concat([Buffer.from([0x32, ...length]), body]);
}

const marks = createInterface({ input: process.stdin });
marks.on('line', () => {
  const cpu = process.cpuUsage();
  process.stdout.write(`${JSON.stringify({ acked, cpuUs: cpu.user + cpu.system })}\n`);
});
marks.on('close', () => process.exit(0));
