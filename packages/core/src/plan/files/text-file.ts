import { decodeUtf8 } from '../../text/utf8.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/** The text of a file in UTF-8, without its byte order mark; null where it is none. */
export function textOfFile(content: Uint8Array): string | null {
  try {
    const text = decodeUtf8(content);
    // No text of MQTT can hold it [MQTT-1.5.4-2], and texts of other encodings are full of it.
    if (text.includes('\0')) return null;
    return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  } catch {
    return null;
  }
}
