import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { SquallError } from '@squall/core/errors';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/sql/sql-store.ts';
import { storeError } from '../../src/store/sql/store-error.ts';
import { newRun, StoreFolder } from './store-fixture.ts';

let folder: StoreFolder;

beforeEach(() => {
  folder = new StoreFolder();
});
afterEach(() => folder.dispose());

async function refusal(file: string): Promise<SquallError> {
  const outcome = await openStore(file).catch((error: unknown) => error);
  if (!(outcome instanceof SquallError)) throw new Error('the store was opened');
  expect(outcome).toMatchObject({ code: 'SQ_STORE', path: file });
  expect(outcome.hint).toBeDefined();
  return outcome;
}

describe('a store that cannot be used', () => {
  it('is one that another controller has open', async () => {
    await folder.open();
    const error = await refusal(folder.file());
    expect(error.message).toBe('another controller has this store open');
  });

  it('is free again at once when the process that had it was killed', async () => {
    await folder.close(await folder.open());
    const holder = spawn(process.execPath, ['--input-type=module', '-e', holding(folder.file())], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => holder.once('close', resolve));
    try {
      await new Promise((resolve) => holder.stdout.once('data', resolve));
      expect((await refusal(folder.file())).message).toContain('another controller');
    } finally {
      holder.kill('SIGKILL');
    }
    await ended;
    const store = await folder.open();
    expect(await store.runs({ limit: 1 })).toEqual([]);
  });

  it('lies in a folder that is not there, or is a folder', async () => {
    expect((await refusal(folder.file('no/store.db'))).message).toContain('cannot be opened');
    mkdirSync(folder.file('dir'));
    expect((await refusal(folder.file('dir'))).message).toContain('no store');
  });

  it('is a file of something else', async () => {
    writeFileSync(folder.file('text'), 'garbage '.repeat(1_000));
    expect((await refusal(folder.file('text'))).message).toContain('no store');
    const other = new DatabaseSync(folder.file('other.db'));
    other.exec('create table a (b)');
    other.close();
    expect((await refusal(folder.file('other.db'))).message).toContain('no store');
  });

  it('is damaged', async () => {
    const store = await folder.open();
    for (let n = 0; n < 200; n++) {
      await store.createRun(newRun(`r${n}`, { notes: 'x'.repeat(200) }));
    }
    await folder.close(store);
    const bytes = readFileSync(folder.file());
    bytes.fill(0xaa, 4_096, bytes.length - 4_096);
    writeFileSync(folder.file(), bytes);
    expect((await refusal(folder.file())).message).toContain('damaged');
  });

  it('was cut off in the middle', async () => {
    const store = await folder.open();
    for (let n = 0; n < 200; n++) {
      await store.createRun(newRun(`r${n}`, { notes: 'x'.repeat(200) }));
    }
    await folder.close(store);
    const bytes = readFileSync(folder.file());
    writeFileSync(folder.file(), bytes.subarray(0, Math.floor(bytes.length / 2)));
    expect((await refusal(folder.file())).message).toContain('damaged');
  });

  it('was made by a newer version', async () => {
    await folder.close(await folder.open());
    const driver = new DatabaseSync(folder.file());
    driver.exec('update store_version set version = 999');
    driver.close();
    expect((await refusal(folder.file())).message).toContain('newer version');
  });
});

describe('what goes wrong while it is open', () => {
  it('is told when the disk is full, and what was there stays whole', async () => {
    const store = await openStore('/dev/full').catch((error: unknown) => error);
    expect(store).toMatchObject({ code: 'SQ_STORE' });
  });

  it('is told by name, and nothing of the transaction stays', async () => {
    await folder.close(await folder.open());
    const driver = new DatabaseSync(folder.file());
    driver.exec(
      "create trigger full before insert on run_labels begin select raise(abort, 'x'); end",
    );
    driver.close();
    const store = await folder.open();
    const failed = store.createRun(newRun('r1', { labels: { a: 'b' } }), { key: 'k', request: '' });
    await expect(failed).rejects.toMatchObject({ code: 'SQ_STORE' });
    expect(await store.run('r1')).toBeNull();
    expect(await store.keyUse('k')).toBeNull();
    await store.createRun(newRun('r2'));
    expect(await store.run('r2')).not.toBeNull();
  });

  it.each([
    [13, 'no room'],
    [8 | (4 << 8), 'read-only'],
    [11 | (3 << 8), 'damaged'],
    [10 | (3 << 8), 'disk'],
    [1, 'failed'],
  ])('result code %i is told in plain words', (errcode, words) => {
    const error = storeError(Object.assign(new Error('raw'), { errcode }), '/a/store.db');
    expect(error.code).toBe('SQ_STORE');
    expect(error.message).toContain(words);
    expect(error.hint).toBeDefined();
    expect(error.path).toBe('/a/store.db');
  });

  it('is no news about errors of ours', () => {
    const ours = new SquallError('SQ_PLAN', 'x');
    expect(storeError(ours, 'f')).toBe(ours);
  });
});

/** A program that holds the file as a controller does. */
function holding(file: string): string {
  return `
    import { DatabaseSync } from '@photostructure/sqlite';
    const db = new DatabaseSync(${JSON.stringify(file)});
    db.exec('pragma locking_mode = EXCLUSIVE');
    db.exec('pragma journal_mode = WAL; update store_version set version = version');
    console.log('held');
    setInterval(() => db, 1000);
  `;
}
