import type { Logger } from '../logger.ts';
import type { Store } from '../store/store.ts';
import type { TimeSource } from '../time-source.ts';
import { KEY_LIFE_MS, PURGE_EVERY_US } from './limits.ts';

export interface PurgerParts {
  readonly store: Store;
  readonly time: TimeSource;
  readonly logger: Logger;
  /** How long a run is kept after its end, ms; null: for ever. */
  readonly retentionMs: number | null;
}

/** Deletes what is older than it should get, at the start and each hour. Returns the end of that. */
export function keepPurged(parts: PurgerParts): () => void {
  let stop: () => void;
  const again = () => {
    void purge(parts);
    stop = parts.time.after(PURGE_EVERY_US, again);
  };
  again();
  return () => stop();
}

async function purge({ store, time, logger, retentionMs }: PurgerParts): Promise<void> {
  const nowMs = time.utcMs();
  try {
    const runs = await store.purge({
      runsEndedBeforeMs: retentionMs === null ? null : nowMs - retentionMs,
      keysBeforeMs: nowMs - KEY_LIFE_MS,
    });
    if (runs > 0) logger.info(`${runs} runs were deleted: they are older than the retention`);
  } catch (error) {
    logger.warn(`old runs could not be deleted: ${String(error)}`);
  }
}
