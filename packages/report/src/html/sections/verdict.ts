import type { Report } from '@squall/core/report';
import { type Html, html, said, when } from '../markup.ts';
import { duration, short } from '../numbers.ts';
import { sentence } from '../sentences.ts';
import { badge, signOf, toneOf } from '../state.ts';
import { table } from '../table.ts';
import { say, stateWord } from '../words.ts';

/** What the first screen shows: a person who reads nothing else must not be misled. */
export function verdictSection(report: Report): Html {
  const { verdict, exitCode, validity, run, reasons } = report;
  return html`<section class="verdict ${toneOf(shownVerdict(report))}" aria-labelledby="verdict">
<h1>${said(run.name)}</h1>
${when(run.description !== '', () => html`<p class="description">${said(run.description)}</p>`)}
<p class="word" id="verdict"><span class="sr">${say('verdict')}: </span><span class="sign" aria-hidden="true">${signOf(verdict)}</span> <strong>${stateWord(verdict)}</strong></p>
<p class="beside"><span>${say('validity')}: ${badge(validity.state)}</span> <span>${say('exitCode')} <strong>${exitCode}</strong></span></p>
${when(run.scale !== 1, () => html`<p class="scaled"><strong>${say('scaled')}</strong> ${say('scale')}: ${run.scale}</p>`)}
<h2 class="minor">${say('reasons')}</h2>
<ol class="reasons">${reasons.map((reason) => html`<li>${sentence(reason)}</li>`)}</ol>
<p class="facts">${facts(report)}</p>
</section>`;
}

/** A run that passed by its thresholds and yet is no success (`--strict`) is not shown in green. */
function shownVerdict({ verdict, exitCode }: Report): string {
  return verdict === 'pass' && exitCode !== 0 ? 'warn' : verdict;
}

function facts({ run }: Report): Html {
  const labels = Object.entries(run.labels).map(([key, value]) => said(`${key}=${value}`));
  return html`<span>${say('run')} <code>${run.id}</code></span> <span>${say('started')} <time datetime="${run.startedAt}">${run.startedAt.replace('T', ' ').replace('Z', ' UTC')}</time></span> <span>${say('took')} ${duration(roundMs(run.durationUs))}</span> ${when(labels.length > 0, () => html`<span>${say('labels')}: ${labels.map((label) => html`<code>${label}</code> `)}</span>`)}`;
}

function roundMs(us: number): number {
  return Math.round(us / 1_000) * 1_000;
}

export function notesSection({ notes }: Report): Html {
  return when(
    notes.length > 0,
    () =>
      html`<section id="notes"><h2>${say('notes')}</h2><ul>${notes.map((note) => html`<li>${sentence(note)}</li>`)}</ul></section>`,
  );
}

export function validitySection({ validity }: Report): Html {
  const rows = validity.findings.map(({ check, state, observed, limit, agent, hint }) => [
    html`<code>${check}</code>`,
    badge(state),
    html`${measured(check, observed)}`,
    html`${limit === null ? '–' : measured(check, limit)}`,
    said(agent ?? ''),
    said(hint),
  ]);
  const head = (['check', 'state', 'observed', 'limit', 'agent', 'meaning'] as const).map(say);
  return html`<section id="validity"><h2>${say('validity')} ${badge(validity.state)}</h2><p class="quiet">${say('validityMeaning')}</p>${rows.length === 0 ? html`<p>${say('noFindings')}</p>` : table({ label: say('validity'), head, rows })}</section>`;
}

/** Checks whose figures are µs, and those whose figures are shares; the others count. */
const TIMES: readonly string[] = ['lateness', 'start_skew', 'loop_delay'];
const SHARES: readonly string[] = ['dropped', 'frames_missing'];

function measured(check: string, value: number | string): string | number {
  if (typeof value === 'string') return value;
  if (TIMES.includes(check)) return duration(value);
  return SHARES.includes(check) ? short(value, 'share') : value;
}
