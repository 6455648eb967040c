// The control of the closed-loop benchmark: MQTT.js clients that keep a window of messages under way.
//
//   node mqttjs-closed-loop.js HOST PORT CLIENTS INFLIGHT PAYLOAD_BYTES
//
// Prints "connected" when every client is, then publishes. Each line on standard input is answered
// by one line {"acked":N,"cpuUs":N} taken at that moment; end of input ends it.
import { answerMarks, cpuUs } from './marks.js';
import { connectClients, topicOf } from './mqttjs-clients.js';

const [host, port, clientCount, inflight, payloadBytes] = process.argv.slice(2);
const count = Number(clientCount);
const payload = Buffer.alloc(Number(payloadBytes), 'x');
let acked = 0;

const clients = await connectClients({ host, port, count });
process.stdout.write('connected\n');

for (const [index, client] of clients.entries()) {
  const topic = topicOf(index);
  const publish = () => client.publish(topic, payload, { qos: 1 }, onAcked);
  const onAcked = (error) => {
    if (error) throw error;
    acked++;
    publish();
  };
  for (let place = 0; place < Number(inflight); place++) publish();
}

answerMarks(() => ({ acked, cpuUs: cpuUs() }));
