import fc from 'fast-check';
import type { Packet, Properties, ProtocolVersion } from '../../src/codec/index.ts';
import {
  PROPERTY_TABLE,
  type PropertyCarrier,
  type PropertyDefinition,
} from '../../src/codec/properties/property-table.ts';
import { FAILURE_CODES } from '../../src/codec/reason-code.ts';

export const VERSIONS: readonly ProtocolVersion[] = ['3.1', '3.1.1', '5'];

const text = fc.string({ unit: 'binary', maxLength: 60 }).filter((s) => !s.includes('\0'));
const topic = text.filter((s) => s !== '' && !/[#+]/.test(s));
const filter = text.filter((s) => s !== '' && !s.startsWith('$share/'));
const bytes = fc.uint8Array({ maxLength: 200 });
const packetId = fc.integer({ min: 1, max: 65_535 });
const qos = fc.constantFrom(0 as const, 1 as const, 2 as const);
/** The oracle keeps pairs in an object, and forgets an empty value when its name comes again. */
const pairs = fc.array(
  fc.tuple(
    text.filter((s) => s !== '__proto__'),
    text.filter((s) => s !== ''),
  ),
  { minLength: 1, maxLength: 5 },
);

function valueOf(definition: PropertyDefinition, carrier: PropertyCarrier): fc.Arbitrary<unknown> {
  switch (definition.kind) {
    case 'uint8':
    case 'uint16':
    case 'uint32':
      return fc.integer({ min: definition.min, max: definition.max });
    case 'flag':
      return fc.boolean();
    case 'text':
      return definition.name === 'responseTopic' ? topic : text;
    case 'binary':
      return bytes;
    case 'identifiers': {
      const identifier = fc.integer({ min: 1, max: 268_435_455 });
      return fc.array(identifier, { minLength: 1, maxLength: carrier === 'publish' ? 3 : 1 });
    }
    case 'pairs':
      return pairs;
  }
}

/** Any set of the properties that a packet may carry. */
function properties(carrier: PropertyCarrier): fc.Arbitrary<Properties> {
  const allowed = PROPERTY_TABLE.filter(({ carriers }) => carriers.includes(carrier));
  const model = Object.fromEntries(
    allowed.map((definition) => [definition.name, valueOf(definition, carrier)]),
  );
  return fc.record(model, { requiredKeys: [] }).map((each): Properties => {
    const { authenticationMethod, authenticationData, ...rest } = each as Properties;
    if (authenticationMethod === undefined) return rest;
    return {
      ...rest,
      authenticationMethod,
      ...(authenticationData !== undefined && { authenticationData }),
    };
  });
}

function withProperties<T extends object>(
  version: ProtocolVersion,
  carrier: PropertyCarrier,
  model: fc.Arbitrary<T>,
): fc.Arbitrary<T & { properties?: Properties }> {
  if (version !== '5') return model;
  return fc.tuple(model, properties(carrier)).map(([each, set]) => ({ ...each, properties: set }));
}

function connect(version: ProtocolVersion): fc.Arbitrary<Packet> {
  const will = withProperties(
    version,
    'will',
    fc.record({ topic, payload: bytes.filter((b) => b.length > 0), qos, retain: fc.boolean() }),
  );
  const model = fc.record({
    type: fc.constant('connect' as const),
    version: fc.constant(version),
    clientId: version === '5' ? text : text.filter((s) => s !== ''),
    cleanStart: fc.boolean(),
    keepAliveS: fc.integer({ min: 0, max: 65_535 }),
    username: fc.option(text, { nil: undefined }),
    password: fc.option(bytes, { nil: undefined }),
    will: fc.option(will, { nil: undefined }),
  });
  return withProperties(version, 'connect', model).map((each) => {
    const { username, password, will: last, ...rest } = each;
    const passwordToo = password !== undefined && (version === '5' || username !== undefined);
    return {
      ...rest,
      ...(username !== undefined && { username }),
      ...(passwordToo && { password }),
      ...(last !== undefined && { will: last }),
    };
  });
}

function connack(version: ProtocolVersion): fc.Arbitrary<Packet> {
  const model = fc
    .record({
      type: fc.constant('connack' as const),
      sessionPresent: fc.boolean(),
      reasonCode: version === '5' ? reason([0], CONNACK_FAILURES) : fc.integer({ min: 0, max: 5 }),
    })
    .map((each) => ({
      ...each,
      sessionPresent: each.sessionPresent && each.reasonCode === 0 && version !== '3.1',
    }));
  return withProperties(version, 'connack', model);
}

function publish(version: ProtocolVersion): fc.Arbitrary<Packet> {
  const model = fc
    .record({
      type: fc.constant('publish' as const),
      topic,
      payload: fc.uint8Array({ maxLength: 5_000 }),
      qos,
      dup: fc.boolean(),
      retain: fc.boolean(),
      packetId,
    })
    .map((each) => ({
      ...each,
      dup: each.dup && each.qos > 0,
      packetId: each.qos > 0 ? each.packetId : 0,
    }));
  return withProperties(version, 'publish', model);
}

function ack(
  version: ProtocolVersion,
  type: 'puback' | 'pubrec' | 'pubrel' | 'pubcomp',
): fc.Arbitrary<Packet> {
  const codes =
    type === 'puback' || type === 'pubrec'
      ? reason([0, 0x10], PUBACK_FAILURES)
      : reason([0], [0x92]);
  const model = fc.record({
    type: fc.constant(type),
    packetId,
    reasonCode: version === '5' ? codes : fc.constant(0),
  });
  return withProperties(version, type, model);
}

function subscribe(version: ProtocolVersion): fc.Arbitrary<Packet> {
  const plain = fc.record({ filter, qos });
  const full = fc.record({
    filter,
    qos,
    noLocal: fc.boolean(),
    retainAsPublished: fc.boolean(),
    retainHandling: qos,
  });
  const model = fc.record({
    type: fc.constant('subscribe' as const),
    packetId,
    subscriptions: fc.array(version === '5' ? full : plain, { minLength: 1, maxLength: 8 }),
  });
  return withProperties(version, 'subscribe', model);
}

function suback(version: ProtocolVersion): fc.Arbitrary<Packet> {
  const code = version === '5' ? reason([0, 1, 2], SUBACK_FAILURES) : reason([0, 1, 2], [0x80]);
  const model = fc.record({
    type: fc.constant('suback' as const),
    packetId,
    reasonCodes: fc.array(code, { minLength: 1, maxLength: 8 }),
  });
  return withProperties(version, 'suback', model);
}

function unsubscribe(version: ProtocolVersion): fc.Arbitrary<Packet> {
  const model = fc.record({
    type: fc.constant('unsubscribe' as const),
    packetId,
    filters: fc.array(filter, { minLength: 1, maxLength: 8 }),
  });
  return withProperties(version, 'unsubscribe', model);
}

function unsuback(version: ProtocolVersion): fc.Arbitrary<Packet> {
  const code = reason([0, 0x11], [0x80, 0x83, 0x87, 0x8f, 0x91]);
  const model = fc.record({
    type: fc.constant('unsuback' as const),
    packetId,
    reasonCodes: version === '5' ? fc.array(code, { minLength: 1, maxLength: 8 }) : fc.constant([]),
  });
  return withProperties(version, 'unsuback', model);
}

function ending(version: ProtocolVersion): fc.Arbitrary<Packet> {
  const disconnect = fc.record({
    type: fc.constant('disconnect' as const),
    reasonCode: version === '5' ? reason([0, 4], DISCONNECT_FAILURES) : fc.constant(0),
  });
  if (version !== '5') return disconnect;
  const auth = fc.record({
    type: fc.constant('auth' as const),
    reasonCode: fc.constantFrom(0, 0x18, 0x19),
  });
  return fc.oneof(
    withProperties(version, 'disconnect', disconnect),
    withProperties(version, 'auth', auth),
  );
}

/** Any packet of a version, as a client or a server may send it. */
export function anyPacket(version: ProtocolVersion): fc.Arbitrary<Packet> {
  return fc.oneof(
    connect(version),
    connack(version),
    publish(version),
    ack(version, 'puback'),
    ack(version, 'pubrec'),
    ack(version, 'pubrel'),
    ack(version, 'pubcomp'),
    subscribe(version),
    suback(version),
    unsubscribe(version),
    unsuback(version),
    fc.constantFrom<Packet>({ type: 'pingreq' }, { type: 'pingresp' }),
    ending(version),
  );
}

const PUBACK_FAILURES = [0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99];
const SUBACK_FAILURES = [0x80, 0x83, 0x87, 0x8f, 0x91, 0x97, 0x9e, 0xa1, 0xa2];
const CONNACK_FAILURES = FAILURE_CODES.filter(
  (code) =>
    code <= 0x8a || [0x8c, 0x90, 0x95, 0x97, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9f].includes(code),
);
const DISCONNECT_FAILURES = [
  0x80, 0x81, 0x82, 0x83, 0x87, 0x89, 0x8b, 0x8d, 0x8e, 0x8f, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97,
  0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0, 0xa1, 0xa2,
];

function reason(good: readonly number[], bad: readonly number[]): fc.Arbitrary<number> {
  return fc.constantFrom(...good, ...bad);
}
