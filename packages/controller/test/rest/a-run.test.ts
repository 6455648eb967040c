import { checkReport, type Report } from '@squall/core/report';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  agents,
  ledger,
  metrics,
  report,
  run,
  runAgents,
  thresholds,
} from '../../src/rest/schemas.ts';
import { LONG_PLAN, PLAN, RestScene } from './rest-fixture.ts';
import { parseEvents } from './sse.ts';

describe('a run from its beginning to its report', () => {
  let scene: RestScene;
  let id: string;
  beforeAll(async () => {
    scene = await RestScene.open({ agents: [{ perSlice: 10 }] });
    id = await scene.run({ text: PLAN, labels: { team: 'mine' } });
    await scene.over(id);
  });
  afterAll(() => scene.close());

  it('has a verdict and its moments', async () => {
    const body = run.parse((await scene.get(`/v1/runs/${id}`)).json());
    expect(body).toMatchObject({ state: 'done', verdict: 'pass', validity: 'valid', exitCode: 0 });
    expect(body.stage).toBeNull();
    const moments = [body.submittedAt, body.startedAt, body.endedAt].map(String);
    expect(moments).toEqual(moments.toSorted());
  });

  it('has a report that keeps the laws of every report', async () => {
    const response = await scene.get(`/v1/runs/${id}/report`);
    expect(response.headers['content-type']).toContain('application/json');
    const body: Report = report.parse(response.json());
    expect(checkReport(body)).toEqual([]);
    expect(body.run).toMatchObject({ id, labels: { team: 'mine' } });
  });

  it('has it as JUnit, too', async () => {
    const response = await scene.get(`/v1/runs/${id}/junit`);
    expect(response.headers['content-type']).toContain('application/xml');
    expect(response.body).toContain('<testsuite');
    expect(response.body).toContain('acked: count');
  });

  it.each([
    ['html', 'text/html', '<!DOCTYPE html>'],
    ['csv', 'text/csv', 'time,elapsed_s,stage'],
    ['hlog', 'text/plain', '#[Histogram log format version 1.3]'],
    ['md', 'text/markdown', 'validity **valid**'],
    ['junit', 'application/xml', '<testsuite'],
    ['json', 'application/json', '"schema"'],
  ])('has it as %s when asked for', async (format, type, words) => {
    const response = await scene.get(`/v1/runs/${id}/report?format=${format}`);
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toContain(type);
    expect(response.body).toContain(words);
  });

  it('has it as a page for a browser, which may run no script but its own', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const response = await scene.get(`/v1/runs/${id}/report`, { accept });
    expect(response.headers['content-type']).toContain('text/html');
    expect(response.headers['content-security-policy']).toContain("default-src 'none'");
    expect(response.headers).toMatchObject({ vary: 'accept', 'x-content-type-options': 'nosniff' });
    const program = await scene.get(`/v1/runs/${id}/report`, {
      accept: 'application/json, text/html',
    });
    expect(program.headers['content-type']).toContain('application/json');
  });

  it('refuses a form that there is not, and names those that there are', async () => {
    const response = await scene.get(`/v1/runs/${id}/report?format=pdf`);
    expect(response.json()).toMatchObject({ status: 400, code: 'SQ_REQUEST' });
    expect(response.body).toContain('hlog');
  });

  it('has its thresholds, ledger and agents', async () => {
    const judged = thresholds.parse((await scene.get(`/v1/runs/${id}/thresholds`)).json());
    expect(judged).toMatchObject({ final: true, thresholds: [{ state: 'pass' }] });
    expect(ledger.parse((await scene.get(`/v1/runs/${id}/ledger`)).json()).final).toBe(true);
    const { agents: own } = runAgents.parse((await scene.get(`/v1/runs/${id}/agents`)).json());
    expect(own).toMatchObject([{ id: 'agent-1', state: 'done', framesMissing: 0, reason: null }]);
  });

  it('has its time line, which sums up to its report', async () => {
    const body = metrics.parse((await scene.get(`/v1/runs/${id}/metrics`)).json());
    expect(body).toMatchObject({ final: true, fromUs: 0, stepUs: 1_000_000 });
    expect(body.stages).toMatchObject([{ name: 'publish', fromUs: 0 }]);
    const { groups } = report.parse((await scene.get(`/v1/runs/${id}/report`)).json());
    const acked = body.series.find(({ metric }) => metric === 'acked');
    const counts = acked?.kind === 'counter' ? acked.count : [];
    const sum = counts.reduce<number>((total, count) => total + (count ?? 0), 0);
    expect(Math.round(sum)).toBe(groups['devices']?.counters['acked']);
    expect(sum).toBeGreaterThan(0);
  });

  it.each([
    ['metric=acked', ['acked']],
    ['metric=acked&metric=sent', ['acked', 'sent']],
    ['metric=acked&subject=devices', ['acked']],
    ['metric=acked&subject=other', []],
  ])('has the curves of %s', async (query, names) => {
    const body = metrics.parse((await scene.get(`/v1/runs/${id}/metrics?${query}`)).json());
    expect(body.series.map(({ metric }) => metric)).toEqual(names);
  });

  it('has any window of it, at any step', async () => {
    const whole = metrics.parse((await scene.get(`/v1/runs/${id}/metrics`)).json());
    const seconds = Math.floor(whole.toUs / 1_000_000);
    const part = metrics.parse(
      (await scene.get(`/v1/runs/${id}/metrics?from=1s&to=2s&metric=acked`)).json(),
    );
    expect(part).toMatchObject({ fromUs: 1_000_000, toUs: 2_000_000 });
    expect(part.series[0]).toMatchObject({ kind: 'counter' });
    const step = metrics.parse((await scene.get(`/v1/runs/${id}/metrics?step=1m`)).json());
    expect(step).toMatchObject({ fromUs: 0, stepUs: 60_000_000, toUs: seconds * 1_000_000 });
    const { startedAt } = run.parse((await scene.get(`/v1/runs/${id}`)).json());
    const from = encodeURIComponent(String(startedAt));
    const moment = metrics.parse((await scene.get(`/v1/runs/${id}/metrics?from=${from}`)).json());
    expect(moment.fromUs).toBe(0);
    const empty = metrics.parse((await scene.get(`/v1/runs/${id}/metrics?from=1h`)).json());
    expect(empty.toUs).toBe(empty.fromUs);
  });

  it.each([
    'from=yesterday',
    'to=10',
    'from=2026-13-45T00:00:00Z',
    'step=0s',
    'step=1500ms',
    'step=x',
    'metric=nothing',
  ])('refuses %s', async (query) => {
    const response = await scene.get(`/v1/runs/${id}/metrics?${query}`);
    expect(response.json()).toMatchObject({ status: 400, code: 'SQ_REQUEST' });
  });

  it('tells what happened in it again', async () => {
    const response = await scene.get(`/v1/runs/${id}/events`);
    expect(response.headers['content-type']).toContain('text/event-stream');
    const events = parseEvents(response.body);
    const types = events.map(({ type }) => type);
    expect(types).toContain('progress');
    expect(types).toContain('stage');
    expect(types.at(-1)).toBe('done');
    const states = events
      .filter(({ type }) => type === 'state')
      .map(({ data }) => (JSON.parse(data) as { state: string }).state);
    expect(states).toEqual([
      'waiting',
      'assigning',
      'starting',
      'running',
      'settling',
      'collecting',
    ]);
    expect(JSON.parse(events.at(-1)?.data ?? '')).toMatchObject({ verdict: 'pass', exitCode: 0 });
  });

  it('tells from any event on what came after it, and nothing more at the end', async () => {
    const all = parseEvents((await scene.get(`/v1/runs/${id}/events`)).body);
    for (const [place, { id: last }] of all.entries()) {
      const response = await scene.get(`/v1/runs/${id}/events`, { 'last-event-id': last });
      const rest = parseEvents(response.body);
      expect(rest).toEqual(all.slice(place + 1));
    }
    const end = { 'last-event-id': all.at(-1)?.id ?? '' };
    expect((await scene.get(`/v1/runs/${id}/events`, end)).statusCode).toBe(204);
  });

  it.each(['other-1', 'nonsense', '-', '99999999999999999999'])(
    'says to a reader with the id %s that it may have missed something',
    async (last) => {
      const response = await scene.get(`/v1/runs/${id}/events`, { 'last-event-id': last });
      const types = parseEvents(response.body).map(({ type }) => type);
      expect(types[0]).toBe('missed');
      expect(types.at(-1)).toBe('done');
    },
  );
});

describe('a run that goes on', () => {
  let scene: RestScene;
  let id: string;
  beforeAll(async () => {
    scene = await RestScene.open({ agents: [{ perSlice: 10 }] });
    id = await scene.run({ text: LONG_PLAN });
    for (let toUs = 0; toUs < 2_000_000; ) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      toUs = metrics.parse((await scene.get(`/v1/runs/${id}/metrics`)).json()).toUs;
    }
  }, 20_000);
  afterAll(() => scene.close());

  it('shows where it is', async () => {
    const body = run.parse((await scene.get(`/v1/runs/${id}`)).json());
    expect(body).toMatchObject({ state: 'running', stage: 'publish', verdict: null });
    expect(body.startedAt).not.toBeNull();
  });

  it('shows its figures up to the last second that everybody has reported', async () => {
    const body = metrics.parse((await scene.get(`/v1/runs/${id}/metrics?metric=acked`)).json());
    expect(body).toMatchObject({ final: false, stages: [{ name: 'publish', toUs: null }] });
    const [acked] = body.series;
    const counts = acked?.kind === 'counter' ? acked.count : [];
    expect(counts).toHaveLength(body.toUs / 1_000_000);
    expect(counts).not.toContain(null);
  });

  it('shows how its thresholds stand', async () => {
    const body = thresholds.parse((await scene.get(`/v1/runs/${id}/thresholds`)).json());
    expect(body).toMatchObject({ final: false, thresholds: [{ state: 'pass', aborted: false }] });
  });

  it('has no ledger and no report yet', async () => {
    const body = ledger.parse((await scene.get(`/v1/runs/${id}/ledger`)).json());
    expect(body).toEqual({ final: false, ledger: [] });
    for (const path of ['report', 'junit']) {
      const response = await scene.get(`/v1/runs/${id}/${path}`);
      expect(response.json()).toMatchObject({ status: 409, code: 'SQ_STATE' });
      expect(response.json<{ hint: string }>().hint).toContain('wait=60s');
    }
  });

  it('shows its agents, and they show it', async () => {
    const { agents: own } = runAgents.parse((await scene.get(`/v1/runs/${id}/agents`)).json());
    expect(own).toMatchObject([{ id: 'agent-1', state: 'active', framesMissing: 0 }]);
    expect(own[0]?.framesReceived).toBeGreaterThan(0);
    const fleet = agents.parse((await scene.get('/v1/agents')).json());
    expect(fleet.agents).toMatchObject([{ id: 'agent-1', connected: true, run: id }]);
  });

  it('is stopped in order, and judged as far as it went', async () => {
    await scene.send('POST', `/v1/runs/${id}/stop`);
    expect(await scene.over(id)).toMatchObject({ verdict: 'cancelled', exitCode: 103 });
    const body = report.parse((await scene.get(`/v1/runs/${id}/report`)).json());
    expect(body.thresholds).toMatchObject([{ state: 'pass' }]);
  });
});
