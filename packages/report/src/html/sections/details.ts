import { HOST } from '@squall/core/probes';
import type { Report, Times } from '@squall/core/report';
import { type Html, html, said, when } from '../markup.ts';
import { duration, exact, short, type Unit } from '../numbers.ts';
import { badge } from '../state.ts';
import { pairs, table } from '../table.ts';
import { say, stateWord } from '../words.ts';

/** Characters of the plan that are shown: plans may hold long lists. */
const MAX_PLAN = 120_000;
const MS_US = 1_000;

export function groupsSection({ groups }: Report): Html {
  const counters = Object.entries(groups).map(([name, group]) => [
    said(name),
    html`${Object.entries(group.counters)
      .filter(([, value]) => value > 0)
      .map(
        ([metric, value]) =>
          html`<span class="side"><code>${metric}</code> ${exact(value, metric.startsWith('bytes') || metric.startsWith('wire') ? 'bytes' : 'count')}</span> `,
      )}`,
  ]);
  const times = Object.entries(groups).flatMap(([name, group]) =>
    Object.entries(group.times).map(([metric, one]) => [
      said(name),
      html`<code>${metric}</code>`,
      html`${exact(one.count, 'count')}`,
      ...timeCells(one),
    ]),
  );
  const head = [
    say('group'),
    say('metric'),
    say('count'),
    say('min'),
    say('mean'),
    ...['p50', 'p90', 'p95', 'p99', 'p99.9', 'p99.99'].map((text) => html`${text}`),
    say('max'),
    say('clockError'),
  ];
  return html`<section id="groups"><h2>${say('groups')}</h2>${table({ label: say('counters'), head: [say('group'), say('counters')], rows: counters })}${when(times.length > 0, () => table({ label: say('times'), head, rows: times, numbersFrom: 2 }))}</section>`;
}

function timeCells(one: Times): Html[] {
  const { minUs, meanUs, p50Us, p90Us, p95Us, p99Us, p999Us, p9999Us, maxUs, boundUs } = one;
  return [
    ...[minUs, meanUs, p50Us, p90Us, p95Us, p99Us, p999Us, p9999Us, maxUs].map(
      (us) => html`${short(us, 'us')}`,
    ),
    boundUs === undefined ? html`–` : html`± ${duration(boundUs)}`,
  ];
}

export function stagesSection({ stages }: Report): Html {
  const rows = stages.map((one) => [
    html`${said(one.name)}${when(one.warmup, () => html` <span class="kind">${say('warmup')}</span>`)}`,
    html`${one.startedAt.slice(11, 23)}`,
    html`${duration(Math.round(one.prologueUs / MS_US) * MS_US)}`,
    html`${duration(Math.round(one.durationUs / MS_US) * MS_US)}`,
    stateWord(one.endedBy),
  ]);
  const head = (['stage', 'began', 'prologue', 'lasted', 'endedBy'] as const).map(say);
  return when(
    rows.length > 0,
    () =>
      html`<section id="stages"><h2>${say('stages')}</h2>${table({ label: say('stages'), head, rows })}</section>`,
  );
}

export function agentsSection({ agents, split }: Report): Html {
  const rows = agents.map((one) => [
    said(one.id),
    said(one.host),
    badge(one.state),
    html`${one.workers}`,
    html`${one.framesReceived}${one.framesProduced === null ? html`` : html` / ${one.framesProduced}`}`,
    html`${one.cpuSeconds === null ? '–' : one.cpuSeconds.toFixed(1)}`,
    html`${one.rssBytesMax === null ? '–' : short(one.rssBytesMax, 'bytes')}`,
    timeOf(one.latenessP99Us),
    one.clockBoundUs === null ? html`–` : html`± ${duration(one.clockBoundUs)}`,
    timeOf(one.startSkewUs),
    said(one.reason ?? ''),
  ]);
  const head = (
    [
      'agent',
      'host',
      'state',
      'workers',
      'frames',
      'cpu',
      'memory',
      'lateness',
      'clock',
      'skew',
      'remark',
    ] as const
  ).map(say);
  return when(
    rows.length > 0,
    () =>
      html`<section id="agents"><h2>${say('agents')}</h2>${table({ label: say('agents'), head, rows })}${hostsTable(agents)}${splitTable(split)}</section>`,
  );
}

/** Mean and maximum of each figure of a host. */
function hostsTable(agents: Report['agents']): Html {
  const rows = agents
    .filter(({ hostFigures }) => Object.keys(hostFigures).length > 0)
    .map(({ id, hostFigures }) => [
      said(id),
      html`${Object.entries(hostFigures).map(([figure, { mean, max }]) => {
        const unit: Unit = HOST[figure]?.unit ?? 'count';
        return html`<span class="side"><code>${figure}</code> ${short(mean, unit)} (${say('max')} ${short(max, unit)})</span> `;
      })}`,
    ]);
  const head = (['agent', 'hostFigures'] as const).map(say);
  return when(
    rows.length > 0,
    () =>
      html`<details><summary>${say('hosts')}</summary>${table({ label: say('hosts'), head, rows })}</details>`,
  );
}

function timeOf(us: number | null): Html {
  return html`${us === null ? '–' : short(us, 'us')}`;
}

function splitTable(split: Report['split']): Html {
  const rows = split.flatMap(({ agent, workers }) =>
    workers.flatMap(({ groups }, worker) =>
      Object.entries(groups)
        .filter(([, { clients }]) => clients > 0)
        .map(([group, { clients, first, last }]) => [
          said(agent),
          html`${worker + 1}`,
          said(group),
          ...[clients, first, last].map((value) => html`${exact(value, 'count')}`),
        ]),
    ),
  );
  const head = (['agent', 'worker', 'group', 'clients', 'first', 'lastClient'] as const).map(say);
  return when(
    rows.length > 0,
    () =>
      html`<details><summary>${say('split')}</summary><p class="quiet">${say('splitNote')}</p>${table({ label: say('split'), head, rows, numbersFrom: 3 })}</details>`,
  );
}

export function planSection({ plan, run }: Report): Html {
  const text = JSON.stringify(plan, null, 2);
  const scaled = run.scaled.map(({ path, from, to }) => [
    html`<code>${said(path)}</code>`,
    said(from),
    said(to),
  ]);
  const head = (['where', 'was', 'became'] as const).map(say);
  return html`<section id="plan"><h2>${say('plan')}</h2>${when(scaled.length > 0, () => table({ label: say('changed'), head, rows: scaled }))}<details><summary>${say('planNote')}</summary>${when(text.length > MAX_PLAN, () => html`<p class="quiet">${say('cut')}</p>`)}<pre tabindex="0" dir="ltr"><code>${text.slice(0, MAX_PLAN)}</code></pre></details></section>`;
}

export function environmentSection({ run }: Report): Html {
  const entries = Object.entries({ version: run.version, ...run.environment }).map(
    ([key, value]) => [html`${said(key)}`, html`<bdi>${value}</bdi>`] as const,
  );
  const vars = Object.entries(run.vars).map(
    ([key, value]) => [html`<code>${said(key)}</code>`, said(value)] as const,
  );
  return html`<section id="environment"><h2>${say('environment')}</h2>${pairs(entries)}${when(vars.length > 0, () => html`<h3>${say('variables')}</h3>${pairs(vars)}`)}</section>`;
}
