import { clockDomainHash } from '@squall/core/stamp';
import { HookReceiver } from '@squall/probes/webhook';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openProbe, type ProbeScene } from '../../src/index.ts';
import { PageServer } from '../page-server.ts';
import { failureOf, valuesOf } from '../reading.ts';
import { DOMAIN, nowUs, stamped } from './stamped.ts';

const PUBLISHER = 'boot-of-the-publisher time:[1]';

/** A run whose publishers' clock is a minute ahead of the controller's. */
function scene(clockDomain: string): ProbeScene {
  const clocks = [{ domain: clockDomainHash(PUBLISHER), offsetUs: -60e6, boundUs: 100 }];
  return { hook: { run: 'run-1', clockDomain, clocks: () => clocks }, hosts: () => [] };
}

let hook: HookReceiver;
beforeEach(async () => {
  hook = await HookReceiver.open({ host: '127.0.0.1', port: 0, clockDomain: DOMAIN });
});
afterEach(() => hook.close());

async function post(seq: number, port = hook.port): Promise<void> {
  const dueUs = nowUs() + 60e6 - 2e6;
  const body = stamped({ seq, dueUs, domain: PUBLISHER });
  const url = `http://127.0.0.1:${port}/`;
  await (await fetch(url, { method: 'POST', body: new Uint8Array(body) })).text();
}

const probeOf = (url: string, clockDomain = DOMAIN) =>
  openProbe({ type: 'webhook', url, listen: null }, scene(clockDomain));

describe('a hook that runs elsewhere', () => {
  test.each([
    ['on the host of the controller', DOMAIN],
    ['on a host of its own', 'boot-of-the-controller time:[1]'],
  ])('times publishers %s by the clocks of the run', async (_where, clockDomain) => {
    const probe = probeOf(`http://127.0.0.1:${hook.port}`, clockDomain);
    expect(await valuesOf(probe)).toMatchObject({ requests: 0, unique: 0, lost: 0 });
    await post(0);
    await post(2);
    const values = await valuesOf(probe);
    expect(values).toMatchObject({ requests: 2, unique: 2, lost: 1, untimed: 0 });
    expect(values['hook_latency_p50']).toBeGreaterThan(1.9);
    expect(values['hook_latency_max']).toBeLessThan(30);
    await probe.close();
  });

  test('is told from other pages', async () => {
    const server = await PageServer.start('{"requests":5}');
    const probe = probeOf(server.url('/stats'));
    expect((await failureOf(probe)).reason).toBe('not a page of squall sink');
    await server.stop();
  });

  test.each(['', 'x', '{}', '[1]', '[[1,"x",2]]', `[${'[1,2,3],'.repeat(200)}[1,2,3]]`])(
    'takes no clocks from the header %j',
    async (header) => {
      const page = `http://127.0.0.1:${hook.port}/stats`;
      const answer = await fetch(page, { headers: { 'squall-clocks': header } });
      expect(answer.status).toBe(200);
      await answer.text();
      await post(0);
      expect(hook.stats()).toMatchObject({ unique: 1, untimed: 1 });
    },
  );
});

test('a hook that listens here takes what comes from its first reading on', async () => {
  const { port } = hook;
  await hook.close();
  const probe = openProbe(
    { type: 'webhook', url: '', listen: { host: '127.0.0.1', port } },
    scene(DOMAIN),
  );
  expect(await valuesOf(probe)).toMatchObject({ requests: 0 });
  await post(0, port);
  expect(await valuesOf(probe)).toMatchObject({ requests: 1, unique: 1, untimed: 0 });
  await probe.close();
  await expect(post(1, port)).rejects.toThrow('fetch failed');
});

describe('a host by its agent', () => {
  const agents = [
    { id: 'a', labels: { role: 'broker', site: 'x' }, figures: { cpu_used: 0.5, unheard: 1 } },
    { id: 'b', labels: { role: 'broker' }, figures: null },
  ];
  const open = (agent: string | null, labels: Record<string, string> = {}) =>
    openProbe({ type: 'host', agent, labels }, { ...scene(DOMAIN), hosts: () => agents });

  test('is chosen by id or by labels', async () => {
    expect(await valuesOf(open('a'))).toEqual({ cpu_used: 0.5 });
    expect(await valuesOf(open(null, { role: 'broker', site: 'x' }))).toEqual({ cpu_used: 0.5 });
  });

  test.each([
    ['no such agent', open('c')],
    ['no such agent', open(null, { role: 'sink' })],
    ['several agents fit', open(null, { role: 'broker' })],
    ['nothing heard', open('b')],
  ])('fails as %s', async (reason, probe) => {
    expect((await failureOf(probe)).reason).toBe(reason);
  });
});
