/** Names of the reason codes of MQTT 5, as its section 2.4 has them, in lower case. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [0x00, 'success'],
  [0x01, 'granted QoS 1'],
  [0x02, 'granted QoS 2'],
  [0x04, 'disconnect with will message'],
  [0x10, 'no matching subscribers'],
  [0x11, 'no subscription existed'],
  [0x18, 'continue authentication'],
  [0x19, 're-authenticate'],
  [0x80, 'unspecified error'],
  [0x81, 'malformed packet'],
  [0x82, 'protocol error'],
  [0x83, 'implementation specific error'],
  [0x84, 'unsupported protocol version'],
  [0x85, 'client identifier not valid'],
  [0x86, 'bad user name or password'],
  [0x87, 'not authorized'],
  [0x88, 'server unavailable'],
  [0x89, 'server busy'],
  [0x8a, 'banned'],
  [0x8b, 'server shutting down'],
  [0x8c, 'bad authentication method'],
  [0x8d, 'keep alive timeout'],
  [0x8e, 'session taken over'],
  [0x8f, 'topic filter invalid'],
  [0x90, 'topic name invalid'],
  [0x91, 'packet identifier in use'],
  [0x92, 'packet identifier not found'],
  [0x93, 'receive maximum exceeded'],
  [0x94, 'topic alias invalid'],
  [0x95, 'packet too large'],
  [0x96, 'message rate too high'],
  [0x97, 'quota exceeded'],
  [0x98, 'administrative action'],
  [0x99, 'payload format invalid'],
  [0x9a, 'retain not supported'],
  [0x9b, 'QoS not supported'],
  [0x9c, 'use another server'],
  [0x9d, 'server moved'],
  [0x9e, 'shared subscriptions not supported'],
  [0x9f, 'connection rate exceeded'],
  [0xa0, 'maximum connect time'],
  [0xa1, 'subscription identifiers not supported'],
  [0xa2, 'wildcard subscriptions not supported'],
]);

/** Codes from here on are failures. */
export const FIRST_FAILURE_CODE = 0x80;

/** `not authorized (0x87)`; `reason code (0x42)` for a number that stands for nothing. */
export function reasonCodeName(code: number): string {
  const hex = code.toString(16).padStart(2, '0');
  return `${NAMES.get(code) ?? 'reason code'} (0x${hex})`;
}

/** All reason codes that are failures, by number. */
export const FAILURE_CODES: readonly number[] = [...NAMES.keys()].filter(
  (code) => code >= FIRST_FAILURE_CODE,
);

/** Packets of MQTT 5 that carry reason codes. */
export type ReasonCarrier =
  | 'connack'
  | 'puback'
  | 'pubrec'
  | 'pubrel'
  | 'pubcomp'
  | 'suback'
  | 'unsuback'
  | 'disconnect'
  | 'auth';

/** Codes below 0x80 that each packet may carry. */
const SUCCESSES: Readonly<Record<ReasonCarrier, readonly number[]>> = {
  connack: [0x00],
  puback: [0x00, 0x10],
  pubrec: [0x00, 0x10],
  pubrel: [0x00],
  pubcomp: [0x00],
  suback: [0x00, 0x01, 0x02],
  unsuback: [0x00, 0x11],
  disconnect: [0x00, 0x04],
  auth: [0x00, 0x18, 0x19],
};

/**
 * Whether a packet may carry a reason code. Failures that the specification gives to other packets
 * only are let through: a server that answers with one is told by its name rather than cut off.
 */
export function isReasonCodeOf(carrier: ReasonCarrier, code: number): boolean {
  if (code < FIRST_FAILURE_CODE) return SUCCESSES[carrier].includes(code);
  return carrier !== 'auth' && NAMES.has(code);
}
