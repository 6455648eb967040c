import type { PacketName } from '../packet-type.ts';
import type { Properties } from './properties.ts';

/** What a property section belongs to. */
export type PropertyCarrier = Exclude<PacketName, 'pingreq' | 'pingresp'> | 'will';

/** Names of the properties whose values are of a type. */
type NamesOf<Value> = {
  [Name in keyof Properties]-?: [NonNullable<Properties[Name]>] extends [Value] ? Name : never;
}[keyof Properties];

interface Placed {
  /** The identifier on the wire. */
  readonly id: number;
  readonly carriers: readonly PropertyCarrier[];
}

interface NumberProperty extends Placed {
  readonly kind: 'uint8' | 'uint16' | 'uint32';
  readonly name: NamesOf<number>;
  readonly min: number;
  readonly max: number;
}

interface FlagProperty extends Placed {
  readonly kind: 'flag';
  readonly name: NamesOf<boolean>;
}

interface TextProperty extends Placed {
  readonly kind: 'text';
  readonly name: NamesOf<string>;
}

interface BinaryProperty extends Placed {
  readonly kind: 'binary';
  readonly name: NamesOf<Uint8Array>;
}

interface IdentifiersProperty extends Placed {
  readonly kind: 'identifiers';
  readonly name: 'subscriptionIdentifiers';
}

interface PairsProperty extends Placed {
  readonly kind: 'pairs';
  readonly name: 'userProperties';
}

export type PropertyDefinition =
  | NumberProperty
  | FlagProperty
  | TextProperty
  | BinaryProperty
  | IdentifiersProperty
  | PairsProperty;

const UINT32_MAX = 0xffff_ffff;
/** Bounds of numbers: which of them may be 0 is the specification's word on each property. */
const ANY_UINT32 = { kind: 'uint32', min: 0, max: UINT32_MAX } as const;
const ANY_UINT16 = { kind: 'uint16', min: 0, max: 65_535 } as const;
const POSITIVE_UINT16 = { kind: 'uint16', min: 1, max: 65_535 } as const;
const BIT = { kind: 'uint8', min: 0, max: 1 } as const;

const MESSAGE: readonly PropertyCarrier[] = ['publish', 'will'];
const AUTHENTICATING: readonly PropertyCarrier[] = ['connect', 'connack', 'auth'];
const HANDSHAKE: readonly PropertyCarrier[] = ['connect', 'connack'];
const ANSWER: readonly PropertyCarrier[] = [
  'connack',
  'puback',
  'pubrec',
  'pubrel',
  'pubcomp',
  'suback',
  'unsuback',
  'disconnect',
  'auth',
];
const EVERYWHERE: readonly PropertyCarrier[] = [
  ...ANSWER,
  'connect',
  'will',
  'publish',
  'subscribe',
  'unsubscribe',
];

/** All properties of MQTT 5 [MQTT-2.2.2.2, table 2-4], by identifier. */
export const PROPERTY_TABLE: readonly PropertyDefinition[] = [
  { id: 0x01, name: 'payloadFormatIndicator', ...BIT, carriers: MESSAGE },
  { id: 0x02, name: 'messageExpiryInterval', ...ANY_UINT32, carriers: MESSAGE },
  { id: 0x03, name: 'contentType', kind: 'text', carriers: MESSAGE },
  { id: 0x08, name: 'responseTopic', kind: 'text', carriers: MESSAGE },
  { id: 0x09, name: 'correlationData', kind: 'binary', carriers: MESSAGE },
  {
    id: 0x0b,
    name: 'subscriptionIdentifiers',
    kind: 'identifiers',
    carriers: ['publish', 'subscribe'],
  },
  {
    id: 0x11,
    name: 'sessionExpiryInterval',
    ...ANY_UINT32,
    carriers: [...HANDSHAKE, 'disconnect'],
  },
  { id: 0x12, name: 'assignedClientIdentifier', kind: 'text', carriers: ['connack'] },
  { id: 0x13, name: 'serverKeepAlive', ...ANY_UINT16, carriers: ['connack'] },
  { id: 0x15, name: 'authenticationMethod', kind: 'text', carriers: AUTHENTICATING },
  { id: 0x16, name: 'authenticationData', kind: 'binary', carriers: AUTHENTICATING },
  { id: 0x17, name: 'requestProblemInformation', kind: 'flag', carriers: ['connect'] },
  { id: 0x18, name: 'willDelayInterval', ...ANY_UINT32, carriers: ['will'] },
  { id: 0x19, name: 'requestResponseInformation', kind: 'flag', carriers: ['connect'] },
  { id: 0x1a, name: 'responseInformation', kind: 'text', carriers: ['connack'] },
  { id: 0x1c, name: 'serverReference', kind: 'text', carriers: ['connack', 'disconnect'] },
  { id: 0x1f, name: 'reasonString', kind: 'text', carriers: ANSWER },
  { id: 0x21, name: 'receiveMaximum', ...POSITIVE_UINT16, carriers: HANDSHAKE },
  { id: 0x22, name: 'topicAliasMaximum', ...ANY_UINT16, carriers: HANDSHAKE },
  { id: 0x23, name: 'topicAlias', ...POSITIVE_UINT16, carriers: ['publish'] },
  { id: 0x24, name: 'maximumQos', ...BIT, carriers: ['connack'] },
  { id: 0x25, name: 'retainAvailable', kind: 'flag', carriers: ['connack'] },
  { id: 0x26, name: 'userProperties', kind: 'pairs', carriers: EVERYWHERE },
  {
    id: 0x27,
    name: 'maximumPacketSize',
    kind: 'uint32',
    min: 1,
    max: UINT32_MAX,
    carriers: HANDSHAKE,
  },
  { id: 0x28, name: 'wildcardSubscriptionAvailable', kind: 'flag', carriers: ['connack'] },
  { id: 0x29, name: 'subscriptionIdentifierAvailable', kind: 'flag', carriers: ['connack'] },
  { id: 0x2a, name: 'sharedSubscriptionAvailable', kind: 'flag', carriers: ['connack'] },
];

/** What may stand in `carrier`, in the order of the identifiers. */
export function propertiesOf(carrier: PropertyCarrier): readonly PropertyDefinition[] {
  return PROPERTY_TABLE.filter((definition) => definition.carriers.includes(carrier));
}
