/** The four published scenarios, as the plan language writes them. */
export const MYSQL = String.raw`squall: 1
name: mqtt-to-mysql
description: 100,000 devices send 50,000 QoS 1 messages a second; every one must reach MySQL
vars: { broker: "mqtt://127.0.0.1:1883", mysql: "mysql://root@127.0.0.1/mqtt" }
targets:
  broker: { protocol: mqtt, urls: ["{{broker}}"] }
groups:
  devices:
    target: broker
    clients: 100k
    clientId: "device-{{n}}"
    connect: { rate: 2000/s, keepAlive: 300s }
    publish: { topic: "devices/{{n}}/up", qos: 1, payload: 200B, every: 2s }
stages:
  - { name: connect, run: { devices: connect } }          # over when every client is connected
  - { name: publish, run: { devices: publish }, for: 1h }
probes:
  rows: { type: mysql, url: "{{mysql}}", query: "SELECT COUNT(*) FROM t_mqtt_msg" }
  host: { type: node, url: "http://127.0.0.1:9100/metrics" }   # CPU user, idle, memory, network of the broker's host
thresholds:
  - "connect_failed: count == 0"
  - "publish_failed: count == 0"
  - "publish_time: p(99) < 500ms over 10s for 3 in publish, abort after 30s"
balance:
  settle: { quiet: 5s, max: 60s }
  equal: ["devices.acked", "rows"]
`;

export const WEBHOOK = String.raw`squall: 1
name: mqtt-to-webhook
vars: { broker: "mqtt://127.0.0.1:1883" }
targets: { broker: { protocol: mqtt, urls: ["{{broker}}"] } }
groups:
  devices:
    target: broker
    clients: 100k
    connect: { rate: 5000/s, keepAlive: 300s }
    publish: { topic: "devices/{{n}}/up", qos: 1, payload: 200B, every: 1s }
stages:
  - { name: connect, run: { devices: connect } }
  - { name: publish, run: { devices: publish }, for: 1h }
probes:
  hook: { type: nginx, url: "http://127.0.0.1:8080/stub_status" }   # or type: webhook, a receiver of our own
balance: { equal: ["devices.acked", "hook.requests"] }
`;

export const COLD_READ = String.raw`squall: 1
name: rocketmq-cold-read
targets:
  rocketmq:
    protocol: rocketmq
    nameServers: ["192.168.111.182:8100", "192.168.111.14:8100"]
    acl: { accessKey: test, secretKey: "{{env.ROCKETMQ_SECRET}}" }
groups:
  producers: { target: rocketmq, clients: 128, publish: { topic: topic-01, payload: 1KB, rate: max } }
  consumers: { target: rocketmq, clients: { count: 1, scale: false }, consume: { topic: topic-01, group: group-01 } }
stages:
  - { name: warm,      run: { producers: publish, consumers: consume }, for: 1m }
  - { name: backlog,   run: { producers: publish }, until: "producers.bytes_sent >= 100GB" }
  - { name: cold-read, run: { producers: publish, consumers: consume }, for: 10m }
probes: { host: { type: node, url: "http://192.168.111.182:9100/metrics" } }
thresholds:
  - "published: rate > 28k/s in cold-read"
  - "received: rate > 99k/s in cold-read"
`;

export const FAN_OUT = String.raw`squall: 1
name: mqtt-fan-out
targets:
  nodes: { protocol: mqtt, urls: ["mqtt://n1", "mqtt://n2", "mqtt://n3", "mqtt://n4", "mqtt://n5"], spread: blocks }
  first: { protocol: mqtt, urls: ["mqtt://n1"] }
groups:
  subscribers: { target: nodes, clients: 250k, connect: { rate: 1000/s }, subscribe: { topic: "test/{{block.n}}", qos: 1 } }   # index within its node's block of 50,000
  publishers:  { target: first, clients: 40, connect: { rate: 100/s }, publish: { topic: "test/{{n}}", qos: 1, payload: 256B, every: 10ms } }
stages:
  - { name: subscribe, run: { subscribers: subscribe } }
  - { name: fan-out,   run: { publishers: publish }, for: 10m }
thresholds: ["delivery_time: p(99) < 1s", "lost: count == 0"]
`;
