import { z } from 'zod';
import { isFault, parseBrokerUrl } from '../broker-url.ts';
import type { BrokerUrl } from '../plan.ts';
import { MAX_ALPN, MAX_URLS } from '../limits.ts';
import { addFault, choice, count, flag, plainText, strictMap } from './leaves.ts';
import { clientTemplate, fileTemplate } from './templates.ts';

const tls = strictMap({
  ca: fileTemplate()
    .optional()
    .describe('File (PEM) with the certificates to trust; by default those that Node.js trusts.'),
  cert: fileTemplate()
    .optional()
    .describe(
      'File (PEM) with the client certificate and its chain; a template gives each client its own, such as `certs/{{n}}.pem` or `{{csv.cert}}`.',
    ),
  key: fileTemplate().optional().describe('File (PEM) with its key; a template likewise.'),
  servername: plainText(255)
    .optional()
    .describe(
      'Name that is sent as SNI and must stand in the certificate; by default the host of the address.',
    ),
  verify: flag().prefault(true).describe('Whether the broker’s certificate is checked.'),
  minVersion: choice(['TLSv1.2', 'TLSv1.3'])
    .optional()
    .describe('The least version of TLS; by default what Node.js takes.'),
  alpn: z
    .array(plainText(255).min(1))
    .max(MAX_ALPN)
    .optional()
    .describe('Protocols offered by ALPN, e.g. `mqtt` or `x-amzn-mqtt-ca`.'),
  resume: flag()
    .prefault(true)
    .describe('Whether a client that connects again resumes its TLS session.'),
});

const ws = strictMap({
  headers: z
    .record(z.string(), clientTemplate())
    .superRefine((headers, context) => {
      for (const name of Object.keys(headers)) checkHeaderName(name, context);
    })
    .prefault({})
    .describe(
      'Headers of the upgrade request; their values are templates, rendered once a client.',
    ),
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
    .max(MAX_URLS)
    .describe(
      'Addresses: `mqtt://host:port` (1883 where it is left out), `mqtts://` (TLS, 8883), `ws://host:port/path` (WebSocket, 80, `/mqtt`) and `wss://` (443). All of them must be one cluster, which passes messages on between them; independent brokers are targets of their own. `quic://` is not supported: Node.js does not speak it.',
    ),
  version: choice(['3.1', '3.1.1', '5'])
    .prefault('3.1.1')
    .describe('MQTT version that the clients speak.'),
  tls: tls.optional().describe('TLS of `mqtts://` and `wss://` addresses.'),
  ws: ws.optional().describe('WebSocket of `ws://` and `wss://` addresses.'),
  spread: choice(['round-robin', 'blocks', 'first'])
    .prefault('round-robin')
    .describe(
      'How clients go over several addresses: one after the other by index, in contiguous blocks of equal size, or all to the first; there, a client whose attempt fails goes on to the next.',
    ),
});

export const nameServer = z
  .string()
  .superRefine((text, context) => {
    const port = Number(
      /^[^\s:/;,]+:(\d{1,5})$/.exec(text)?.[1] ?? /^\[[0-9a-fA-F:]+\]:(\d{1,5})$/.exec(text)?.[1],
    );
    if (port >= 1 && port <= 65_535) return;
    addFault(context, {
      message: `"${text.slice(0, 80)}" is no address of a name server`,
      hint: 'write host:port, such as 127.0.0.1:9876; several as a list',
    });
  })
  .meta({ 'x-example': '127.0.0.1:9876' });

const rocketmqTarget = strictMap({
  protocol: z.literal('rocketmq').describe('The protocol of the brokers.'),
  nameServers: z
    .array(nameServer)
    .min(1)
    .max(MAX_URLS)
    .describe(
      'Addresses of the name servers, `host:port`; one that does not answer is passed over.',
    ),
  acl: strictMap({
    accessKey: clientTemplate().describe('Access key, a template.'),
    secretKey: clientTemplate().describe(
      'Secret key, a template: {{env.NAME}} keeps it out of reports.',
    ),
  })
    .optional()
    .describe('The account; ACL 1.0 and 2.0 are signed alike.'),
  tls: tls.optional().describe('TLS of the connections.'),
  namespace: plainText(64).optional().describe('Namespace of topics and groups.'),
  connections: count({ min: 1, max: 1_024, range: '1 to 1024' })
    .prefault(1)
    .describe('Connections a worker and broker; all senders of a worker share them.'),
  create: strictMap({
    queues: count({ min: 1, max: 1_024, range: '1 to 1024' })
      .prefault(8)
      .describe('Queues of a topic on each broker.'),
  })
    .optional()
    .describe(
      'Topics and groups of the plan are made where they are missing; the account must be allowed to.',
    ),
});

/** A token (RFC 9110, 5.6.2) that is not written by the client of the WebSocket itself. */
function checkHeaderName(name: string, context: z.core.$RefinementCtx): void {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) {
    addFault(context, { message: `"${name}" is no name of a header` });
  }
  if (/^(?:upgrade|connection|sec-websocket-.*|content-length|transfer-encoding)$/i.test(name)) {
    addFault(context, { message: `the header ${name} belongs to the upgrade itself` });
  }
}

export const target = z.discriminatedUnion('protocol', [mqttTarget, rocketmqTarget], {
  error: 'protocol is mqtt or rocketmq',
});
