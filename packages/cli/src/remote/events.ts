import { setTimeout as delay } from 'node:timers/promises';
import { type ControllerClient, unreachable } from './client.ts';

export interface RemoteEvent {
  readonly type: string;
  readonly data: unknown;
}

/** From a broken stream to the next attempt. */
const RETRY_MS = 1_000;
/** How long a controller may stay away: it may be started again, and the run goes on meanwhile. */
const MAX_AWAY_MS = 300_000;
/** Longest event; a stream that goes beyond it is not one of a controller. */
const MAX_EVENT_CHARACTERS = 4 * 1024 * 1024;

/**
 * The events of a run until it is over, whatever the line does: where it breaks, the stream is taken up
 * again behind the last event that came. Ends early when `signal` says so.
 * @throws SquallError SQ_REMOTE when the controller stays away; what it says about the run.
 */
export async function* runEventsOf(
  client: ControllerClient,
  run: string,
  signal: AbortSignal,
): AsyncGenerator<RemoteEvent> {
  let last: string | null = null;
  let heardMs = performance.now();
  while (!signal.aborted) {
    try {
      const headers = last === null ? {} : { 'last-event-id': last };
      const response = await client.stream(`/v1/runs/${run}/events`, headers, signal);
      if (response.status === 204) return;
      if (response.ok && response.body !== null) {
        for await (const event of eventsOf(response.body)) {
          heardMs = performance.now();
          last = event.id ?? last;
          if (event.type === null) continue;
          yield { type: event.type, data: parsed(event.data) };
          if (event.type === 'done') return;
        }
      } else if (response.status < 500) {
        // Says why, in the same words as every other answer.
        await client.request(`/v1/runs/${run}`);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isLineFault(error)) throw error;
      if (performance.now() - heardMs > MAX_AWAY_MS) throw unreachable(client.url, error);
    }
    await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

interface Block {
  readonly id: string | null;
  /** Null: a comment. */
  readonly type: string | null;
  readonly data: string;
}

/** Blocks of a stream as they are complete [HTML, 9.2.6]. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Block> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > MAX_EVENT_CHARACTERS) throw new TypeError('an event without an end');
    for (const block of blocks) yield readBlock(block);
  }
}

function readBlock(block: string): Block {
  let [id, type, data]: [string | null, string | null, string] = [null, null, ''];
  for (const line of block.split('\n')) {
    const at = line.indexOf(': ');
    const value = line.slice(at + 2);
    if (line.startsWith('id: ')) id = value;
    else if (line.startsWith('event: ')) type = value;
    else if (line.startsWith('data: ')) data += value;
  }
  return { id, type, data };
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

/** What `fetch` throws for lines that break or cannot be made. */
function isLineFault(error: unknown): boolean {
  return error instanceof TypeError;
}
