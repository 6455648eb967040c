// The control of the publish benchmark: bare MQTT.js clients that do the same, as its README shows.
//
//   node mqttjs-publisher.js HOST PORT CLIENTS EVERY_MS PAYLOAD_BYTES
//
// Prints "connected" when every client is, then publishes. Each line on standard input is answered
// by one line {"acked":N,"cpuUs":N} taken at that moment; end of input ends it.
import { answerMarks, cpuUs } from './marks.js';
import { connectClients, topicOf } from './mqttjs-clients.js';

const [host, port, clientCount, everyMs, payloadBytes] = process.argv.slice(2);
const count = Number(clientCount);
const every = Number(everyMs);
const payload = Buffer.alloc(Number(payloadBytes), 'x');
let acked = 0;

const clients = await connectClients({ host, port, count });
process.stdout.write('connected\n');

const onAcked = (error) => {
  if (error) throw error;
  acked++;
};
for (const [index, client] of clients.entries()) {
  const topic = topicOf(index);
  // A random-looking but even phase, so that the clients' timers do not all fire together.
  const phase = (index * every) / count;
  setTimeout(() => {
    setInterval(() => client.publish(topic, payload, { qos: 1 }, onAcked), every);
  }, phase);
}

answerMarks(() => ({ acked, cpuUs: cpuUs() }));
