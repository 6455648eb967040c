import { once } from 'node:events';
import { createServer } from 'node:net';
import { SquallError } from '@squall/core/errors';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { AgentHub } from '../src/hub/hub.ts';
import { MAX_BAD_MESSAGES } from '../src/limits.ts';
import { silentLogger } from '../src/logger.ts';
import { systemTime } from '../src/time-source.ts';
import { FakeAgent } from './fake-agent.ts';

const open: { close(): unknown }[] = [];

afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

async function openHub(token: string | null = null, host = '127.0.0.1', port = 0) {
  const hub = await AgentHub.open({ host, port, token, time: systemTime, logger: silentLogger });
  open.push(hub);
  return { hub, url: `ws://127.0.0.1:${hub.port}` };
}

function agent(url: string, id: string, more: object = {}): FakeAgent {
  const fake = new FakeAgent({ url, id, ...more });
  open.push({ close: () => fake.kill() });
  return fake;
}

async function failure(action: Promise<unknown>): Promise<SquallError> {
  const error: unknown = await action.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (error instanceof SquallError) return error;
  throw new Error('no SquallError', { cause: error });
}

describe('listening', () => {
  it('takes a port that is in use for an error with a hint', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push({ close: () => server.close() });
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const error = await failure(openHub(null, '127.0.0.1', port));
    expect(error.code).toBe('SQ_LISTEN');
    expect(error.message).toContain('in use');
    expect(error.hint).toContain('another port');
  });

  it.each(['0.0.0.0', '::', '192.0.2.1'])(
    'does not listen on %s, which is not loopback',
    async (host) => {
      const error = await failure(openHub('secret', host));
      expect(error.code).toBe('SQ_LISTEN');
      expect(error.message).toContain('loopback only');
    },
  );

  it('names a host that cannot be resolved', async () => {
    const error = await failure(openHub(null, 'no-such-host.invalid'));
    expect(error).toMatchObject({ code: 'SQ_LISTEN' });
  });

  it('answers plain HTTP in plain words', async () => {
    const { hub } = await openHub();
    const response = await fetch(`http://127.0.0.1:${hub.port}/`);
    expect(response.status).toBe(426);
  });
});

describe('the door', () => {
  it('lets an agent in and knows its facts and its clock', async () => {
    const { hub, url } = await openHub('secret');
    const a = await agent(url, 'a', { token: 'secret' }).join();
    expect(a.received[0]).toMatchObject({ type: 'welcome', agent: 'a', heartbeatUs: 1_000_000 });
    await expect
      .poll(() => hub.session('a')?.clock)
      .toMatchObject({ offsetUs: 0, boundUs: 50, rttUs: 100 });
    expect(hub.session('a')).toMatchObject({ connected: true, run: null, idle: true });
  });

  it.each([
    ['', 'no join token was given'],
    ['Secret', 'the join token is wrong'],
    ['secret2', 'the join token is wrong'],
  ])('turns the token %j away: %s', async (token, words) => {
    const { hub, url } = await openHub('secret');
    const a = agent(url, 'a', { token });
    await a.connect();
    a.say(a.hello());
    expect(await a.next('rejected')).toMatchObject({
      code: 'token',
      message: expect.stringContaining(words),
    });
    await a.closed();
    expect(hub.sessions()).toEqual([]);
  });

  it('turns another protocol version away, even one whose hello it cannot read', async () => {
    const { url } = await openHub();
    const a = agent(url, 'a');
    await a.connect();
    a.say(a.hello({ protocol: 0 }));
    const older = await a.next('rejected');
    expect(older).toMatchObject({ code: 'protocol' });
    expect(older.message).toMatch(
      /^the agent \(Squall .+\) is older than this controller: .+ 0, not/,
    );
    const b = agent(url, 'b');
    await b.connect();
    b.sayRaw(JSON.stringify({ type: 'hello', protocol: 7, news: true }));
    const rejected = await b.next('rejected');
    expect(rejected).toMatchObject({ code: 'protocol' });
    expect(rejected.message).toContain('protocol 7');
    expect(rejected.message).toContain('of an unknown version');
    await b.closed();
  });

  it('wants hello first', async () => {
    const { url } = await openHub();
    for (const first of [
      '{}',
      'no json',
      JSON.stringify({ type: 'clock_probe', agentSentUs: 1 }),
    ]) {
      const a = agent(url, 'a');
      await a.connect();
      a.sayRaw(first);
      expect(await a.next('rejected')).toMatchObject({ code: 'protocol' });
      await a.closed();
      expect(a.received).toHaveLength(1);
    }
  });

  it('is closed to web pages', async () => {
    const { url } = await openHub();
    await expect(agent(url, 'a').connect({ origin: 'http://evil.example' })).rejects.toThrow('401');
  });

  it('gives a taken id a suffix', async () => {
    const { hub, url } = await openHub();
    await agent(url, 'a').join();
    const second = await agent(url, 'a', { host: 'elsewhere' }).join();
    const third = await agent(url, 'a').join();
    expect([second.id, third.id]).toEqual(['a-2', 'a-3']);
    expect(hub.sessions().map((session) => session.id)).toEqual(['a', 'a-2', 'a-3']);
  });

  it('forgets an idle agent with its link', async () => {
    const { hub, url } = await openHub();
    const a = await agent(url, 'a').join();
    a.kill();
    await expect.poll(() => hub.sessions()).toEqual([]);
  });

  it('knows no run to resume when there is none', async () => {
    const { url } = await openHub();
    const a = agent(url, 'a');
    await a.connect();
    a.say(a.hello({ resume: { run: 'gone', epoch: 1 } }));
    expect(await a.next('rejected')).toMatchObject({ code: 'unknown_run' });
  });
});

describe('a link', () => {
  it('answers a clock probe with the times of receiving and sending', async () => {
    const { url } = await openHub();
    const a = await agent(url, 'a').join();
    const before = systemTime.monotonicUs();
    a.say({ type: 'clock_probe', agentSentUs: before });
    const answer = await a.next('clock_answer');
    const after = systemTime.monotonicUs();
    expect(answer.agentSentUs).toBe(before);
    expect(answer.controllerReceivedUs).toBeGreaterThanOrEqual(before);
    expect(answer.controllerSentUs).toBeGreaterThanOrEqual(answer.controllerReceivedUs);
    expect(after).toBeGreaterThanOrEqual(answer.controllerSentUs);
  });

  it('is closed after too many messages that fit nothing', async () => {
    const { hub, url } = await openHub();
    const a = await agent(url, 'a').join();
    for (let i = 1; i < MAX_BAD_MESSAGES; i++) a.sayRaw(`{"type":"nonsense","i":${i}}`);
    a.say({ type: 'clock_probe', agentSentUs: 1 });
    await a.next('clock_answer');
    a.sayRaw('not even json');
    await a.closed();
    await expect.poll(() => hub.sessions()).toEqual([]);
  });

  it('hands frames on as they are', async () => {
    const { hub, url } = await openHub();
    const frames: [string, string][] = [];
    hub.onFrame((session, bytes) => frames.push([session.id, Buffer.from(bytes).toString()]));
    const a = await agent(url, 'a').join();
    a.sayBytes(Buffer.from('frame'));
    await expect.poll(() => frames).toEqual([['a', 'frame']]);
  });

  it('that says nothing does not hold the door', async () => {
    const { hub, url } = await openHub();
    const socket = new WebSocket(url);
    open.push({ close: () => socket.terminate() });
    await once(socket, 'open');
    await agent(url, 'a').join();
    expect(hub.sessions()).toHaveLength(1);
  });
});

function reservation(graceUs: number) {
  const events: string[] = [];
  return {
    events,
    held: {
      run: 'run-1',
      epoch: 1,
      graceUs,
      listener: {
        message: (_: unknown, message: { type: string }) => void events.push(message.type),
        linkDown: () => void events.push('down'),
        linkUp: () => void events.push('up'),
        silent: () => void events.push('silent'),
        lost: (_: unknown, reason: string) => void events.push(`lost: ${reason}`),
        health: () => {},
        warning: (text: string) => void events.push(text),
      },
    },
  };
}

describe('a reserved agent', () => {
  it('comes back to its run within the grace', async () => {
    const { hub, url } = await openHub();
    const a = await agent(url, 'a').join();
    const { events, held } = reservation(2_000_000);
    hub.session('a')?.reserve(held);
    a.kill();
    await expect.poll(() => events).toEqual(['down']);
    expect(hub.session('a')).toMatchObject({ connected: false, run: 'run-1' });
    await a.join({ run: 'run-1', epoch: 1 });
    await expect.poll(() => events).toEqual(['down', 'up']);
    a.say({ type: 'ready', run: 'run-1', epoch: 1 });
    a.say({ type: 'ready', run: 'run-0', epoch: 1 });
    a.say({ type: 'ready', run: 'run-1', epoch: 2 });
    a.say({ type: 'started', run: 'run-1', epoch: 1, skewUs: 1 });
    await expect.poll(() => events).toEqual(['down', 'up', 'ready', 'started']);
  });

  it('is lost when its grace has passed, not before', async () => {
    const { hub, url } = await openHub();
    const a = await agent(url, 'a').join();
    const { events, held } = reservation(300_000);
    hub.session('a')?.reserve(held);
    const cutAt = performance.now();
    a.kill();
    await expect.poll(() => events.at(-1)).toContain('lost: its link was cut');
    expect(performance.now() - cutAt).toBeGreaterThan(295);
    expect(hub.session('a')).toBeUndefined();
  });

  it('that is silent is lost after the grace though its link stands', async () => {
    const { hub, url } = await openHub();
    const a = await agent(url, 'a').join();
    const { events, held } = reservation(400_000);
    hub.session('a')?.reserve(held);
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(events).toEqual([]);
    a.fallSilent();
    // The watch was armed for the grace of an idle agent or for a warning, whichever came first.
    await expect.poll(() => events.at(-1), { timeout: 8_000 }).toContain('lost: it was silent');
    await a.closed();
  }, 10_000);

  it('whose process was started again is lost at once, and its id is free', async () => {
    const { hub, url } = await openHub();
    const a = await agent(url, 'a').join();
    const { events, held } = reservation(60_000_000);
    hub.session('a')?.reserve(held);
    a.kill();
    await expect.poll(() => events).toEqual(['down']);
    const again = await agent(url, 'a').join();
    expect(again.id).toBe('a');
    expect(events).toEqual(['down', 'lost: it was started again']);
  });
});
