/** UTF-8 text with a two-byte length before it [MQTT-1.5.3]. */
const TEXT_BYTES_MAX = 65_535;

/** Size on the wire. Throws a RangeError, naming the field, for text that cannot travel. */
export function fieldSize(name: string, text: string): number {
  const length = Buffer.byteLength(text);
  if (length > TEXT_BYTES_MAX) {
    throw new RangeError(`a ${name} has at most ${TEXT_BYTES_MAX} bytes, this one ${length}`);
  }
  if (text.includes('\0')) throw new RangeError(`a ${name} holds no NUL [MQTT-1.5.3-2]`);
  return length + 2;
}

/** Writes the field and gives the position behind it. */
export function writeField(bytes: Buffer, at: number, text: string): number {
  const length = bytes.write(text, at + 2);
  bytes.writeUInt16BE(length, at);
  return at + 2 + length;
}
