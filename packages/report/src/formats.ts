import { type Report, toJunit } from '@squall/core/report';
import { toCsv } from './csv.ts';
import { toHlog } from './hlog/hlog.ts';
import { toHtml } from './html/page.ts';
import { toJson } from './json.ts';
import { toMarkdown } from './markdown.ts';

/** A drawing of the report: the name of its file, what it is for whoever gets it, how it is made. */
export interface ReportFormat {
  readonly file: string;
  readonly contentType: string;
  readonly draw: (report: Report) => string;
}

/** All drawings of a report, by the names that command lines and addresses have for them. */
export const REPORT_FORMATS = {
  json: { file: 'report.json', contentType: 'application/json; charset=utf-8', draw: toJson },
  html: { file: 'report.html', contentType: 'text/html; charset=utf-8', draw: toHtml },
  csv: { file: 'report.csv', contentType: 'text/csv; charset=utf-8', draw: toCsv },
  hlog: { file: 'report.hlog', contentType: 'text/plain; charset=utf-8', draw: toHlog },
  md: { file: 'report.md', contentType: 'text/markdown; charset=utf-8', draw: toMarkdown },
  junit: { file: 'junit.xml', contentType: 'application/xml; charset=utf-8', draw: toJunit },
} as const satisfies Record<string, ReportFormat>;

export type ReportFormatName = keyof typeof REPORT_FORMATS;
