import { z } from 'zod';
import { isFault, parseBrokerUrl } from '../broker-url.ts';
import type { BrokerUrl } from '../plan.ts';
import { notSupported } from '../problem.ts';
import { addFault, choice, count, flag, notYet, plainText, strictMap } from './leaves.ts';

const tls = strictMap({
  ca: plainText().optional().describe('File with the certificates to trust.'),
  cert: plainText().optional().describe('File with the client certificate; a template.'),
  key: plainText().optional().describe('File with its key; a template.'),
  servername: plainText().optional().describe('Name that the certificate must bear (SNI).'),
  verify: flag().prefault(true).describe('Whether the server’s certificate is checked.'),
});

const brokerUrl = z
  .string()
  .transform((text, context): BrokerUrl => {
    const url = parseBrokerUrl(text);
    return isFault(url) ? addFault(context, url) : url;
  })
  .meta({ type: 'string', 'x-example': 'mqtt://127.0.0.1:1883' });

const mqttTarget = strictMap({
  protocol: z.literal('mqtt').describe('The protocol of the brokers.'),
  urls: z
    .array(brokerUrl)
    .min(1)
    .superRefine((urls, context) => {
      if (urls.length < 2) return;
      addFault(context, {
        message: notSupported('several urls of a target are'),
        code: 'SQ_UNSUPPORTED',
        hint: 'write one target an address',
        atKey: true,
      });
    })
    .describe(
      'Addresses, `mqtt://host:port` (port 1883 where it is left out). `mqtts://`, `ws://`, `wss://` and more than one address are not supported by this version.',
    ),
  version: choice(['3.1', '3.1.1', '5'], { '3.1': 'MQTT 3.1 is', '5': 'MQTT 5 is' })
    .prefault('3.1.1')
    .describe('MQTT version. This version of Squall speaks 3.1.1.'),
  tls: notYet(tls, 'tls is').optional().describe('TLS of the connections.'),
  spread: notYet(choice(['round-robin', 'blocks', 'first']), 'spread is')
    .optional()
    .describe('How clients are spread over several addresses.'),
});

const rocketmqTarget = notYet(
  strictMap({
    protocol: z.literal('rocketmq').describe('The protocol of the brokers.'),
    nameServers: z.array(plainText()).min(1).describe('Addresses of the name servers, host:port.'),
    acl: strictMap({
      accessKey: plainText().describe('Access key.'),
      secretKey: plainText().describe('Secret key; write it as {{env.NAME}}.'),
    })
      .optional()
      .describe('Credentials.'),
    tls: tls.optional().describe('TLS of the connections.'),
    namespace: plainText().optional().describe('Namespace of topics and groups.'),
    connections: count({ min: 1, max: 1_024, range: '1 to 1024' })
      .prefault(1)
      .describe('Connections a worker and broker; all senders of a worker share them.'),
  }),
  'protocol rocketmq is',
);

export const target = z.discriminatedUnion('protocol', [mqttTarget, rocketmqTarget], {
  error: 'protocol is mqtt or rocketmq',
});
