import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openProbe, type Probe, ProbeError } from '@squall/probes';
import { beforeEach, describe, expect, test as plain } from 'vitest';
import { mariadbMissing } from '../fixtures/mariadb.ts';
import { Postgres, postgresMissing } from '../fixtures/postgres.ts';
import { freePort, until } from '../fixtures/process.ts';
import { sinksTest as test } from '../fixtures/sinks-test.ts';

type Source = Parameters<typeof openProbe>[0];
/** These probes need nothing of the run. */
const NO_RUN = {} as Parameters<typeof openProbe>[1];
const open = (source: Source): Probe => openProbe(source, NO_RUN);

const SLOW = 'SELECT BENCHMARK(100000000000, SHA2("x", 512))';

async function read(probe: Probe, ms = 10_000): Promise<Record<string, number>> {
  const reading = await probe.read(AbortSignal.timeout(ms));
  return Object.fromEntries([...reading].map(([name, { value }]) => [name, value]));
}

/** What a reading that fails is counted as, and what it says. */
async function failure(probe: Probe, ms?: number): Promise<ProbeError> {
  try {
    throw new Error(`it was read: ${JSON.stringify(await read(probe, ms))}`);
  } catch (error) {
    if (error instanceof ProbeError) return error;
    throw error;
  } finally {
    await probe.close();
  }
}

describe.concurrent('a probe of MariaDB', { timeout: 60_000 }, () => {
  const missing = mariadbMissing();
  beforeEach(({ skip }) => {
    if (missing !== null) skip(missing);
  });

  test('counts rows over one connection, which cannot write', async ({ database }) => {
    const root = await database.connect();
    await root.query('CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2), (3)');
    const probe = open({ type: 'mysql', url: database.url, query: 'SELECT COUNT(*) FROM t' });
    expect(await read(probe)).toEqual({ value: 3 });
    await root.query('INSERT INTO t VALUES (4)');
    expect(await read(probe)).toEqual({ value: 4 });
    const [seen] = await root.query(
      'SELECT COUNT(*) AS n FROM information_schema.processlist WHERE user = "squall" AND db = DATABASE()',
    );
    expect(seen).toEqual([{ n: 1 }]);
    await probe.close();
    await root.end();
  });

  test('tells what is wrong by a reason of its own, without the password', async ({ database }) => {
    const withQuery = (query: string, url = database.url) => open({ type: 'mysql', url, query });
    const wrong = database.url.replace(encodeURIComponent(database.password), 'wrong-secret');
    const denied = await failure(withQuery('SELECT 1', wrong));
    expect(denied.reason).toBe('ER_ACCESS_DENIED_ERROR');
    expect(denied.message).not.toContain('wrong-secret');
    expect((await failure(withQuery('SELECT COUNT(*) FROM nowhere'))).reason).toBe(
      'ER_NO_SUCH_TABLE',
    );
    expect((await failure(withQuery('SELECT 1 UNION SELECT 2'))).reason).toBe('not one number');
    expect((await failure(withQuery('SELECT "x"'))).reason).toBe('not a number');
    // TLS that was asked for is never left out in silence.
    const plainly = await failure(withQuery('SELECT 1', `${database.url}?tls=true`));
    expect(plainly.reason).toBe('HANDSHAKE_NO_SSL_SUPPORT');
    // A million rows are not read to find out that they are no count.
    const rows = 'SELECT seq FROM seq_1_to_1000000000';
    expect((await failure(withQuery(rows))).reason).toBe('not one number');
    expect((await failure(withQuery('SELECT 1 LIMIT 1) x; (SELECT 2'))).reason).toBe(
      'ER_PARSE_ERROR',
    );
    const long = `SELECT COUNT(*) + ${Array.from({ length: 60 }, () => '(1)').join(' + ')}`;
    expect(await read(withQuery(long))).toEqual({ value: 61 });
    const gone = `mysql://squall@127.0.0.1:${await freePort()}/x`;
    expect((await failure(withQuery('SELECT 1', gone))).reason).toBe('connection refused');
  });

  test('a query that takes too long is cut, and the next reading has a new connection', async ({
    database,
  }) => {
    expect(
      (await failure(open({ type: 'mysql', url: database.url, query: SLOW }), 500)).reason,
    ).toBe('timed out');
    const probe = open({ type: 'mysql', url: database.url, query: 'SELECT 7' });
    expect(await read(probe)).toEqual({ value: 7 });
    await probe.close();
    // Nor does the server go on with it.
    const root = await database.connect();
    await until('the query is gone', async () => {
      const [rows] = await root.query(
        "SELECT 1 FROM information_schema.processlist WHERE user = 'squall' AND info LIKE '%BENCHMARK%' AND db = DATABASE()",
      );
      return Array.isArray(rows) && rows.length === 0;
    });
    await root.end();
  });
});

describe('a probe of PostgreSQL', { timeout: 60_000 }, () => {
  const missing = postgresMissing();

  plain('counts rows, cannot write, and ends what takes too long', async ({ skip }) => {
    if (missing !== null) skip(missing);
    const server = await Postgres.start();
    const root = server.connect();
    const asking = (query: string, url = server.url) => open({ type: 'postgres', url, query });
    try {
      await root`CREATE TABLE t (a INT)`;
      await root`INSERT INTO t SELECT generate_series(1, 5)`;
      const probe = asking('SELECT COUNT(*) FROM t;');
      expect(await read(probe)).toEqual({ value: 5 });
      await root`INSERT INTO t VALUES (6)`;
      expect(await read(probe)).toEqual({ value: 6 });
      const [seen] = await root`SELECT COUNT(*)::int AS n FROM pg_stat_activity
        WHERE application_name = 'squall'`;
      expect(seen).toEqual({ n: 1 });
      await probe.close();

      expect((await failure(asking('SELECT a FROM t'))).reason).toBe('not one number');
      expect((await failure(asking("SELECT 'x'"))).reason).toBe('not a number');
      expect((await failure(asking('SELECT COUNT(*) FROM nowhere'))).reason).toBe('42P01');
      // To this server the backslash quotes nothing: what follows is a statement of its own.
      const smuggled = asking(String.raw`SELECT '\'; DROP TABLE t; SELECT '`);
      expect((await failure(smuggled)).reason).toBe('42601');
      expect((await failure(asking("SELECT nextval('s')"))).reason).toBe('42P01');
      await root`CREATE SEQUENCE s`;
      expect((await failure(asking("SELECT nextval('s')"))).reason).toBe('25006');

      expect((await failure(asking('SELECT 1 FROM pg_sleep(60)'), 500)).reason).toBe('timed out');
      await until('the query is gone', async () => {
        const rows = await root`SELECT 1 FROM pg_stat_activity
          WHERE application_name = 'squall' AND state = 'active'`;
        return rows.length === 0;
      });
      const secured = `${server.url}?sslmode=verify-full`;
      expect((await failure(asking('SELECT 1', secured))).reason).toBe('connection lost');
      const gone = `postgres://squall@127.0.0.1:${await freePort()}/x`;
      expect((await failure(asking('SELECT 1', gone))).reason).toBe('connection refused');
    } finally {
      await root.end({ timeout: 0 });
      await server.dispose();
    }
  });
});

describe('a probe of Nginx', () => {
  test('takes its own readings out of the count', async ({ hook }) => {
    const probe = open({ type: 'nginx', url: hook.status });
    const before = await read(probe);
    for (let n = 0; n < 25; n++) await fetch(hook.hook, { method: 'POST', body: 'x' });
    await read(probe);
    const after = await read(probe);
    expect((after['requests'] ?? 0) - (before['requests'] ?? 0)).toBe(25);
    expect(after['accepted']).toBeGreaterThan(0);
    const other = open({ type: 'nginx', url: hook.hook });
    expect((await failure(other)).reason).toBe('not a page of stub_status');
  });
});

plain('a reading that never reached the web server is none of its requests', async () => {
  const page =
    'Active connections: 1 \nserver accepts handled requests\n 7 7 10 \nReading: 0 Writing: 1 Waiting: 0 \n';
  const port = await freePort();
  const probe = open({ type: 'nginx', url: `http://127.0.0.1:${port}/` });
  const refused = probe.read(AbortSignal.timeout(5_000));
  await expect(refused).rejects.toMatchObject({ reason: 'connection refused' });
  const server = createServer((_request, response) => response.end(page));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  try {
    expect(await read(probe)).toMatchObject({ requests: 9, active: 0, writing: 0 });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

describe('a probe of a JSON answer', () => {
  plain('takes the numbers at its pointers', async () => {
    const answer = JSON.stringify({ stats: [{ queued: 12, 'a/b': '34' }] });
    await serving(
      (_request, response) => response.end(answer),
      async (url) => {
        const values = { queued: '/stats/0/queued', slashed: '/stats/0/a~1b' };
        const probe = open({ type: 'http', url, headers: {}, values, counters: ['slashed'] });
        expect(await read(probe)).toEqual({ queued: 12, slashed: 34 });
        const reading = await probe.read(AbortSignal.timeout(5_000));
        expect(reading.get('slashed')?.kind).toBe('counter');
      },
    );
  });

  const faults: readonly (readonly [name: string, answer: RequestListener, reason: string])[] = [
    ['HTML', (_, response) => response.end('<html>'), 'not JSON'],
    ['another shape', (_, response) => response.end('{"b":1}'), 'no such value'],
    ['text in the place of a number', (_, response) => response.end('{"a":"x"}'), 'not a number'],
    ['a refusal', (_, response) => response.writeHead(401).end(), 'HTTP 401'],
    ['a line that breaks', (_, response) => response.destroy(), 'connection lost'],
    ['silence', () => undefined, 'timed out'],
    [
      'an answer of 100 MB',
      (_, response) => {
        const block = Buffer.alloc(1024 * 1024, ' ');
        let left = 100;
        const more = (): void => {
          while (left-- > 0) if (!response.write(block)) return void response.once('drain', more);
          response.end();
        };
        more();
      },
      'answer too large',
    ],
  ];

  plain.each(faults)('%s', async (_name, answer, reason) => {
    await serving(answer, async (url) => {
      const probe = open({ type: 'http', url, headers: {}, values: { a: '/a' }, counters: [] });
      expect((await failure(probe, 1_000)).reason).toBe(reason);
    });
  });
});

async function serving(
  answer: RequestListener,
  act: (url: string) => Promise<void>,
): Promise<void> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await act(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
