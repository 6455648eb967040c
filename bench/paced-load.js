// The load of the paced benchmarks, and the plan that says the same.

export const LOAD = { host: '127.0.0.1', clients: 1000, everyMs: 100, payloadBytes: 200 };

export const pacedPlan = (name, port) => `
squall: 1
name: ${name}
targets: { broker: { protocol: mqtt, urls: ["mqtt://127.0.0.1:${port}"] } }
groups:
  devices:
    target: broker
    clients: ${LOAD.clients}
    connect: { rate: 2000/s, keepAlive: 60s }
    publish: { topic: "bench/{{n:05}}/up", qos: 1, payload: ${LOAD.payloadBytes}B, every: ${LOAD.everyMs}ms }
stages:
  - { name: connect, run: { devices: connect } }
  - { name: publish, run: { devices: publish }, for: 10m }
`;
