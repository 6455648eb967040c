import type { Plan } from '../plan/plan.ts';
import type { FigureRecord, ProbeRecord } from '../probes/probe-book.ts';
import type { ProbeFigures } from './model.ts';

type Records = ReadonlyMap<string, ProbeRecord>;

/** What the probes read, by their names. */
export function probeRows(records: Records, plan: Plan): Record<string, ProbeFigures> {
  return Object.fromEntries(
    [...records].map(([name, { figures, readings, errors, skipped, reasons }]) => {
      const type = plan.probes.find((probe) => probe.name === name)?.source.type ?? '';
      const own = Object.entries(figures).map(([figure, record]) => [figure, figureOf(record)]);
      const head = { type, readings, errors, skipped, reasons: { ...reasons } };
      return [name, { ...head, ...Object.fromEntries(own) }];
    }),
  );
}

/** A probe that failed is told, since its figures have holes. */
export function probeNotes(records: Records): string[] {
  return [...records].flatMap(([name, { readings, errors, skipped, reasons }]) => {
    const notes: string[] = [];
    if (errors > 0) {
      const why = Object.entries(reasons).map(([reason, count]) => `${reason} (${count})`);
      notes.push(
        `Probe ${name}: ${errors} of ${readings + errors} readings failed: ${why.join(', ')}.`,
      );
    }
    if (skipped > 0) {
      notes.push(`Probe ${name}: ${skipped} readings were left out, since it was still answering.`);
    }
    return notes;
  });
}

function figureOf(record: FigureRecord) {
  const { kind, unit, min, max, last, sum, readings, increase, decreases } = record;
  return { kind, unit, min, mean: sum / readings, max, last, increase, decreases };
}
