import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { planOf as planSketch, type PlanSketch } from '../plans.ts';
import { openStore } from '../../src/store/sql/sql-store.ts';
import type { NewRun, PlanRecord, Store } from '../../src/store/store.ts';

/** A folder with stores of one test's own. */
export class StoreFolder {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'squall-store-'));
  readonly #open = new Set<Store>();

  file(name = 'store.db'): string {
    return path.join(this.folder, name);
  }

  async open(name?: string): Promise<Store> {
    const store = await openStore(this.file(name));
    this.#open.add(store);
    return store;
  }

  async close(store: Store): Promise<void> {
    this.#open.delete(store);
    await store.close();
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#open].map((store) => store.close()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function planRecord(id: string, more: Partial<PlanRecord> = {}): PlanRecord {
  const sketch: PlanSketch = { stages: [{ forUs: 1_000_000 }] };
  const text = `plan ${id}`;
  const plan = planSketch(sketch);
  return {
    id,
    hash: `hash of ${id}`,
    name: id,
    format: 'yaml',
    createdMs: 1_000,
    text,
    plan,
    ...more,
  };
}

export function newRun(id: string, more: Partial<NewRun> = {}): NewRun {
  return {
    id,
    plan: 'p1',
    name: 'a-run',
    labels: {},
    notes: '',
    submittedMs: 5_000,
    options: { vars: {}, scale: 1, strict: false, timeoutUs: null, agents: null },
    ...more,
  };
}
