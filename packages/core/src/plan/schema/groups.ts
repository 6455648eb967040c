import { z } from 'zod';
import { MAX_CLIENTS } from '../../schedule/index.ts';
import { MAX_IN_FLIGHT } from '../limits.ts';
import {
  choice,
  count,
  duration,
  flag,
  name,
  notYet,
  oneOrMore,
  plainText,
  rate,
  rateOrMax,
  size,
  someDuration,
  strictMap,
} from './leaves.ts';
import { filterTemplate, identityTemplate, topicTemplate } from './templates.ts';

const qos = () => choice(['0', '1', '2'], { '2': 'QoS 2 is' }).prefault(0);
const properties = () => z.record(z.string(), z.unknown());

const clients = z.union([
  count({ min: 1, max: MAX_CLIENTS, range: `1 to ${MAX_CLIENTS} clients` }),
  strictMap({
    count: count({ min: 1, max: MAX_CLIENTS, range: `1 to ${MAX_CLIENTS} clients` }).describe(
      'Clients over all agents.',
    ),
    scale: flag().prefault(true).describe('`false`: `--scale` leaves the count alone.'),
  }),
]);

const will = strictMap({
  topic: topicTemplate().describe('Topic of the will.'),
  payload: z.union([size(), plainText()]).describe('Payload of the will.'),
  qos: qos().describe('QoS of the will.'),
  retain: flag().prefault(false).describe('Whether the broker keeps the will as retained message.'),
  delay: duration().optional().describe('How long the broker waits before it sends the will.'),
});

const connect = strictMap({
  rate: rate().optional().describe('Connects a second over the whole group; 1000/s by default.'),
  over: someDuration()
    .optional()
    .describe('In place of `rate`: the time over which all clients connect.'),
  keepAlive: duration({ max: 65_535_000_000, range: '0s (off) to 65535s [MQTT-3.1.2.10]' })
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
  sessionExpiry: notYet(duration(), 'sessionExpiry is')
    .optional()
    .describe('How long the broker keeps the session (MQTT 5).'),
  will: notYet(will, 'a will is')
    .optional()
    .describe('Message that the broker sends for a client that is lost.'),
  properties: notYet(properties(), 'connect properties are')
    .optional()
    .describe('Properties of CONNECT (MQTT 5).'),
});

const payload = z.union([
  size(),
  strictMap({
    size: size().optional().describe('That many bytes, made up.'),
    text: plainText(1_048_576).optional().describe('This text, as it is (UTF-8).'),
    hex: plainText(2_097_152).optional().describe('These bytes, two hexadecimal digits each.'),
    template: notYet(plainText(), 'template payloads are')
      .optional()
      .describe('Text rendered for each message.'),
    file: notYet(plainText(), 'file payloads are').optional().describe('The bytes of a file.'),
    json: notYet(z.unknown(), 'json payloads are').optional().describe('JSON with templates.'),
  }),
]);

const publish = strictMap({
  name: name().optional().describe('Name of the stream; needed in a list of several.'),
  topic: z
    .union([topicTemplate(), notYet(z.array(topicTemplate()).min(1), 'a list of topics is')])
    .describe('Topic, a template. A list of topics is not supported by this version.'),
  qos: qos().describe('QoS 0 or 1. QoS 2 is not supported by this version.'),
  retain: flag().prefault(false).describe('Sets the RETAIN flag.'),
  payload: payload.describe(
    'A size, or a map with one of `size`, `text`, `hex`. Made-up payloads carry the stamp (40 bytes) by which delivery is measured and verified; `text` and `hex` are sent as they are.',
  ),
  every: someDuration().optional().describe('Each client sends one message in this time.'),
  rate: rateOrMax()
    .optional()
    .describe('Messages a second over the whole group, or `max`: as fast as the window lets it.'),
  arrivals: choice(['even', 'poisson'], { poisson: 'arrivals: poisson is' })
    .prefault('even')
    .describe('How due times are spread.'),
  inflight: count({ min: 1, max: MAX_IN_FLIGHT, range: `1 to ${MAX_IN_FLIGHT}` })
    .optional()
    .describe('Unacknowledged messages a client; by default 32, with `rate: max` 1.'),
  ackTimeout: someDuration().prefault('30s').describe('After it a message counts as failed.'),
  count: count({ min: 1, max: Number.MAX_SAFE_INTEGER, range: 'at least 1' })
    .optional()
    .describe('Exact number of messages over the whole group, in each stage that runs the stream.'),
  verify: choice(['on', 'off', 'true', 'false'])
    .optional()
    .describe(
      'Whether payloads carry the stamp: `on` for made-up payloads, which must then have 40 bytes, `off` for all others.',
    ),
  properties: notYet(properties(), 'publish properties are')
    .optional()
    .describe('Properties of PUBLISH (MQTT 5).'),
  topicAlias: notYet(z.unknown(), 'topicAlias is').optional().describe('Topic aliases (MQTT 5).'),
  expiry: notYet(duration(), 'expiry is').optional().describe('Expiry of messages (MQTT 5).'),
});

const subscribe = strictMap({
  name: name().optional().describe('Name of the entry; needed in a list of several.'),
  topic: oneOrMore(filterTemplate()).describe('One or several topic filters, templates.'),
  qos: qos().describe('QoS asked for, 0 or 1. QoS 2 is not supported by this version.'),
  share: notYet(plainText(), 'share is').optional().describe('Group of a shared subscription.'),
  options: notYet(
    strictMap({
      noLocal: flag().optional().describe('No own messages.'),
      retainAsPublished: flag().optional().describe('Keep the RETAIN flag.'),
      retainHandling: choice(['0', '1', '2']).optional().describe('When retained messages come.'),
    }),
    'subscription options are',
  )
    .optional()
    .describe('Options of the subscription (MQTT 5).'),
});

const consume = strictMap({
  name: name().optional().describe('Name of the entry; needed in a list of several.'),
  topic: plainText().describe('Topic.'),
  group: plainText().describe('Consumer group.'),
  tags: oneOrMore(plainText()).optional().describe('Tags to take.'),
  sql: plainText().optional().describe('SQL filter.'),
  from: choice(['first', 'last', 'committed']).optional().describe('Where to begin.'),
  batch: count().optional().describe('Messages a pull.'),
  ordering: choice(['concurrent', 'orderly']).optional().describe('Order of consumption.'),
  broadcast: flag().optional().describe('Every consumer gets every message.'),
});

export const group = strictMap({
  target: name().describe('Name of the target.'),
  clients: clients.describe('Virtual clients over all agents.'),
  clientId: identityTemplate()
    .prefault('{{run}}-{{group}}-{{n}}')
    .describe('Client id, a template; it must differ for each client of a target.'),
  username: identityTemplate().optional().describe('User name, a template.'),
  password: identityTemplate()
    .optional()
    .describe('Password, a template; write it as {{env.NAME}} to keep it out of reports.'),
  from: notYet(plainText(), 'from: (clients from a CSV file) is')
    .optional()
    .describe('CSV file with one row a client.'),
  sourceAddresses: notYet(z.array(plainText()), 'sourceAddresses are')
    .optional()
    .describe('Local addresses to connect from.'),
  connect: connect.prefault({}).describe('How clients connect.'),
  publish: oneOrMore(publish)
    .optional()
    .describe('What clients publish: one stream, or a list of named ones.'),
  subscribe: oneOrMore(subscribe)
    .optional()
    .describe('What clients subscribe to: one entry, or a list of named ones.'),
  consume: notYet(oneOrMore(consume), 'consume is')
    .optional()
    .describe('What clients consume (RocketMQ).'),
});
