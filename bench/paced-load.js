// The load of the paced benchmarks, and the plan that says the same.

export const LOAD = { host: '127.0.0.1', clients: 1000, everyMs: 100, payloadBytes: 200 };

const over = {
  tcp: (port) => `urls: ["mqtt://127.0.0.1:${port}"]`,
  tls: (port) => `urls: ["mqtts://127.0.0.1:${port}"], tls: { verify: false }`,
};
/** Handshakes take their time. */
const CONNECTS_PER_S = { tcp: 2000, tls: 500 };

/** @param {'tcp' | 'tls'} [transport] */
export const pacedPlan = (name, port, transport = 'tcp') => `
squall: 1
name: ${name}
targets: { broker: { protocol: mqtt, ${over[transport](port)} } }
groups:
  devices:
    target: broker
    clients: ${LOAD.clients}
    connect: { rate: ${CONNECTS_PER_S[transport]}/s, keepAlive: 60s }
    publish: { topic: "bench/{{n:05}}/up", qos: 1, payload: ${LOAD.payloadBytes}B, every: ${LOAD.everyMs}ms }
stages:
  - { name: connect, run: { devices: connect } }
  - { name: publish, run: { devices: publish }, for: 10m }
`;
