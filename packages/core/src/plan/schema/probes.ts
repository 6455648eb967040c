import { z } from 'zod';
import { PRESET_NAMES } from '../../probes/presets.ts';
import { choice, flag, oneOrMore, plainText, someDuration, strictMap } from './leaves.ts';
import { nameServer } from './targets.ts';

const FIGURE = /^[A-Za-z_][\w-]{0,63}$/;
const figures = () => z.record(z.string().regex(FIGURE), plainText());

/** One probe; which keys go with which type is checked when the plan is normalised. */
export const probe = strictMap({
  type: choice([
    'mysql',
    'postgres',
    'nginx',
    'http',
    'prometheus',
    'node',
    'host',
    'webhook',
    'emqx',
    'mosquitto',
    'rabbitmq',
    'rocketmq',
  ]).describe('What is read.'),
  url: plainText()
    .optional()
    .describe('Where it is read; of `webhook`: a `squall sink webhook` elsewhere.'),
  listen: plainText()
    .optional()
    .describe(
      '`webhook`: `host:port` where the controller itself takes the requests, from before the load to the end of the run.',
    ),
  agent: plainText(128)
    .optional()
    .describe('`host`: id of the agent on that host, started with `--observe` or making load.'),
  labels: z
    .record(z.string(), plainText(256))
    .optional()
    .describe('`host`: labels that exactly one agent has, instead of `agent`.'),
  query: plainText().optional().describe('SQL databases: a single SELECT that gives one number.'),
  values: figures()
    .optional()
    .describe('`http`: figures by name, each a JSON pointer such as `/stats/queued`.'),
  counters: oneOrMore(plainText())
    .optional()
    .describe(
      '`http`, `prometheus`: figures that count up from a start of their own; series whose names end in `_total`, `_count`, `_sum` or `_bucket` need not be named.',
    ),
  series: figures()
    .optional()
    .describe(
      '`prometheus`: figures by name, each a selector such as `http_requests_total{code="200"}`, in `rate(…)` for growth a second; what fits is summed.',
    ),
  preset: choice(PRESET_NAMES)
    .optional()
    .describe('`prometheus`: the figures of a known exporter, beside those of `series`.'),
  rule: oneOrMore(plainText(256))
    .optional()
    .describe('`emqx`: ids of the rules that count; all, where it is left out.'),
  sink: oneOrMore(plainText(256))
    .optional()
    .describe(
      '`emqx`: the sinks that count, as `type:name` (5.x) or by the id of a resource (4.x); all, where it is left out.',
    ),
  nameServers: z
    .array(nameServer)
    .min(1)
    .max(64)
    .optional()
    .describe('`rocketmq`: addresses of the name servers, `host:port`.'),
  acl: strictMap({
    accessKey: plainText(256).describe('Access key.'),
    secretKey: plainText(256).describe('Secret key; {{env.NAME}} keeps it out of reports.'),
  })
    .optional()
    .describe('`rocketmq`: the account; it may read offsets and figures of brokers.'),
  tls: strictMap({
    verify: flag().prefault('true').describe('False takes any certificate.'),
    servername: plainText(253).optional().describe('The name that the certificate must be for.'),
  })
    .optional()
    .describe('`rocketmq`: TLS of the connections.'),
  topic: oneOrMore(plainText(256))
    .optional()
    .describe('`rocketmq`: topics whose messages are counted.'),
  group: oneOrMore(plainText(256))
    .optional()
    .describe('`rocketmq`: consumer groups whose reading is counted.'),
  headers: z
    .record(z.string(), plainText())
    .optional()
    .describe('`http`, `prometheus`: headers of the request; `{{env.NAME}}` keeps a token secret.'),
  interval: someDuration()
    .optional()
    .describe('Time between readings; 5s by default, SQL before the load and in settle only.'),
  timeout: someDuration().prefault('5s').describe('A reading that takes longer has failed.'),
});
