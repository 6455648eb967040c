/** The versions of MQTT that are spoken here. */
export type ProtocolVersion = '3.1' | '3.1.1' | '5';

export interface ProtocolMark {
  readonly name: string;
  readonly level: number;
}

/** Protocol name and level of CONNECT [MQTT-3.1.2-1, 3.1.2-2; 3.1: section 3.1]. */
export const PROTOCOL_MARKS: Readonly<Record<ProtocolVersion, ProtocolMark>> = {
  '3.1': { name: 'MQIsdp', level: 3 },
  '3.1.1': { name: 'MQTT', level: 4 },
  '5': { name: 'MQTT', level: 5 },
};
