/** How every reason of WebSocket begins. */
const WEBSOCKET = 'WebSocket: ';

/** Why an upgrade came to nothing (RFC 6455, 4.1). */
export const UPGRADE_REASONS = {
  closed: 'WebSocket: closed by the peer during the upgrade: does the port speak WebSocket?',
  notHttp: 'WebSocket: the port does not speak HTTP',
  tooLong: 'WebSocket: answer to the upgrade above 16 KiB',
  noUpgrade: 'WebSocket: answer 101 without Upgrade: websocket and Connection: Upgrade',
  wrongAccept: 'WebSocket: wrong Sec-WebSocket-Accept',
  extension: 'WebSocket: broker chose an extension that was not offered',
  subprotocol: 'WebSocket: broker did not choose the sub-protocol [MQTT-6.0.0-4]',
} as const;

export function httpRefusal(status: number): string {
  return `${WEBSOCKET}refused with HTTP ${status}`;
}

export function malformedFrame(why: string): string {
  return `${WEBSOCKET}malformed frame: ${why}`;
}

/** Names of close codes (RFC 6455, 7.4.1). */
const CLOSE_CODES: ReadonlyMap<number, string> = new Map([
  [1002, 'protocol error'],
  [1003, 'unsupported data'],
  [1007, 'invalid payload'],
  [1008, 'policy violation'],
  [1009, 'message too big'],
  [1010, 'missing extension'],
  [1011, 'internal error'],
  [1012, 'service restart'],
  [1013, 'try again later'],
]);

/** Null for those that say no more than the end of the connection: 1000, 1001, none. */
export function closeReason(code: number): string | null {
  if (code === 0 || code === 1000 || code === 1001) return null;
  const name = CLOSE_CODES.get(code);
  return `${WEBSOCKET}closed by broker with code ${code}${name === undefined ? '' : ` (${name})`}`;
}
