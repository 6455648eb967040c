import { describe, expect } from 'vitest';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import { certificate, noCertificate } from '../fixtures/certificate.ts';
import { devicesPlan } from '../fixtures/plans.ts';
import { reportOf, type SquallResult, startSquall } from '../fixtures/squall.ts';

const TOKEN = { SQUALL_TOKEN: 'a-token-of-the-test' };

describe.concurrent('agents started by hand', { timeout: 60_000 }, () => {
  test('`squall run` and `squall controller` over them are the same run as one over its own', async ({
    broker,
    workspace,
  }) => {
    const plan = workspace.plan(devicesPlan({ url: broker.url, clients: 100 }));
    const byHand = async (command: readonly string[]) => {
      const out = workspace.out();
      const args = [...command, '--listen', '127.0.0.1:0', '--out', out];
      const controller = startSquall(args, out, { env: TOKEN });
      const url = (await controller.seen(/ws:\/\/127\.0\.0\.1:\d+/))[0];
      const agents = ['north', 'east', 'south'].map((id) =>
        startSquall(['agent', '--controller', url, '--id', id, '--workers', '1'], '', {
          env: TOKEN,
        }),
      );
      const result = await controller.result;
      for (const agent of agents) agent.child.kill('SIGTERM');
      const endings = await Promise.all(agents.map((agent) => agent.result));
      expect(endings.map((ending) => ending.code)).toEqual([0, 0, 0]);
      return result;
    };
    const [composed, overRun, overController] = await Promise.all([
      workspace.run([plan, '--agents', '3']),
      byHand(['run', plan, '--agents-external', '3']),
      byHand(['controller', '--plan', plan, '--agents', '3']),
    ]);
    expect(composed.code).toBe(0);
    expect(figures(overRun)).toEqual(figures(composed));
    expect(figures(overController)).toEqual(figures(composed));
    const ids = reportOf(overRun).agents.map((agent) => agent.id);
    expect(ids).toEqual(['east', 'north', 'south']);
  });

  test('join over TLS where the certificate is known, and say why where it is not', async ({
    broker,
    workspace,
    skip,
  }) => {
    const reason = noCertificate();
    if (reason !== null) skip(reason);
    const { cert, key } = certificate(workspace.folder);
    const plan = workspace.plan(devicesPlan({ url: broker.url, clients: 20 }));
    const out = workspace.out();
    const args = ['run', plan, '--agents-external', '1', '--listen', 'localhost:0', '--out', out];
    const tls = ['--tls-cert', cert, '--tls-key', key];
    const run = startSquall([...args, ...tls], out, { env: TOKEN });
    const url = (await run.seen(/wss:\/\/localhost:\d+/))[0];
    const agent = (env: Record<string, string>) =>
      startSquall(['agent', '--controller', url, '--workers', '1'], '', {
        env: { ...TOKEN, ...env },
      });
    const stranger = agent({});
    await stranger.seen(/no link to wss:.*self-signed certificate/);
    stranger.child.kill('SIGTERM');
    const friend = agent({ NODE_EXTRA_CA_CERTS: cert });
    const result = await run.result;
    for (const each of [stranger, friend]) each.child.kill('SIGTERM');
    await Promise.all([stranger.result, friend.result]);
    expect(result.code).toBe(0);
  });

  test('of other machines need a token and TLS, and half of a pair is refused', async ({
    broker,
    workspace,
  }) => {
    const plan = workspace.plan(devicesPlan({ url: broker.url, clients: 1 }));
    const refusal = async (options: readonly string[]) => {
      const result = await workspace.run([plan, '--agents-external', '1', ...options]);
      return `${result.code} ${result.stderr}`;
    };
    expect(await refusal(['--listen', '0.0.0.0:0'])).toMatch(/^2 .*join token and TLS/s);
    expect(await refusal(['--tls-cert', plan])).toMatch(/^2 .*belong together/s);
    const noPem = ['--tls-cert', plan, '--tls-key', plan];
    expect(await refusal(noPem)).toMatch(/^2 .*certificate and key cannot be used/s);
  });
});

/** What must be the same however the agents came to be. */
function figures(result: SquallResult) {
  const report = reportOf(result);
  const { planned, sent, acked, connected } = report.groups['devices']?.counters ?? {};
  const ranges = report.split.map((share) => share.workers.map((worker) => worker.groups));
  return { planned, sent, acked, connected, ranges, verdict: report.verdict };
}
