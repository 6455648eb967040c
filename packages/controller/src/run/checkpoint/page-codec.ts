import { promisify } from 'node:util';
import { constants, deflate, inflate } from 'node:zlib';
import { SquallError } from '@squall/core/errors';
import { readLedgerPages } from '@squall/core/ledger';
import type { StoredPage } from '../../store/store.ts';
import type { AgentPage } from '../run-ledger.ts';

/** Longest text of a page. One full of pairs has a fiftieth of it. */
const MAX_PAGE_BYTES = 64 * 1024 * 1024;

const deflateAsync = promisify(deflate);
const inflateAsync = promisify(inflate);

/** A page as a store keeps it: JSON, deflated beside the event loop. */
export async function encodePage({ agent, page }: AgentPage): Promise<StoredPage> {
  const text = Buffer.from(JSON.stringify(page), 'utf8');
  const bytes = await deflateAsync(text, { level: constants.Z_BEST_SPEED });
  return { agent, worker: page.worker, page: page.page, bytes };
}

/** @throws SquallError SQ_STORE for bytes that are damaged. */
export async function decodePage({ agent, bytes }: StoredPage): Promise<AgentPage> {
  try {
    const text = await inflateAsync(bytes, { maxOutputLength: MAX_PAGE_BYTES });
    const json: unknown = JSON.parse(text.toString('utf8'));
    const [page] = readLedgerPages([json]);
    if (page !== undefined) return { agent, page };
  } catch (cause) {
    throw damaged(cause);
  }
  throw damaged();
}

function damaged(cause?: unknown): SquallError {
  return new SquallError('SQ_STORE', 'the checkpoint is damaged: a page of the ledger', { cause });
}
