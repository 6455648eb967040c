import { createHash } from 'node:crypto';
import type { Report } from '@squall/core/report';
import { Html, html, plain } from './markup.ts';
import { SCRIPT } from './script.ts';
import { chartsSections } from './sections/charts.ts';
import {
  agentsSection,
  environmentSection,
  groupsSection,
  planSection,
  stagesSection,
} from './sections/details.ts';
import {
  balanceSection,
  booksSection,
  failuresSection,
  ledgerSection,
  thresholdsSection,
} from './sections/judged.ts';
import { notesSection, validitySection, verdictSection } from './sections/verdict.ts';
import { STYLE } from './style.ts';
import { say } from './words.ts';

/** The page may run its own script and nothing else, and ask nobody for anything. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/**
 * The report as one page that needs nothing else: no network, no fonts, no script for anything but
 * the language and reading values off the charts. Without a script it is in English.
 */
export function toHtml(report: Report): string {
  const { run, verdict } = report;
  const title = plain(`${run.name} · ${verdict} · Squall`);
  return html`${Html.trusted('<!DOCTYPE html>')}
<html lang="en" data-lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${CONTENT_SECURITY_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${Html.trusted(STYLE)}</style>
</head>
<body>
<a class="skip" href="#result">${say('skip')}</a>
<header><span class="brand">Squall</span><div class="languages" role="group" aria-label="Language · 语言" hidden><button type="button" data-set="en" lang="en">English</button><button type="button" data-set="zh" lang="zh-Hans">中文</button></div></header>
<main id="result">
${verdictSection(report)}
${notesSection(report)}
${validitySection(report)}
${thresholdsSection(report)}
${balanceSection(report)}
${ledgerSection(report)}
${booksSection(report)}
${failuresSection(report)}
${chartsSections(report)}
${groupsSection(report)}
${stagesSection(report)}
${agentsSection(report)}
${planSection(report)}
${environmentSection(report)}
</main>
<footer>Squall ${run.version} · <code>${run.id}</code></footer>
${HATCH}
<script>${Html.trusted(SCRIPT)}</script>
</body>
</html>
`.text;
}

/** Pattern of warm-up stages, for all charts. */
const HATCH = html`<svg class="defs" aria-hidden="true" width="0" height="0"><defs><pattern id="hatch" width="24" height="24" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch" width="5" height="24"/></pattern></defs></svg>`;
