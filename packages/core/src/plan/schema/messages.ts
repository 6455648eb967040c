import { z } from 'zod';
import { MAX_INTERVAL_US } from '../limits.ts';
import { choice, duration, oneOrMore, plainText, strictMap } from './leaves.ts';
import { propertyTemplate } from './templates.ts';

/** Quality of service. */
export const qos = () => choice(['0', '1', '2']).prefault(0);

/** Whole seconds that fit into four bytes. */
export const interval = () =>
  duration({ max: MAX_INTERVAL_US, range: 'at most 4294967295s (136 years)' });

/** Name → one value, or several: a name may stand more than once [MQTT-3.1.3-10]. */
export const userProperties = () =>
  z
    .record(plainText(1_024), oneOrMore(propertyTemplate()))
    .prefault({})
    .describe('Name and value, a template; a list gives a name several values.');

/** Properties of a message, of its own or of a will (MQTT 5). */
export const messageProperties = {
  contentType: propertyTemplate().optional().describe('Content type, a template.'),
  responseTopic: propertyTemplate().optional().describe('Response topic, a template.'),
  correlationData: propertyTemplate()
    .optional()
    .describe('Correlation data: the UTF-8 of this template.'),
  payloadFormat: choice(['bytes', 'text'])
    .optional()
    .describe('What the payload says it is: `bytes`, or `text` in UTF-8.'),
  userProperties: userProperties(),
};

const properties = strictMap(messageProperties);
export type MessagePropertiesFile = z.output<typeof properties>;
