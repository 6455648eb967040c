import { z } from 'zod';
import { choice, count, duration, flag, rate, size, someDuration, strictMap } from './leaves.ts';
import { interval, messageProperties, qos, userProperties } from './messages.ts';
import { payload } from './payloads.ts';
import { clientTopicTemplate } from './templates.ts';

const U16 = { max: 65_535, range: '0 to 65535' };

const will = strictMap({
  topic: clientTopicTemplate().describe('Topic of the will, a template.'),
  payload: payload
    .optional()
    .describe('Payload of the will, as that of a message; nothing by default.'),
  qos: qos().describe('QoS of the will.'),
  retain: flag().prefault(false).describe('Whether the broker keeps the will as retained message.'),
  delay: interval()
    .optional()
    .describe('How long the broker waits before it sends the will (MQTT 5).'),
  expiry: interval().optional().describe('Expiry of the will once it is sent (MQTT 5).'),
  properties: strictMap(messageProperties).optional().describe('Properties of the will (MQTT 5).'),
});

const connectProperties = strictMap({
  receiveMaximum: count({ ...U16, min: 1, range: '1 to 65535' })
    .optional()
    .describe('Messages that the broker may have in flight towards a client.'),
  maximumPacketSize: size().optional().describe('Largest packet that a client takes.'),
  topicAliasMaximum: count(U16)
    .optional()
    .describe('Topic aliases that the broker may use towards a client.'),
  requestResponseInformation: flag().optional().describe('Ask for response information.'),
  requestProblemInformation: flag().optional().describe('Ask for reason texts.'),
  userProperties: userProperties(),
});

const auth = strictMap({
  method: choice(['SCRAM-SHA-256']).describe('Method; `SCRAM-SHA-256` is there.'),
});

const sessionExpiry = z
  .union([z.literal('never'), interval()])
  .meta({ 'x-unit': 'duration or `never`' });

export const connect = strictMap({
  rate: rate().optional().describe('Connects a second over the whole group; 1000/s by default.'),
  over: someDuration()
    .optional()
    .describe('In place of `rate`: the time over which all clients connect.'),
  keepAlive: duration({
    max: 65_535_000_000,
    range: '0s (off) to 65535s [MQTT-3.1.2.10]',
  })
    .prefault('60s')
    .describe('Keep-alive, whole seconds; `0s` switches it off.'),
  cleanStart: flag()
    .prefault(true)
    .describe('Begin with a clean session; `false` needs client ids that stay the same.'),
  timeout: someDuration().prefault('10s').describe('From the start of the TCP connect to CONNACK.'),
  retries: count({ max: 1_000, range: '0 to 1000' })
    .prefault(3)
    .describe('Further attempts after a failed one, before the client counts as failed.'),
  backoff: strictMap({
    min: someDuration().prefault('1s').describe('Pause after the first failure; it doubles.'),
    max: someDuration().prefault('8s').describe('Longest pause.'),
  })
    .prefault({})
    .describe('Pauses between attempts.'),
  sessionExpiry: sessionExpiry
    .optional()
    .describe(
      'How long the broker keeps the session after the connection (MQTT 5); `0s` by default, with `cleanStart: false` `never`.',
    ),
  will: will.optional().describe('Message that the broker sends for a client that is lost.'),
  properties: connectProperties.optional().describe('Properties of CONNECT (MQTT 5).'),
  auth: auth
    .optional()
    .describe('Enhanced authentication by `username` and `password` of the group (MQTT 5).'),
});

export type ConnectFile = z.output<typeof connect>;
