import { reportSchema } from '@squall/core/report';
import type { StageSpan } from '../run/run-figures.ts';
import type { RunRecord, Store } from '../store/store.ts';
import { type ChunkData, CHUNK_SECONDS, decodeChunk, SECOND_US } from '../timeline/chunk.ts';
import { recordedSeconds } from '../timeline/window.ts';
import type { LiveRun } from './live-run.ts';

const CHUNK_US = CHUNK_SECONDS * SECOND_US;

/** The time line of a run, whether it goes on or is long over. */
export interface RunTimeline {
  /** T, ms since the epoch; null: the load never began. */
  readonly startedMs: number | null;
  /** µs on the run's timeline: the end, or the end of the last second that everybody has reported. */
  readonly endUs: number;
  readonly final: boolean;
  readonly stages: readonly StageSpan[];
  /** The minutes of this window, by their index. */
  chunks(fromUs: number, toUs: number): Promise<ReadonlyMap<number, ChunkData>>;
}

export async function openTimeline(from: {
  readonly store: Store;
  readonly record: RunRecord;
  readonly run: LiveRun | undefined;
}): Promise<RunTimeline> {
  const { store, record, run } = from;
  const chunks = async (fromUs: number, toUs: number) => {
    const first = Math.floor(fromUs / CHUNK_US);
    const last = Math.floor(toUs / CHUNK_US);
    const stored = await store.timeline(record.id, first, last);
    const all = new Map(stored.map(({ index, bytes }) => [index, decodeChunk(bytes)]));
    for (const [index, data] of run?.timeline.held() ?? []) {
      if (index >= first && index <= last) all.set(index, data);
    }
    return all;
  };
  const figures = run?.handle.figures ?? null;
  if (run !== undefined && !run.done) {
    const endUs = Math.floor((figures?.closedUs() ?? 0) / SECOND_US) * SECOND_US;
    const stages = figures?.stages() ?? [];
    return { startedMs: figures?.startedMs ?? null, endUs, final: false, stages, chunks };
  }
  const report = run?.report ?? (await store.report(record.id));
  const stages = report === null ? [] : stagesOf(report);
  const recorded = recordedSeconds(await chunks(lastStartUs(stages), Number.MAX_SAFE_INTEGER));
  return { startedMs: record.startedMs, endUs: recorded * SECOND_US, final: true, stages, chunks };
}

const stagesPart = reportSchema.pick({ timeline: true });

function stagesOf(report: string): StageSpan[] {
  return stagesPart.strip().parse(JSON.parse(report)).timeline.stages;
}

/** Where to begin to look for the end. */
function lastStartUs(stages: readonly StageSpan[]): number {
  return stages.at(-1)?.fromUs ?? 0;
}
