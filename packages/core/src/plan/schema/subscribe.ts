import { z } from 'zod';
import { choice, count, duration, flag, name, oneOrMore, strictMap } from './leaves.ts';
import { qos } from './messages.ts';
import { payload } from './payloads.ts';
import { clientTopicTemplate, filterTemplate, shareTemplate } from './templates.ts';

const options = strictMap({
  noLocal: flag().prefault(false).describe('A client gets none of its own messages.'),
  retainAsPublished: flag()
    .prefault(false)
    .describe('Messages keep the RETAIN flag that they were published with.'),
  retainHandling: choice(['0', '1', '2'])
    .prefault(0)
    .describe('When retained messages come: 0 always, 1 for a new subscription only, 2 never.'),
  identifier: z
    .union([count({ min: 1, max: 268_435_455, range: '1 to 268435455, or true' }), flag()])
    .meta({ 'x-unit': 'count or `true`' })
    .optional()
    .describe('Subscription identifier; `true`: the number of the entry in its group, from 1.'),
});

export const subscribe = strictMap({
  name: name().optional().describe('Name of the entry; needed in a list of several.'),
  topic: oneOrMore(filterTemplate()).describe('One or several topic filters, templates.'),
  qos: qos().describe('QoS asked for.'),
  share: shareTemplate()
    .optional()
    .describe(
      'Group of a shared subscription, a template: each message goes to one of its members.',
    ),
  options: options.optional().describe('Options of the subscription (MQTT 5).'),
});

export const respond = strictMap({
  name: name().optional().describe('Name of the entry; needed in a list of several.'),
  topic: oneOrMore(filterTemplate()).describe('Topic filters of the requests, templates.'),
  qos: qos().describe('QoS of that subscription and of the answers.'),
  to: clientTopicTemplate()
    .optional()
    .describe(
      'Topic of the answers, a template; by default the response topic of the request (MQTT 5).',
    ),
  payload: payload
    .optional()
    .describe('Payload of the answers; by default that of the request goes back.'),
  delay: duration().prefault('0s').describe('How long a client thinks before it answers.'),
});
