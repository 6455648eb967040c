// The control of the TLS benchmark: bare `tls` sockets that write a ready PUBLISH and read the
// PUBACK, at the same pace; no schedule by index, no template, no stamp, no histogram, no ledger.
//
//   node tls-publisher.js HOST PORT CLIENTS EVERY_MS PAYLOAD_BYTES
//
// Prints "connected", then publishes. A line on standard input is answered by {"acked":N,"cpuUs":N}.
import tls from 'node:tls';
import { answerMarks, cpuUs } from './marks.js';
import { connectPacket, publishEvenly } from './ready-sockets.js';

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
  socket.on('secureConnect', () => socket.write(connectPacket(`bench-t-${index}`)));
  sockets.push(socket);
}

/** The first answer of a socket is its CONNACK, four bytes as well. */
function onRead(bytes) {
  if (connecting > 0) {
    connecting--;
    connectNext();
    if (connecting === 0) publishEvenly(sockets, { periodMs, payloadBytes: Number(payloadBytes) });
    return true;
  }
  acked += bytes / 4;
  return true;
}

answerMarks(() => ({ acked, cpuUs: cpuUs() }));
