// pnpm bench [NAME…]: every benchmark, or the named ones; exit code 1 when a goal is missed.
import { allocation } from './allocation.js';
import { closedLoop } from './closed-loop.js';
import { connections } from './connections.js';
import { fanOut } from './fan-out.js';
import { fleet } from './fleet.js';
import { fold } from './fold.js';
import { idle } from './idle.js';
import { ledger } from './ledger.js';
import { publishPaced } from './publish-paced.js';
import { rocketmqConsume } from './rocketmq-consume.js';
import { rocketmqPublish } from './rocketmq-publish.js';
import { store } from './store.js';
import { tlsPublish } from './tls-publish.js';
import { versions } from './versions.js';
import { webhook } from './webhook.js';

const BENCHMARKS = {
  'publish-paced': publishPaced,
  'tls-publish': tlsPublish,
  'closed-loop': closedLoop,
  'fan-out': fanOut,
  connections,
  allocation,
  idle,
  fold,
  fleet,
  ledger,
  store,
  'rocketmq-publish': rocketmqPublish,
  'rocketmq-consume': rocketmqConsume,
  versions,
  webhook,
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(BENCHMARKS, name));
if (unknown.length > 0 || names.includes('--help')) {
  process.stderr.write(
    `usage: pnpm bench [${Object.keys(BENCHMARKS).join('|')}]…\nWithout a name all of them run, about half an hour together.\n`,
  );
  process.exit(2);
}

let missed = 0;
for (const name of names.length > 0 ? names : Object.keys(BENCHMARKS)) {
  process.stdout.write(`\n${name} …\n`);
  const result = await BENCHMARKS[name]();
  for (const [text, value] of result.figures) process.stdout.write(`  ${text}: ${value}\n`);
  for (const goal of result.goals) {
    if (!goal.holds) missed++;
    process.stdout.write(`  ${goal.holds ? 'holds ' : 'MISSED'}  ${goal.text}: ${goal.observed}\n`);
  }
}
process.exitCode = missed > 0 ? 1 : 0;
