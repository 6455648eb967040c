// The control of the closed-loop benchmark: MQTT.js clients that keep a window of messages under way.
//
//   node mqttjs-closed-loop.js HOST PORT CLIENTS INFLIGHT PAYLOAD_BYTES
//
// Prints "connected" when every client is, then publishes. Each line on standard input is answered
// by one line {"acked":N,"cpuUs":N} taken at that moment; end of input ends it.
import { createInterface } from 'node:readline';
import mqtt from 'mqtt';

const [host, port, clientCount, inflight, payloadBytes] = process.argv.slice(2);
const count = Number(clientCount);
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

for (const [index, client] of clients.entries()) {
  const topic = `bench/${String(index).padStart(5, '0')}/up`;
  const publish = () => client.publish(topic, payload, { qos: 1 }, onAcked);
  const onAcked = (error) => {
    if (error) throw error;
    acked++;
    publish();
  };
  for (let place = 0; place < Number(inflight); place++) publish();
}

const marks = createInterface({ input: process.stdin });
marks.on('line', () => {
  const cpu = process.cpuUsage();
  process.stdout.write(`${JSON.stringify({ acked, cpuUs: cpu.user + cpu.system })}\n`);
});
marks.on('close', () => process.exit(0));
