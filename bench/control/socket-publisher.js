// The control of the allocation benchmark: bare `net` sockets that write a ready PUBLISH and read
// the PUBACK, at the same pace; no schedule by index, no template, no stamp, no histogram.
//
//   node socket-publisher.js HOST PORT CLIENTS EVERY_MS PAYLOAD_BYTES
//
// Prints "connected", then publishes. A line on standard input is answered by {"acked":N,"cpuUs":N}.
import net from 'node:net';
import { answerMarks, cpuUs } from './marks.js';
import { connectPacket, publishEvenly } from './ready-sockets.js';

const [host, port, clientCount, everyMs, payloadBytes] = process.argv.slice(2);
const count = Number(clientCount);
const periodMs = Number(everyMs);
const input = Buffer.alloc(65_536);
let acked = 0;
let connecting = count;

const sockets = [];
for (let index = 0; index < count; index++) {
  const socket = net.connect({
    host,
    port: Number(port),
    noDelay: true,
    onread: { buffer: input, callback: onRead },
  });
  socket.on('connect', () => socket.write(connectPacket(`bench-s-${index}`)));
  sockets.push(socket);
}

/** The first answer of a socket is its CONNACK, four bytes as well. */
function onRead(bytes) {
  if (connecting > 0) {
    connecting--;
    if (connecting === 0) publishEvenly(sockets, { periodMs, payloadBytes: Number(payloadBytes) });
    return true;
  }
  acked += bytes / 4;
  return true;
}

answerMarks(() => ({ acked, cpuUs: cpuUs() }));
