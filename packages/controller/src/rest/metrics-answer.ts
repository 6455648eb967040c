import { SquallError } from '@squall/core/errors';
import { parseDuration } from '@squall/core/units';
import type { z } from 'zod';
import { MAX_POINTS } from '../service/limits.ts';
import type { RunService } from '../service/run-service.ts';
import { SECOND_US } from '../timeline/chunk.ts';
import { type WindowQuery, type WindowSeries, windowOf } from '../timeline/window.ts';
import { listOf } from './routes/paging.ts';
import type { metrics, metricsQuery } from './schemas.ts';
import { momentOf } from './views.ts';

type Query = z.infer<typeof metricsQuery>;
type Answer = z.infer<typeof metrics>;

/** Columns of one curve, at most. */
const COLUMNS = 9;

/**
 * The time line of a run, as far as it was asked for.
 * @throws SquallError SQ_NOT_FOUND; SQ_REQUEST for a window that cannot be, or has too many points.
 */
export async function readMetrics(service: RunService, id: string, query: Query): Promise<Answer> {
  const timeline = await service.timeline(id);
  const window = windowAsked(query, timeline);
  const { fromUs, toUs, stepUs } = window;
  const chunks = await timeline.chunks(fromUs, toUs);
  const series = windowOf(chunks, window);
  return {
    startedAt: timeline.startedMs === null ? null : momentOf(timeline.startedMs),
    fromUs,
    toUs,
    stepUs,
    final: timeline.final,
    stages: timeline.stages.map((stage) => ({ ...stage })),
    series: series.map((one): WindowSeries => one),
  };
}

function windowAsked(
  query: Query,
  run: { readonly startedMs: number | null; readonly endUs: number },
): WindowQuery {
  const stepUs = stepOf(query.step);
  const at = (text: string | undefined, name: string, other: number) =>
    text === undefined ? other : pointUs(text, name, run.startedMs);
  // Steps are counted from the start of the run, so that the same step is the same whoever asks.
  const fromUs = Math.max(0, Math.floor(at(query.from, 'from', 0) / stepUs) * stepUs);
  const toUs = Math.min(run.endUs, at(query.to, 'to', run.endUs));
  const window = {
    fromUs,
    toUs: Math.max(fromUs, toUs),
    stepUs,
    metrics: listOf(query.metric),
    subjects: listOf(query.subject),
  };
  const points = ((window.toUs - fromUs) / stepUs) * COLUMNS * Math.max(1, window.metrics.length);
  if (points <= MAX_POINTS) return window;
  throw new SquallError('SQ_REQUEST', 'the answer would be too long', {
    path: 'step',
    hint: 'take longer steps, a shorter window or fewer metrics',
  });
}

function stepOf(text: string | undefined): number {
  const stepUs = text === undefined ? SECOND_US : durationUs(text, 'step');
  if (stepUs >= SECOND_US && stepUs % SECOND_US === 0) return stepUs;
  throw new SquallError('SQ_REQUEST', `${text ?? ''} is no step`, {
    path: 'step',
    hint: 'steps are whole seconds, such as 10s',
  });
}

/** A moment, or a time since the start of the run. */
function pointUs(text: string, name: string, startedMs: number | null): number {
  if (!/^\d{4}-\d\d-\d\dT/.test(text)) return durationUs(text, name);
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) {
    throw new SquallError('SQ_REQUEST', `${text} is no moment`, {
      path: name,
      hint: 'moments look like 2026-11-30T17:30:55Z',
    });
  }
  return (ms - (startedMs ?? ms)) * 1_000;
}

function durationUs(text: string, name: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof SquallError)) throw error;
    const { message, hint } = error;
    throw new SquallError('SQ_REQUEST', message, {
      path: name,
      ...(hint === undefined ? {} : { hint }),
    });
  }
}
