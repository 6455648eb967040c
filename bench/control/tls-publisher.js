// The control of the TLS benchmark: bare `tls` sockets that write a ready PUBLISH and read the
// PUBACK, at the same pace; no schedule by index, no template, no stamp, no histogram, no ledger.
//
//   node tls-publisher.js HOST PORT CLIENTS EVERY_MS PAYLOAD_BYTES
//
// Prints "connected", then publishes. A line on standard input is answered by {"acked":N,"cpuUs":N}.
import { createInterface } from 'node:readline';
import tls from 'node:tls';

const [host, port, clientCount, everyMs, payloadBytes] = process.argv.slice(2);
const count = Number(clientCount);
const periodMs = Number(everyMs);
/** Handshakes under way at a time. */
const CONNECTING_MAX = 50;
const input = Buffer.alloc(65_536);
const secureContext = tls.createSecureContext({});
let acked = 0;
let connecting = count;

const sockets = [];
const packets = Array.from({ length: count }, (_, index) => publishPacket(index));
for (let begun = 0; begun < CONNECTING_MAX; begun++) connectNext();

function connectNext() {
  const index = sockets.length;
  if (index === count) return;
  const socket = tls.connect({
    host,
    port: Number(port),
    secureContext,
    rejectUnauthorized: false,
    onread: { buffer: input, callback: onRead },
  });
  socket.setNoDelay(true);
  socket.on('secureConnect', () => socket.write(connectPacket(index)));
  sockets.push(socket);
}

/** The first answer of a socket is its CONNACK, four bytes as well. */
function onRead(bytes) {
  if (connecting > 0) {
    connecting--;
    connectNext();
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
  const id = Buffer.from(`bench-t-${index}`);
  const head = Buffer.from([0x10, 12 + id.length, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 60]);
  return Buffer.concat([head, Buffer.from([0, id.length]), id]);
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
