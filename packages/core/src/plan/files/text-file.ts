import { decodeUtf8 } from '../../text/utf8.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/** The text of a file in UTF-8, without its byte order mark; null where it is none. */
export function textOfFile(content: Uint8Array): string | null {
  try {
    const text = decodeUtf8(content);
    return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  } catch {
    return null;
  }
}
