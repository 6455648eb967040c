import { generate, type Packet as OraclePacket, parser } from 'mqtt-packet';
import type {
  Packet,
  Properties,
  ProtocolVersion,
  Subscription,
  Will,
} from '../../src/codec/index.ts';
import { PROTOCOL_MARKS } from '../../src/codec/protocol-version.ts';

/** Names that the oracle has of its own. */
const NAMES: Readonly<Record<string, string>> = {
  maximumQos: 'maximumQoS',
  subscriptionIdentifiers: 'subscriptionIdentifier',
  subscriptionIdentifierAvailable: 'subscriptionIdentifiersAvailable',
};

/** Our packet as the oracle reads it: what a version does not have, or what is empty, is not there. */
export function toOracle(packet: Packet, version: ProtocolVersion): object {
  const { reasonCode, returnCode, properties, granted, ...rest } = translate(packet);
  return {
    ...rest,
    ...(version !== '5' && returnCode !== undefined && { returnCode }),
    ...(version === '5' && reasonCode !== undefined && { reasonCode }),
    ...(version !== '5' && packet.type === 'unsuback' ? {} : { ...(granted && { granted }) }),
    ...(properties !== undefined && Object.keys(properties).length > 0 && { properties }),
  };
}

type OracleFields = Record<string, object | string | number | boolean | undefined>;

function translate(packet: Packet): OracleFields {
  const fields = 'packetId' in packet ? numbered(packet) : plain(packet);
  if (!('properties' in packet) || packet.properties === undefined) return fields;
  return { ...fields, properties: oracleProperties(packet.properties) };
}

function numbered(packet: Extract<Packet, { packetId: number }>): OracleFields {
  const common = { cmd: packet.type, messageId: packet.packetId };
  switch (packet.type) {
    case 'publish': {
      const { topic, qos, dup, retain } = packet;
      const payload = Buffer.from(packet.payload);
      return {
        ...common,
        topic,
        payload,
        qos,
        dup,
        retain,
        ...(qos === 0 && { messageId: undefined }),
      };
    }
    case 'puback':
    case 'pubrec':
    case 'pubrel':
    case 'pubcomp':
      return { ...common, reasonCode: packet.reasonCode };
    case 'subscribe':
      return { ...common, subscriptions: packet.subscriptions.map(oracleSubscription) };
    case 'unsubscribe':
      return { ...common, unsubscriptions: packet.filters };
    case 'suback':
    case 'unsuback':
      return { ...common, granted: packet.reasonCodes };
  }
}

function plain(packet: Exclude<Packet, { packetId: number }>): OracleFields {
  switch (packet.type) {
    case 'connect': {
      const mark = PROTOCOL_MARKS[packet.version];
      return {
        cmd: 'connect',
        protocolId: mark.name,
        protocolVersion: mark.level,
        clientId: packet.clientId,
        clean: packet.cleanStart,
        keepalive: packet.keepAliveS,
        ...(packet.username !== undefined && { username: packet.username }),
        ...(packet.password !== undefined && { password: Buffer.from(packet.password) }),
        ...(packet.will !== undefined && { will: oracleWill(packet.will) }),
      };
    }
    case 'connack': {
      const { sessionPresent, reasonCode } = packet;
      return { cmd: 'connack', sessionPresent, returnCode: reasonCode, reasonCode };
    }
    case 'pingreq':
    case 'pingresp':
      return { cmd: packet.type };
    case 'disconnect':
    case 'auth':
      return { cmd: packet.type, reasonCode: packet.reasonCode };
  }
}

function oracleSubscription(given: Subscription): object {
  const { filter, qos, noLocal, retainAsPublished, retainHandling } = given;
  if (retainHandling === undefined) return { topic: filter, qos };
  return { topic: filter, qos, nl: noLocal, rap: retainAsPublished, rh: retainHandling };
}

function oracleWill(will: Will): object {
  const { topic, payload, qos, retain, properties } = will;
  return {
    topic,
    payload: Buffer.from(payload),
    qos,
    retain,
    ...(Object.keys(properties ?? {}).length > 0 && {
      properties: oracleProperties(properties ?? {}),
    }),
  };
}

function oracleProperties(properties: Properties): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [
      NAMES[name] ?? name,
      oracleValue(name, value),
    ]),
  );
}

function oracleValue(name: string, value: unknown): unknown {
  if (name === 'userProperties') return oraclePairs(value as [string, string][]);
  if (name === 'payloadFormatIndicator') return value === 1;
  if (name === 'subscriptionIdentifiers') {
    const identifiers = value as number[];
    return identifiers.length === 1 ? identifiers[0] : identifiers;
  }
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}

/** An object: values of one name become a list, the order of names is lost. */
function oraclePairs(pairs: readonly (readonly [string, string])[]): object {
  const byName = new Map<string, string | string[]>();
  for (const [name, value] of pairs) {
    const known = byName.get(name);
    if (known === undefined) byName.set(name, value);
    else byName.set(name, [known, value].flat());
  }
  return Object.fromEntries(byName);
}

export function oracleEncodes(packet: Packet, version: ProtocolVersion): Buffer {
  return generate(translate(packet) as unknown as OraclePacket, {
    protocolVersion: PROTOCOL_MARKS[version].level,
  });
}

/** What the oracle reads; it must find exactly one packet and nothing behind it. */
export function oracleReads(bytes: Buffer, version: ProtocolVersion): OraclePacket {
  const found: OraclePacket[] = [];
  const reader = parser({ protocolVersion: PROTOCOL_MARKS[version].level });
  reader.on('packet', (packet) => found.push(packet));
  reader.on('error', (error: Error) => {
    throw error;
  });
  const rest = reader.parse(bytes);
  const [packet] = found;
  if (packet === undefined || found.length > 1 || rest !== 0) {
    throw new Error(`${found.length} packets and ${rest} bytes`);
  }
  return packet;
}
