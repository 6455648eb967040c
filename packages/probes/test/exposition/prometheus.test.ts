import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_EXPOSITION_LINES } from '../../src/exposition/lines.ts';
import { type Probe, ProbeError } from '../../src/index.ts';
import { PageServer } from '../page-server.ts';
import { failureOf, open, valuesOf } from '../reading.ts';

let server: PageServer;
beforeEach(async () => {
  server = await PageServer.start();
});
afterEach(() => server.stop());

function probeOf(series: Record<string, string>, counters: string[] = []): Probe {
  const source = { type: 'prometheus', headers: {}, preset: null, series, counters } as const;
  return open({ ...source, url: server.url() });
}

describe('an exposition', () => {
  test('what fits a selector is summed, whatever order its labels have', async () => {
    server.says(
      [
        '# HELP http_requests_total Requests.',
        '# TYPE http_requests_total counter',
        'http_requests_total{code="200",method="GET"} 1.5e3 1795000000000',
        'http_requests_total{method="POST", code="200",} 20',
        'http_requests_total{code="500",method="GET"} 3',
        'queued 7',
        'tricky{text="a \\"quoted\\" } brace, and \\\\"} 4',
        '',
      ].join('\n'),
    );
    const probe = probeOf({
      ok: 'http_requests_total{code="200"}',
      not_get: 'http_requests_total{method!="GET"}',
      all: 'http_requests_total',
      queued: 'queued',
      tricky: 'tricky{text="a \\"quoted\\" } brace, and \\\\"}',
    });
    const values = { ok: 1520, not_get: 20, all: 1523, queued: 7, tricky: 4 };
    expect(await valuesOf(probe)).toEqual(values);
  });

  test('OpenMetrics: exemplars, units and the end are passed over', async () => {
    server.says(
      [
        '# TYPE jobs counter',
        '# UNIT jobs jobs',
        'jobs_total 17.0 1.5 # {trace_id="KOO5S4vxi0o"} 0.67',
        'jobs_created 1.6e9',
        '# EOF',
      ].join('\n'),
    );
    expect(await valuesOf(probeOf({ jobs: 'jobs_total' }))).toEqual({ jobs: 17 });
  });

  test('NaN and infinities never become figures, and spoil the sum that they are in', async () => {
    server.says('a{n="1"} 5\na{n="2"} NaN\nb +Inf\nc 3\n');
    expect(await valuesOf(probeOf({ a: 'a', b: 'b', c: 'c' }))).toEqual({ c: 3 });
    const probe = probeOf({ a: 'a', b: 'b' });
    expect(await valuesOf(probe)).toEqual({});
    expect(await failureOf(probe)).toMatchObject({ reason: 'no number' });
  });

  test('a counter that has no series yet stands at 0 as soon as its family is on the page', async () => {
    server.says('# TYPE hits_total counter\nother 1\n');
    const probe = probeOf({ hits: 'hits_total{code="200"}', other: 'other', typo: 'hitz_total' });
    expect(await valuesOf(probe)).toEqual({ hits: 0, other: 1 });
    server.says('# TYPE hits_total counter\nhits_total{code="200"} 5\nother 1\n');
    expect(await valuesOf(probe)).toEqual({ hits: 5, other: 1 });
  });

  test('one of several series that began again makes the sum begin again, too', async () => {
    const probe = probeOf({ n: 'n_total' });
    server.says('n_total{node="a"} 1000\nn_total{node="b"} 1000\n');
    expect(await valuesOf(probe)).toEqual({ n: 2000 });
    // Of the bare sum, 2500, nobody could tell.
    server.says('n_total{node="a"} 2490\nn_total{node="b"} 10\n');
    expect(await valuesOf(probe)).toEqual({ n: 1500 });
    // One that is not told for a while has not lost what it counted.
    server.says('n_total{node="a"} 2500\n');
    expect(await valuesOf(probe)).toEqual({ n: 1510 });
    server.says('n_total{node="a"} 2500\nn_total{node="b"} 15\n');
    expect(await valuesOf(probe)).toEqual({ n: 1515 });
  });

  test('rate(…) is the growth a second, from the second page on, whoever began again', async () => {
    const probe = probeOf({ pace: 'rate(n_total)', n: 'n_total' });
    server.says('n_total 1000000\n');
    expect(await valuesOf(probe)).toEqual({ n: 1_000_000 });
    server.says('n_total 50\n');
    const { pace = 0 } = await valuesOf(probe);
    expect(pace).toBeGreaterThan(0);
    // Fifty were counted since, within less than a minute and more than 1 µs.
    expect(pace).toBeLessThan(50e6);
    expect(pace).toBeGreaterThan(50 / 60);
  });

  test.for([
    [
      'a page for people',
      '<!doctype html>\n<html><body>Log in 1</body></html>',
      'not an exposition',
    ],
    ['JSON', '{"requests": 5}', 'not an exposition'],
    ['nothing', '', 'not an exposition'],
    ['other series', 'b 1\n', 'no such series'],
    ['a line without end', `a ${'x'.repeat(200_000)}`, 'not an exposition'],
  ] as const)('%s is refused by its name', async ([, page, reason]) => {
    server.says(page);
    expect(await failureOf(probeOf({ a: 'a' }))).toMatchObject({ reason });
  });

  test('millions of lines are cut at a limit, without holding them', async () => {
    let sent = 0;
    server.answer = (_request, response) => {
      const part = Array.from({ length: 1_000 }, (_, k) => `series{k="${k}"} ${k}\n`).join('');
      const more = (): void => {
        while (!response.destroyed && sent < 5_000) {
          sent += 1;
          if (!response.write(part)) {
            response.once('drain', more);
            return;
          }
        }
        response.end();
      };
      more();
    };
    const failure = await failureOf(probeOf({ a: 'a' }));
    expect(failure.reason).toBe('exposition too long');
    expect(failure.message).toContain(String(MAX_EXPOSITION_LINES));
    // The rest was not fetched, but for what was on its way.
    expect(sent).toBeLessThan(4_000);
  });

  test('a password that is refused is named, and not shown', async () => {
    server.answer = (_request, response) => {
      response.statusCode = 401;
      response.end();
    };
    const source = { type: 'prometheus', headers: {}, preset: null, counters: [] } as const;
    const url = server.url('/metrics', 'me:hunter2');
    const failure = await failureOf(open({ ...source, url, series: { a: 'a' } }));
    expect(failure.reason).toBe('HTTP 401');
    expect(failure.message).not.toContain('hunter2');
  });

  test('a server that does not answer is let go when the reading is called off', async () => {
    server.answer = () => undefined;
    const call = new AbortController();
    const reading = probeOf({ a: 'a' }).read(call.signal);
    call.abort();
    await expect(reading).rejects.toBeInstanceOf(ProbeError);
  });

  test('a server that is down, and one that is up again', async () => {
    server.says('a 1\n');
    const probe = probeOf({ a: 'a' });
    expect(await valuesOf(probe)).toEqual({ a: 1 });
    server.answer = (_request, response) => response.destroy();
    expect(await failureOf(probe)).toMatchObject({ reason: 'connection lost' });
    server.says('a 2\n');
    expect(await valuesOf(probe)).toEqual({ a: 2 });
  });
});
