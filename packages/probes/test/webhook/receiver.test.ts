import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type HookOptions, HookReceiver } from '@squall/probes/webhook';
import { DOMAIN, nowUs, stamped, stampedText } from './stamped.ts';

const open: HookReceiver[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((hook) => hook.close()));
});

async function start(options: Partial<HookOptions> = {}): Promise<HookReceiver> {
  const hook = await HookReceiver.open({
    host: '127.0.0.1',
    port: 0,
    clockDomain: DOMAIN,
    ...options,
  });
  open.push(hook);
  return hook;
}

async function post(hook: HookReceiver, body: string | Uint8Array): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${hook.port}/any/path`, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  await answer.arrayBuffer();
  return answer.status;
}

const page = (hook: HookReceiver, path: string) => fetch(`http://127.0.0.1:${hook.port}${path}`);
const base64 = (seq: number) => stamped({ seq }).toString('base64');

describe('bodies that hold a message', () => {
  const BODIES: readonly (readonly [string, () => string | Uint8Array])[] = [
    ['the payload itself', () => stamped({ seq: 0 })],
    ['a payload that is text', () => stampedText({ seq: 0 })],
    ['its base64', () => base64(0)],
    ['its base64 without a rest', () => stamped({ seq: 0, rest: '' }).toString('base64')],
    ['base64 in JSON', () => JSON.stringify({ topic: 't', payload: base64(0) })],
    ['text in JSON', () => JSON.stringify({ topic: 't', payload: stampedText({ seq: 0 }) })],
    [
      'text in JSON, in base64',
      () => JSON.stringify({ payload: Buffer.from(stampedText({ seq: 0 })).toString('base64') }),
    ],
    [
      'JSON in JSON',
      () => JSON.stringify({ payload: JSON.parse(stampedText({ seq: 0 })) as unknown }),
    ],
    ['an array', () => JSON.stringify([{ payload: base64(0) }])],
    ['a payload of several', () => JSON.stringify({ payload: [base64(0)] })],
  ];

  test.each(BODIES)('%s', async (_what, body) => {
    const hook = await start();
    expect(await post(hook, body())).toBe(200);
    expect(hook.stats()).toMatchObject({
      requests: 1,
      messages: 1,
      unique: 1,
      lost: 0,
      corrupted: 0,
      foreign: 0,
      badBodies: {},
      hookLatency: { count: 1 },
    });
  });

  test('a batch is as many messages as are in it', async () => {
    const hook = await start();
    const batch = [0, 1, 1, 4].map((seq) => ({ topic: 't', payload: base64(seq) }));
    await post(hook, JSON.stringify(batch));
    expect(hook.stats()).toMatchObject({ messages: 4, unique: 3, duplicated: 1, lost: 2 });
    await post(hook, JSON.stringify(batch));
    expect(hook.stats()).toMatchObject({ messages: 8, unique: 3, duplicated: 5, lost: 2 });
    await post(hook, base64(2));
    expect(hook.stats()).toMatchObject({ unique: 4, lost: 1 });
  });
});

describe('what is counted', () => {
  test('messages without a stamp are foreign, damaged ones of a known run corrupted', async () => {
    const hook = await start();
    const damaged = stamped({ seq: 1 });
    damaged[41] = 0;
    for (const body of [stamped({ seq: 0 }), 'hello', '{"payload":"hello"}', damaged]) {
      await post(hook, body);
    }
    expect(hook.stats()).toMatchObject({ messages: 4, unique: 1, corrupted: 1, foreign: 2 });
  });

  test('one run counts for itself', async () => {
    const hook = await start();
    for (const run of ['run-1', 'run-2', 'run-2']) await post(hook, stamped({ run, seq: 0 }));
    expect(hook.stats()).toMatchObject({ messages: 3, unique: 2, duplicated: 1, foreign: 0 });
    expect(hook.stats('run-2')).toMatchObject({ unique: 1, duplicated: 1, foreign: 1 });
    expect(hook.stats('run-3')).toMatchObject({ unique: 0, foreign: 3 });
    const stats = (await (await page(hook, '/stats?run=run-1')).json()) as object;
    expect(stats).toMatchObject(JSON.parse(JSON.stringify(hook.stats('run-1'))) as object);
  });

  test('a hook of one run has no place for others', async () => {
    const hook = await start({ run: 'run-1' });
    for (const run of ['run-1', 'run-2']) await post(hook, stamped({ run, seq: 0 }));
    expect(hook.stats()).toMatchObject({ unique: 1, foreign: 1 });
  });

  test('runs beyond the sixteenth are foreign', async () => {
    const hook = await start();
    const runs = Array.from({ length: 17 }, (_, run) =>
      stamped({ run: `${run}`, seq: 0 }).toString('base64'),
    );
    await post(hook, JSON.stringify(runs));
    expect(hook.stats()).toMatchObject({ messages: 17, unique: 16, foreign: 1 });
  });

  test('bodies without a message, by reason', async () => {
    const hook = await start({ bodyLimit: 100 });
    expect(await post(hook, '')).toBe(200);
    expect(await post(hook, '{"payload":')).toBe(200);
    expect(await post(hook, '[]')).toBe(200);
    expect(await post(hook, 'x'.repeat(101))).toBe(413);
    await new Promise<void>((resolve) => {
      const socket = connect(hook.port, '127.0.0.1', () => {
        socket.write('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\nabc', () => {
          socket.destroy();
          resolve();
        });
      });
    });
    await expect
      .poll(() => hook.stats().badBodies)
      .toEqual({
        empty: 2,
        'not JSON': 1,
        'too large': 1,
        'cut off': 1,
      });
    expect(hook.stats()).toMatchObject({ requests: 5, messages: 0 });
  });

  test('JSON that is too deep is one foreign message', async () => {
    const hook = await start();
    await post(hook, `${'['.repeat(5_000)}${']'.repeat(5_000)}`);
    expect(hook.stats()).toMatchObject({ messages: 1, foreign: 1 });
  });
});

describe('times', () => {
  test('are from the due moment to the arrival', async () => {
    const hook = await start();
    await post(hook, stamped({ seq: 0, dueUs: nowUs() - 2_000_000 }));
    const { count, minUs, p50Us, boundUs } = hook.stats().hookLatency;
    expect({ count, boundUs }).toEqual({ count: 1, boundUs: 0 });
    expect(minUs).toBeGreaterThanOrEqual(2_000_000);
    expect(p50Us).toBe(minUs);
  });

  test('of another clock are converted with their bound; of unknown ones there are none', async () => {
    const hook = await start();
    const other = { domain: 'boot-2 time:[1]', dueUs: nowUs() - 1_000_000 + 5e9 };
    await post(hook, stamped({ seq: 0, ...other }));
    expect(hook.stats()).toMatchObject({ unique: 1, untimed: 1, hookLatency: { count: 0 } });
    const bytes = stamped({ seq: 1, ...other });
    hook.see([{ domain: bytes.readUInt16BE(34), offsetUs: -5e9, boundUs: 300 }]);
    await post(hook, bytes);
    const { count, minUs, boundUs } = hook.stats().hookLatency;
    expect(count).toBe(1);
    expect(minUs).toBeGreaterThanOrEqual(1_000_000);
    expect(boundUs).toBeGreaterThan(300);
  });
});

describe('answers', () => {
  test('have the status that was asked for', async () => {
    const hook = await start({ status: 204 });
    expect(await post(hook, stamped({ seq: 0 }))).toBe(204);
  });

  test('are held back', async () => {
    const hook = await start({ delayUs: 50_000 });
    const before = performance.now();
    await post(hook, stamped({ seq: 0 }));
    expect(performance.now() - before).toBeGreaterThan(45);
  });

  test('that nobody waits for any more harm nobody', async () => {
    const hook = await start({ delayUs: 100_000 });
    await new Promise<void>((resolve) => {
      const socket = connect(hook.port, '127.0.0.1', () => {
        socket.write('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx');
      });
      const timer = setInterval(() => {
        if (hook.stats().requests === 0) return;
        clearInterval(timer);
        socket.destroy();
        resolve();
      }, 5);
    });
    expect(await post(hook, stamped({ seq: 0 }))).toBe(200);
    expect(hook.stats()).toMatchObject({ requests: 2, foreign: 1, unique: 1 });
  });

  test('are errors for the share that was asked for, and nothing of those is counted', async () => {
    const hook = await start({ errorShare: 0.25 });
    const statuses: number[] = [];
    for (let seq = 0; seq < 8; seq++) statuses.push(await post(hook, stamped({ seq })));
    expect(statuses).toEqual([200, 200, 200, 503, 200, 200, 200, 503]);
    expect(hook.stats()).toMatchObject({ requests: 6, refused: 2, unique: 6, lost: 1 });
    // What a rule engine sends again arrives.
    await post(hook, stamped({ seq: 3 }));
    expect(hook.stats()).toMatchObject({ unique: 7, lost: 0 });
  });
});

describe('its own pages', () => {
  test('tell Prometheus what came', async () => {
    const hook = await start();
    await post(hook, stamped({ seq: 1 }));
    await post(hook, '{');
    const text = await (await page(hook, '/metrics')).text();
    expect(text).toContain('\nsquall_hook_requests_total 2\n');
    expect(text).toContain('\nsquall_hook_bad_bodies_total{reason="not JSON"} 1\n');
    expect(text).toContain('\nsquall_hook_lost 1\n');
    expect(text).toContain('\nsquall_hook_latency_seconds_bucket{le="60"} 1\n');
    expect(text).toContain('\nsquall_hook_latency_seconds_bucket{le="+Inf"} 1\n');
    expect(text).toContain('\nsquall_hook_latency_seconds_count 1\n');
  });

  test('are what Prometheus finds no fault with', async ({ skip }) => {
    const hook = await start();
    await post(hook, stamped({ seq: 0 }));
    const input = await (await page(hook, '/metrics')).text();
    const check = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    if (check.error !== undefined) skip('promtool is not on PATH (apt-get install prometheus)');
    expect(check.stdout + check.stderr).toBe('');
    expect(check.status).toBe(0);
  });

  test('are /stats, /metrics and /healthz; nothing else is there to be got', async () => {
    const hook = await start();
    const statuses = await Promise.all(
      ['/healthz', '/stats', '/metrics', '/', '/x'].map(async (path) => {
        const answer = await page(hook, path);
        await answer.text();
        return answer.status;
      }),
    );
    expect(statuses).toEqual([200, 200, 200, 404, 404]);
    const deleted = await fetch(`http://127.0.0.1:${hook.port}/`, { method: 'DELETE' });
    expect(deleted.status).toBe(405);
    expect(hook.stats().requests).toBe(0);
  });
});

test('a port that somebody has is named', async () => {
  const { port } = await start();
  await expect(start({ port })).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`);
});
