import { type PageRequest, pageChunks } from '../http/page.ts';
import { ProbeError } from '../probe.ts';

/** An exposition may be long: it is never held as a whole. */
export const MAX_EXPOSITION_BYTES = 256 * 1024 * 1024;
const MAX_LINE = 64 * 1024;

/** Lines of a page, one at a time. @throws ProbeError where it is too large */
export async function* pageLines(request: PageRequest): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  for await (const chunk of pageChunks(request)) {
    bytes += chunk.length;
    if (bytes > MAX_EXPOSITION_BYTES) throw new ProbeError('answer too large');
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw new ProbeError('not an exposition', 'a line without end');
    yield* lines;
  }
  if (rest !== '') yield rest;
}
