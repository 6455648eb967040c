// RocketMQ for benchmarks: the fixtures of the tests (TypeScript, compiled as they are read) start the
// brokers and the official Java client; ours runs in a process of its own.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runnerImport } from 'vite';

const run = promisify(execFile);
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const HOST = fileURLToPath(new URL('rocketmq-host.js', import.meta.url));
const PULL_LOOP = fileURLToPath(new URL('control/rocketmq-pull-loop.js', import.meta.url));

async function fixture(name) {
  const file = path.join(root, 'tests', 'fixtures', 'rocketmq', `${name}.ts`);
  return (await runnerImport(file, { root, logLevel: 'error' })).module;
}

/** A cluster with a topic of 8 queues, and the official client of its version. */
export async function startRig(version, { acl = false, topic }) {
  const { RocketmqCluster } = await fixture('cluster');
  const { OfficialClient } = await fixture('official-client');
  const { ADMIN } = await fixture('broker-files');
  const cluster = await RocketmqCluster.start({
    version,
    acl,
    measured: true,
    settings: { defaultTopicQueueNums: '8' },
  });
  const official = await OfficialClient.start(version, true);
  const account = acl ? ADMIN : null;
  await ours({ kind: 'topic', nameServer: cluster.nameServer, topic, acl: account });
  const usual = { nameServer: cluster.nameServer, topic, acl: account };
  return {
    cluster,
    official,
    /** Our client's figures under a load. */
    ours: (options) => ours({ ...usual, ...options }),
    /** What a socket alone can read. */
    pullLoop: (count) =>
      program(PULL_LOOP, { port: cluster.brokers[0].port, topic, count, queues: 8 }),
    java: (verb, options) => official.bench(verb, { names: cluster.nameServer, topic, ...options }),
    async stop() {
      await official.dispose();
      await cluster.dispose();
    },
  };
}

function ours(options) {
  return program(HOST, options);
}

async function program(file, options) {
  const { stdout } = await run(process.execPath, [file, JSON.stringify(options)]);
  return JSON.parse(stdout);
}
