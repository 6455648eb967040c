import { inspect } from 'node:util';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SquallError } from '@squall/core/errors';
import { parseRedisAddress, RedisBus, RedisBusSender } from '@squall/redis-bus';
import { describe, expect } from 'vitest';
import { certificate, noCertificate } from '../fixtures/certificate.ts';
import { freePort } from '../fixtures/process.ts';
import { DrivingAgent, FoldingController } from '../fixtures/redis-agent.ts';
import { QUICK, RedisRig, UNDISTURBED } from '../fixtures/redis-rig.ts';
import { redisTest as test } from '../fixtures/redis-test.ts';

/** What the controller says of a server that it cannot work with. */
async function refusalOf(url: string): Promise<SquallError> {
  const outcome = await RedisBus.open({ url, limits: QUICK }).catch((error: unknown) => error);
  if (outcome instanceof SquallError) return outcome;
  throw new Error('it was taken');
}

describe('the controller refuses, by name and with what to do,', () => {
  test('a Redis that is not there', async () => {
    const refusal = await refusalOf(`redis://127.0.0.1:${await freePort()}`);
    expect(refusal).toMatchObject({ code: 'SQ_BUS', hint: 'start it, or correct the address' });
    expect(refusal.message).toContain('nothing listens there');
  });

  test('one that wants a password', async ({ startRedis: start }) => {
    const { port } = await start({ password: 'secret-of-redis' });
    expect((await refusalOf(`redis://127.0.0.1:${port}`)).message).toContain('wants a password');
  });

  test.for(['redis://:wrong-secret@', 'redis://nobody:wrong-secret@'])(
    'the wrong password (%s…), which it does not repeat',
    async (login, { startRedis: start }) => {
      const { port } = await start({ password: 'secret-of-redis' });
      const refusal = await refusalOf(`${login}127.0.0.1:${port}`);
      expect(refusal.message).toContain('the password, or the user name, is wrong');
      expect(inspect(refusal, { depth: 9, showHidden: true })).not.toContain('wrong-secret');
    },
  );

  test('one that is full', async ({ startRedis: start }) => {
    const server = await start({ args: ['--maxmemory', '600kb'] });
    expect((await refusalOf(server.url)).message).toContain('it is full');
  });

  test('one that evicts', async ({ startRedis: start }) => {
    const server = await start({
      args: ['--maxmemory', '64mb', '--maxmemory-policy', 'allkeys-lru'],
    });
    const refusal = await refusalOf(server.url);
    expect(refusal.message).toContain('allkeys-lru');
    expect(refusal.hint).toContain('noeviction');
  });

  test('a replica', async ({ startRedis: start }) => {
    const primary = await start();
    const replica = await start({ args: ['--replicaof', '127.0.0.1', String(primary.port)] });
    expect((await refusalOf(replica.url)).message).toContain('replica');
  });

  test('a part of a cluster', async ({ startRedis: start }) => {
    const server = await start({ args: ['--cluster-enabled', 'yes'] });
    expect((await refusalOf(server.url)).message).toContain('cluster');
  });

  test('one that accepts connections and never answers', async ({ startRedis: start }) => {
    const server = await start();
    server.freeze();
    expect((await refusalOf(server.url)).message).toContain('does not answer');
  });

  test('TLS where there is none', async ({ startRedis: start }) => {
    const { port } = await start();
    const refusal = await refusalOf(`rediss://127.0.0.1:${port}`);
    expect(refusal.message).toContain('does not answer');
    expect(refusal.hint).toContain('TLS');
  });
});

describe('a user with as few rights as the hint names', () => {
  const RIGHTS = '+@stream +@scripting +@connection +del +unlink +exists +pexpire +info ~squall:*';

  test('carries a whole run', async ({ startRedis: start }) => {
    const server = await start();
    await server.command('ACL', 'SETUSER', 'bus', 'on', '>let-me-in', ...RIGHTS.split(' '));
    const url = server.url.replace('//', '//bus:let-me-in@');
    const rig = await RedisRig.make({ url, disturbance: UNDISTURBED });
    const agent = new DrivingAgent(rig);
    const controller = new FoldingController(rig);
    for (let k = 0; k < 20; k++) agent.produce();
    await agent.deliverAll();
    await server.command('FLUSHALL');
    agent.produce();
    await agent.deliverAll();
    await rig.close();
    expect(controller.aggregate.counter({ metric: 'sent' })).toBe(agent.counted);
    expect(rig.notices).toEqual([]);
    expect(await server.keys()).toEqual([]);
  });

  test('is told what is missing when it has fewer', async ({ startRedis: start }) => {
    const server = await start();
    await server.command('ACL', 'SETUSER', 'bus', 'on', '>let-me-in', '+@connection', '~squall:*');
    const address = parseRedisAddress(server.url.replace('//', '//bus:let-me-in@'));
    const sender = new RedisBusSender({ address, run: 'r', agent: 'a', epoch: 1, limits: QUICK });
    const outcome: unknown = await sender.prepare().catch((error: unknown) => error);
    await sender.close();
    expect(outcome).toMatchObject({ code: 'SQ_BUS', hint: expect.stringContaining('+@stream') });
  });
});

describe('TLS', () => {
  test('carries frames where the certificate is known, and is refused where it is not', async ({
    startRedis: start,
    skip,
  }) => {
    const reason = noCertificate();
    if (reason !== null) skip(reason);
    const folder = mkdtempSync(path.join(tmpdir(), 'squall-tls-'));
    const { cert, key } = certificate(folder);
    const port = await freePort();
    const tls = ['--tls-port', String(port), '--tls-auth-clients', 'no'];
    const plain = await start({
      args: [...tls, '--tls-cert-file', cert, '--tls-key-file', key],
    });
    const url = `rediss://localhost:${port}`;
    expect((await refusalOf(url)).message).toContain('TLS handshake');
    // The list of authorities is read when a process starts, so the good case has one of its own.
    const program = path.join(folder, 'try.mjs');
    writeFileSync(program, TRY);
    const door = import.meta
      .resolve('@squall/redis-bus')
      .replace('/src/index.ts', '/dist/index.js');
    const said = execFileSync(process.execPath, [program, door, url], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: cert },
      encoding: 'utf8',
    });
    expect(said.trim()).toBe('taken up to 1');
    expect(await plain.ids('r', 'a')).toEqual(['1-1']);
    rmSync(folder, { recursive: true, force: true });
  });
});

const TRY = `
const [, , door, url] = process.argv;
const { parseRedisAddress, RedisBus, RedisBusSender } = await import(door);
const bus = await RedisBus.open({ url });
const sender = new RedisBusSender({ address: parseRedisAddress(url), run: 'r', agent: 'a', epoch: 1 });
const frame = { seqFrom: 1, seqTo: 1, bytes: new Uint8Array([1, 2, 3]) };
console.log('taken up to', await sender.send([frame]));
await sender.close();
await bus.close();
`;
