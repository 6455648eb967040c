import { promisify } from 'node:util';
import { constants, deflate, inflate } from 'node:zlib';
import { SquallError } from '@squall/core/errors';
import type { StoredPage } from '../../store/store.ts';
import { decodePage } from './page-codec.ts';
import { type SavedRun, SAVED_RUN_VERSION, savedRun } from './saved-run.ts';

/** Longest text of a checkpoint. One of 200 agents with 20 series each has a tenth of it. */
const MAX_SAVED_BYTES = 128 * 1024 * 1024;

const deflateAsync = promisify(deflate);
const inflateAsync = promisify(inflate);

/**
 * A saved run as bytes: JSON, deflated beside the event loop.
 * @throws SquallError SQ_STORE where it is longer than `MAX_SAVED_BYTES`.
 */
export async function encodeSavedRun(saved: SavedRun): Promise<Uint8Array> {
  const text = Buffer.from(JSON.stringify(saved), 'utf8');
  if (text.length > MAX_SAVED_BYTES) {
    throw new SquallError('SQ_STORE', `the checkpoint would have ${text.length} bytes`, {
      hint: 'use fewer agents, groups or streams in one run',
    });
  }
  return deflateAsync(text, { level: constants.Z_BEST_SPEED });
}

/** @throws SquallError SQ_STORE for bytes that are damaged or of another version. */
export async function decodeSavedRun(
  bytes: Uint8Array,
  pages: readonly StoredPage[] = [],
): Promise<SavedRun> {
  const json = await readJson(bytes);
  const version = versionOf(json);
  if (version !== SAVED_RUN_VERSION) {
    throw new SquallError(
      'SQ_STORE',
      `the checkpoint is of version ${String(version)}, this controller knows ${SAVED_RUN_VERSION}`,
      { hint: 'let the version of Squall that began the run end it' },
    );
  }
  const read = savedRun.safeParse(json);
  if (read.success) {
    const known = await Promise.all(pages.map(decodePage));
    return known.length === 0 ? read.data : { ...read.data, pages: known };
  }
  const [issue] = read.error.issues;
  const where = issue === undefined ? '' : `: ${issue.path.join('.')} ${issue.message}`;
  throw new SquallError('SQ_STORE', `the checkpoint is damaged${where}`);
}

async function readJson(bytes: Uint8Array): Promise<unknown> {
  try {
    const text = await inflateAsync(bytes, { maxOutputLength: MAX_SAVED_BYTES });
    return JSON.parse(text.toString('utf8'));
  } catch (cause) {
    throw new SquallError('SQ_STORE', 'the checkpoint is damaged', { cause });
  }
}

function versionOf(json: unknown): unknown {
  return typeof json === 'object' && json !== null && 'version' in json ? json.version : 'unknown';
}
