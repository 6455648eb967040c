// The other end of the connection benchmark: accepts MQTT connections and says yes, nothing more.
// It runs as processes of its own, because one process may hold too few descriptors for both ends.
import net from 'node:net';

const CONNACK = Buffer.from([0x20, 0x02, 0x00, 0x00]);
const PINGRESP = Buffer.from([0xd0, 0x00]);

const server = net.createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes) => {
    if (bytes[0] === 0x10) socket.write(CONNACK);
    else if (bytes[0] === 0xc0) socket.write(PINGRESP);
  });
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  process.stdout.write(`${server.address().port}\n`);
});
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
