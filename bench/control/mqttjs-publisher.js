// The control of the publish benchmark: bare MQTT.js clients that do the same, as its README shows.
//
//   node mqttjs-publisher.js HOST PORT CLIENTS EVERY_MS PAYLOAD_BYTES
//
// Prints "connected" when every client is, then publishes. Each line on standard input is answered
// by one line {"acked":N,"cpuUs":N} taken at that moment; end of input ends it.
import { createInterface } from 'node:readline';
import mqtt from 'mqtt';

const [host, port, clientCount, everyMs, payloadBytes] = process.argv.slice(2);
const count = Number(clientCount);
const every = Number(everyMs);
const payload = Buffer.alloc(Number(payloadBytes), 'x');
let acked = 0;

const clients = [];
for (let index = 0; index < count; index++) {
  clients.push(
    mqtt.connect(`mqtt://${host}:${port}`, {
      clientId: `bench-js-${index}`,
      protocolVersion: 4,
      clean: true,
      keepalive: 60,
    }),
  );
}
await Promise.all(
  clients.map((client) => new Promise((resolve) => client.once('connect', resolve))),
);
process.stdout.write('connected\n');

const onAcked = (error) => {
  if (error) throw error;
  acked++;
};
for (const [index, client] of clients.entries()) {
  const topic = `bench/${String(index).padStart(5, '0')}/up`;
  // A random-looking but even phase, so that the clients' timers do not all fire together.
  const phase = (index * every) / count;
  setTimeout(() => {
    setInterval(() => client.publish(topic, payload, { qos: 1 }, onAcked), every);
  }, phase);
}

const marks = createInterface({ input: process.stdin });
marks.on('line', () => {
  const cpu = process.cpuUsage();
  process.stdout.write(`${JSON.stringify({ acked, cpuUs: cpu.user + cpu.system })}\n`);
});
marks.on('close', () => process.exit(0));
