import type { Report } from '@squall/core/report';

/** A list of numbers over several lines. A text in JSON holds no line break, so this is never in one. */
const NUMBERS = /\[\n\s+((?:-?\d[\d.eE+-]*|null)(?:,\n\s+(?:-?\d[\d.eE+-]*|null))*)\n\s+\]/g;

/** `report.json`: laid out for people, but for curves and histograms, which take a line each. */
export function toJson(report: Report): string {
  const text = JSON.stringify(report, null, 2).replaceAll(
    NUMBERS,
    (_, numbers: string) => `[${numbers.replaceAll(/\s+/g, '')}]`,
  );
  return `${text}\n`;
}
