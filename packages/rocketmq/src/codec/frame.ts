import { decodeBinaryHeader, encodeBinaryHeader } from './binary-header.ts';
import { type RemotingCommand, Serialization } from './command.ts';
import type { FrameView } from './frame-framer.ts';
import { decodeJsonHeader, encodeJsonHeader } from './json-header.ts';

/** A whole frame of one command: for requests that are rare. */
export function encodeFrame(
  command: RemotingCommand,
  serialization: Serialization = Serialization.json,
): Buffer {
  const header =
    serialization === Serialization.json ? encodeJsonHeader(command) : encodeBinaryHeader(command);
  const head = Buffer.alloc(8);
  head.writeInt32BE(4 + header.length + command.body.length, 0);
  // Type byte and the header's length in 24 bits are one word.
  head.writeUInt32BE(((serialization << 24) | header.length) >>> 0, 4);
  return Buffer.concat([head, header, command.body]);
}

/**
 * A frame as a command, by its own type byte: an answer may be written otherwise than its request.
 * The body is copied, since the view's memory is used again.
 *
 * @throws RocketmqError HEADER
 */
export function decodeFrame(view: FrameView): RemotingCommand {
  const header = view.bytes.subarray(view.headerAt, view.bodyAt);
  const head =
    view.serialization === Serialization.json
      ? decodeJsonHeader(header)
      : decodeBinaryHeader(header);
  return { ...head, body: Buffer.from(view.bytes.subarray(view.bodyAt, view.end)) };
}
