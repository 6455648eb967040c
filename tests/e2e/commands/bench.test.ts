import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';
import { brokerTest } from '../../fixtures/broker-test.ts';
import { endProgram } from '../../fixtures/process.ts';
import { SecuredBroker, securedBrokerMissing } from '../../fixtures/secured-broker.ts';
import { reportOf, squall, startSquall, Workspace } from '../../fixtures/squall.ts';

/** The command lines of the published fan-out test, smaller: one node, a fiftieth of the clients. */
const SUBSCRIBE = '-h 127.0.0.1 -p PORT -c 100 -i 5 -t test/%i -q 1';
const PUBLISH = '-h localhost -p PORT -c 40 -i 10 -I 10 -t test/%i -q 1';

function words(line: string, port: number): string[] {
  return line.replace('PORT', String(port)).split(' ');
}

brokerTest.concurrent(
  'the command lines of emqtt_benchmark run as they are written, side by side',
  async ({ broker, workspace, expect }) => {
    const out = { sub: workspace.out(), pub: workspace.out() };
    const subscribers = startSquall(
      ['bench', 'sub', ...words(SUBSCRIBE, broker.port), '--for', '60s', '--out', out.sub],
      out.sub,
    );
    await subscribers.seen(/stage receive/, 30_000);
    const publishers = await startSquall(
      ['bench', 'pub', ...words(PUBLISH, broker.port), '--for', '3s', '--out', out.pub],
      out.pub,
    ).result;
    await endProgram(subscribers, 20_000);
    const received = await subscribers.result;

    // 40 publishers, a message each 10 ms, 3 s: every one of them, and one subscriber for each.
    const sent = reportOf(publishers).groups['publishers']?.counters;
    expect(sent).toMatchObject({ connected: 40, planned: 12_000, acked: 12_000 });
    expect(publishers.code).toBe(0);
    const got = reportOf(received).groups['subscribers']?.counters;
    expect(got).toMatchObject({ connected: 100, subscribed: 100, received: 12_000 });
    expect(received.code).toBe(105);
    expect(await broker.publishesReceived(12_000)).toBe(12_000);
  },
);

brokerTest.concurrent(
  'a limit is exact over all clients, and ends the run',
  async ({ broker, workspace, expect }) => {
    const out = workspace.out();
    const line = `-p ${broker.port} -V 4 -c 7 -R 1000 -I 10 -t bench/%c -q 1 -L 100 -l`.split(' ');
    const result = await startSquall(['bench', 'pub', ...line, '--out', out], out).result;
    expect(result.stderr).toContain('note  --lowmem is passed over: ');
    expect(result.code).toBe(0);
    expect(reportOf(result).groups['publishers']?.counters).toMatchObject({
      connected: 7,
      acked: 100,
    });
  },
);

brokerTest.concurrent(
  'what --print-plan prints, check takes and run runs',
  async ({ broker, workspace, expect }) => {
    const line = `-p ${broker.port} -V 4 -c 20 -R 1000`.split(' ');
    const printed = await squall(['bench', 'conn', ...line, '--for', '1s', '--print-plan']);
    expect(printed.code).toBe(0);
    expect(printed.stderr).toBe('');
    const file = workspace.plan(printed.stdout);
    const checked = await squall(['check', file]);
    expect(checked.stdout).toContain('ok  bench-conn · 1 group, 20 clients');
    const result = await workspace.run([file]);
    expect(result.code).toBe(0);
    expect(reportOf(result).groups['clients']?.counters).toMatchObject({ connected: 20 });
  },
);

test.concurrent('TLS with a client certificate, WebSocket, QoS 2, source addresses and kept sessions, by their flags', async ({
  expect,
  skip,
}) => {
  const missing = securedBrokerMissing();
  if (missing !== null) skip(missing);
  const broker = await SecuredBroker.start();
  const workspace = new Workspace();
  broker.giveAuthority(workspace.folder);
  broker.giveIdentities(workspace.folder, 1);
  const file = (name: string) => path.join(workspace.folder, name);
  const authority = ['--cacertfile', file('ca.pem')];
  const identity = ['--certfile', file('certs/1.pem'), '--keyfile', file('certs/1.key')];
  const common = '-c 4 -R 500 -I 50 -q 2 -L 40 -t shared/bench/%i'.split(' ');
  const lines = [
    ['-p', `${broker.ports.strict}`, '--ssl-version', 'tlsv1.2', ...authority, ...identity],
    ['-p', `${broker.ports.ws}`, '--ws', '--ifaddr', '127.0.0.2,127.0.0.3'],
    ['-p', `${broker.ports.wss}`, '--ws', '-S', '-C', 'false', '-x', '60', '--prefix', 'kept'],
  ];
  const results = await Promise.all(
    lines.map((line) => {
      const out = workspace.out();
      return startSquall(['bench', 'pub', ...common, ...line, '--out', out], out).result;
    }),
  );
  for (const result of results) {
    expect(result.code, result.output).toBe(0);
    expect(reportOf(result).groups['publishers']?.counters).toMatchObject({
      connected: 4,
      sent: 40,
      acked: 40,
    });
  }
  workspace.dispose();
  await broker.dispose();
}, 90_000);

test.concurrent('flags that cannot be had are refused by name', async ({ expect }) => {
  const quic = await squall(['bench', 'pub', '-t', 'a', '--quic', 'true']);
  expect(quic.code).toBe(2);
  expect(quic.stderr).toContain('--quic is not possible here');
  const none = await squall(['bench', 'sub', '-c', '10']);
  expect(none.code).toBe(2);
  expect(none.stderr).toContain('no topic is given');
});

test.concurrent('the help names every flag of emqtt_bench', async ({ expect }) => {
  const help = await squall(['bench', 'pub', '--help']);
  expect(help.code).toBe(0);
  for (const flag of ['-h, --host', '-I, --interval_of_msg', '--topics-payload', '--quic']) {
    expect(help.stdout).toContain(flag);
  }
  expect(readFileSync(path.join('docs', 'reference', 'emqtt-bench.md'), 'utf8')).toContain(
    '--quic',
  );
});
