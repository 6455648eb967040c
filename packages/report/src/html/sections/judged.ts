import type { Report } from '@squall/core/report';
import { type Html, html, said, when } from '../markup.ts';
import { duration, exact } from '../numbers.ts';
import { sentence } from '../sentences.ts';
import { badge } from '../state.ts';
import { table } from '../table.ts';
import { say } from '../words.ts';

/** What does not hold comes first: it is what a reader looks for. */
const ORDER = ['fail', 'no_data', 'inconclusive', 'warn', 'pass'];
const EXAMPLES_SHOWN = 3;

function worstFirst<T extends { readonly state: string }>(rows: readonly T[]): T[] {
  return rows.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
}

export function thresholdsSection({ thresholds }: Report): Html {
  const head = (['state', 'threshold', 'observed', 'windows', 'worst', 'remark'] as const).map(say);
  const rows = worstFirst(thresholds).map((one) => [
    badge(one.state),
    html`<code>${said(one.text)}</code>`,
    html`${one.observedText}`,
    one.windows > 1 ? html`${one.failedWindows} / ${one.windows}` : html`–`,
    one.worst === null ? html`–` : html`${said(one.worst.stage)} ${one.worst.from.slice(11, 19)}`,
    said(one.remark),
  ]);
  return html`<section id="thresholds"><h2>${say('thresholds')}</h2>${rows.length === 0 ? html`<p>${say('noThresholds')}</p>` : table({ label: say('thresholds'), head, rows })}</section>`;
}

export function balanceSection({ balance }: Report): Html {
  if (balance.length === 0) return html``;
  const head = (
    [
      'state',
      'equation',
      'counted',
      'difference',
      'share',
      'unresolved',
      'settled',
      'remark',
    ] as const
  ).map(say);
  const rows = worstFirst(balance).map((one) => [
    badge(one.state),
    html`<code>${said(one.equation)}</code>`,
    html`${Object.entries(one.values).map(([side, value]) => html`<span class="side"><code>${said(side)}</code> ${exact(value, 'count')}</span> `)}`,
    html`${exact(one.difference, 'count')}`,
    html`${shareText(one.share)}`,
    html`${exact(one.unresolved, 'count')}`,
    one.settledAfterUs === null ? html`–` : html`${duration(one.settledAfterUs)}`,
    sentence(one.remark),
  ]);
  return html`<section id="balance"><h2>${say('balance')}</h2>${table({ label: say('balance'), head, rows })}</section>`;
}

/** Small shares keep their digits: one in a million lost is not 0 %. */
function shareText(share: number): string {
  return `${Number((share * 100).toPrecision(3))}\u00A0%`;
}

/** Named where a row has some. */
const OTHERS = [
  'foreign',
  'unexpected',
  'unresolvedArrived',
  'unverifiable',
  'wrongTopic',
  'wrongQos',
  'lostDisconnected',
  'lostSession',
  'expired',
  'refused',
  'retained',
  'queued',
  'copies',
] as const;

export function ledgerSection({ ledger }: Report): Html {
  const figures = [
    'expected',
    'received',
    'unique',
    'lost',
    'duplicated',
    'reordered',
    'corrupted',
    'unresolved',
  ] as const;
  const head = [
    say('state'),
    say('from'),
    say('to'),
    html`QoS`,
    ...figures.map(say),
    say('others'),
    say('remark'),
  ];
  const rows = worstFirst(ledger).map((row) => [
    badge(row.state),
    said(row.from),
    said(row.to),
    html`${row.qos}`,
    ...figures.map((figure) => html`${exact(row[figure], 'count')}`),
    html`${OTHERS.filter((name) => row[name] > 0).map((name) => html`<code>${name}</code> ${exact(row[name], 'count')} `)}`,
    said(row.remark),
  ]);
  return html`<section id="ledger"><h2>${say('ledger')}</h2>${rows.length === 0 ? html`<p>${say('noLedger')}</p>` : table({ label: say('ledger'), head, rows, numbersFrom: 3 })}${ledgerExamples(ledger)}</section>`;
}

function ledgerExamples(ledger: Report['ledger']): Html {
  const rows = ledger.flatMap(({ from, to, examples }) =>
    Object.entries(examples).flatMap(([what, list]) =>
      list
        .slice(0, EXAMPLES_SHOWN)
        .map((one) => [
          html`<code>${what}</code>`,
          html`${said(from)} → ${said(to)}`,
          html`<code>${said(one.client)}</code>`,
          html`<code>${said(one.subscriber)}</code>`,
          html`${one.seq}`,
          html`${one.sentAt ?? '–'}`,
        ]),
    ),
  );
  const head = [say('reason'), say('ledger'), say('from'), say('to'), html`seq`, say('time')];
  return when(
    rows.length > 0,
    () =>
      html`<details open><summary>${say('examples')}</summary>${table({ label: say('examples'), head, rows, limit: 60 })}</details>`,
  );
}

export function booksSection({ books }: Report): Html {
  const broken = books.filter(({ holds }) => !holds);
  const rows = [...broken, ...books.filter(({ holds }) => holds)].map((book) => [
    badge(book.holds ? 'holds' : 'broken'),
    said(book.equation),
    html`${exact(book.left, 'count')}`,
    html`${exact(book.right, 'count')}`,
  ]);
  if (rows.length === 0) return html``;
  const head = (['state', 'equation', 'left', 'right'] as const).map(say);
  const drawn = table({ label: say('books'), head, rows, numbersFrom: 2 });
  const holds = broken.length === 0;
  return html`<section id="books"><h2>${say('books')}</h2><p>${badge(holds ? 'holds' : 'broken')} ${say(holds ? 'booksHold' : 'booksBroken')} (${books.length})</p><details${holds ? html`` : html` open`}><summary>${say('table')}</summary>${drawn}</details></section>`;
}

export function failuresSection({ failures }: Report): Html {
  const head = (['count', 'subject', 'metric', 'reason', 'example'] as const).map(say);
  const rows = failures.map(({ count, subject, metric, reason, examples: [example] }) => [
    html`${exact(count, 'count')}`,
    said(subject),
    html`<code>${metric}</code>`,
    said(reason),
    example === undefined
      ? html``
      : html`<code>${said(example.client)}</code> ${said(example.address)} ${example.at}`,
  ]);
  return when(
    rows.length > 0,
    () =>
      html`<section id="failures"><h2>${say('failures')}</h2>${table({ label: say('failures'), head, rows, limit: 60 })}</section>`,
  );
}
