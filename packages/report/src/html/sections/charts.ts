import type { Report } from '@squall/core/report';
import { chooseCharts, isFigure } from '../charts/choose.ts';
import { histogramChart, percentileChart } from '../charts/spread.ts';
import { type TimeChart, timeChart } from '../charts/time-chart.ts';
import { type Html, html, said, when } from '../markup.ts';
import { exact, type Unit } from '../numbers.ts';
import { table } from '../table.ts';
import { say } from '../words.ts';

/** Metrics whose spread is drawn, in this order. */
const SPREAD = [
  'publish_time',
  'delivery_time',
  'response_time',
  'service_time',
  'connect_time',
  'born_time',
  'stored_time',
];
/** Of these every stage gets a histogram, up to so many. */
const MAX_HISTOGRAMS = 8;
/** Curves that are named although they are not drawn. */
const MAX_NAMES = 100;

export function chartsSections(report: Report): Html {
  const chosen = chooseCharts(report);
  const draw = (charts: readonly TimeChart[]) => charts.map((chart) => timeChart(chart, report));
  const some = Object.values(chosen).some((list) => list.length > 0);
  return html`${when(some, () => html`<section id="charts"><h2>${say('charts')}</h2><p class="quiet">${say('chartsNote')}</p><div class="grid-of-charts">${draw(chosen.load)}${draw(chosen.balance)}${draw(chosen.probes)}${draw(chosen.generator)}${draw(chosen.hosts)}</div>${leftOut(chosen.leftOut)}</section>`)}${probesSection(report)}${spreadSections(report)}`;
}

function leftOut(names: readonly string[]): Html {
  const shown = names.slice(0, MAX_NAMES);
  return when(
    names.length > 0,
    () =>
      html`<details><summary>${say('leftOut')}: ${names.length}</summary><ul>${shown.map((name) => html`<li>${said(name)}</li>`)}</ul></details>`,
  );
}

function probesSection({ probes }: Report): Html {
  const rows = Object.entries(probes).flatMap(([name, probe]) => {
    const figures = Object.entries(probe).flatMap(([figure, one]) =>
      isFigure(one) ? [[figure, one] as const] : [],
    );
    const head = [html`${said(name)} <span class="kind">${probe.type}</span>`];
    const tail = [html`${exact(probe.readings, 'count')}`, errorsCell(probe)];
    if (figures.length === 0) return [[...head, ...Array<Html>(6).fill(html`–`), ...tail]];
    return figures.map(([figure, one]) => {
      const unit: Unit = one.unit ?? 'count';
      const cells = [one.min, one.mean, one.max, one.last].map(
        (value) => html`${exact(value, unit)}`,
      );
      const increase = one.kind === 'counter' ? html`${exact(one.increase, unit)}` : html`–`;
      return [...head, html`<code>${said(figure)}</code>`, ...cells, increase, ...tail];
    });
  });
  const head = (
    ['probe', 'figure', 'min', 'mean', 'max', 'last', 'increase', 'readings', 'errors'] as const
  ).map(say);
  return when(
    rows.length > 0,
    () =>
      html`<section id="probes"><h2>${say('probes')}</h2>${table({ label: say('probes'), head, rows, numbersFrom: 2 })}</section>`,
  );
}

function errorsCell({ errors, reasons }: Report['probes'][string]): Html {
  const why = Object.entries(reasons).map(([reason, count]) => html` ${said(reason)} (${count})`);
  return html`${errors}${why}`;
}

function spreadSections({ histograms, stages }: Report): Html {
  const warmups = new Set(stages.filter(({ warmup }) => warmup).map(({ name }) => name));
  const judged = histograms.filter(({ stage, counts }) => !warmups.has(stage) && counts.length > 0);
  const byMetric = SPREAD.map((metric) => judged.filter((one) => one.metric === metric)).filter(
    (list) => list.length > 0,
  );
  if (byMetric.length === 0) return html``;
  const curves = byMetric.map((list, at) =>
    percentileChart(`percentiles-${at + 1}`, list[0]?.metric ?? '', list),
  );
  const bars = byMetric
    .flat()
    .slice(0, MAX_HISTOGRAMS)
    .map((one, at) => histogramChart(`histogram-${at + 1}`, one));
  return html`<section id="percentiles"><h2>${say('percentiles')}</h2><p class="quiet">${say('percentilesNote')}</p><div class="grid-of-charts">${curves}</div></section><section id="histogram"><h2>${say('histogram')}</h2><p class="quiet">${say('histogramNote')}</p><div class="grid-of-charts">${bars}</div></section>`;
}
