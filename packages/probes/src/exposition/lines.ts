import { type PageRequest, pageChunks } from '../http/page.ts';
import { ProbeError } from '../probe.ts';

/** An exposition may be long: it is never held as a whole, and read no further than that. */
const MAX_EXPOSITION_BYTES = 64 * 1024 * 1024;
export const MAX_EXPOSITION_LINES = 1_000_000;
const MAX_LINE = 64 * 1024;

/** Lines of a page, one at a time. @throws ProbeError where it is too long, or HTML */
export async function* pageLines(request: PageRequest): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  let count = 0;
  for await (const chunk of pageChunks(request)) {
    if (bytes === 0) refuseHtml(chunk);
    bytes += chunk.length;
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    count += lines.length;
    if (bytes > MAX_EXPOSITION_BYTES || count > MAX_EXPOSITION_LINES) {
      const limits = `${MAX_EXPOSITION_LINES} lines or ${MAX_EXPOSITION_BYTES} bytes`;
      throw new ProbeError('exposition too long', `more than ${limits}, cut there`);
    }
    if (rest.length > MAX_LINE) throw new ProbeError('not an exposition', 'a line without end');
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** A page for people, such as that of a login, has words that look like series. */
function refuseHtml(chunk: Uint8Array): void {
  const start = new TextDecoder().decode(chunk.subarray(0, 64)).trimStart();
  if (start.startsWith('<')) throw new ProbeError('not an exposition', 'it is HTML or XML');
}
