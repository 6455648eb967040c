import { z } from 'zod';
import { choice, oneOrMore, plainText, someDuration, strictMap } from './leaves.ts';

const NOT_YET = {
  emqx: 'probes of type emqx are',
  mosquitto: 'probes of type mosquitto are',
  rabbitmq: 'probes of type rabbitmq are',
  rocketmq: 'probes of type rocketmq are',
  webhook: 'probes of type webhook are',
};

const FIGURE = /^[A-Za-z_][\w-]{0,63}$/;
const figures = () => z.record(z.string().regex(FIGURE), plainText());

/** One probe; which keys go with which type is checked when the plan is normalised. */
export const probe = strictMap({
  type: choice(
    [
      'mysql',
      'postgres',
      'nginx',
      'http',
      'prometheus',
      'node',
      'emqx',
      'mosquitto',
      'rabbitmq',
      'rocketmq',
      'webhook',
    ],
    NOT_YET,
  ).describe('What is read.'),
  url: plainText().optional().describe('Where it is read.'),
  query: plainText().optional().describe('SQL databases: a single SELECT that gives one number.'),
  values: figures()
    .optional()
    .describe('`http`: figures by name, each a JSON pointer such as `/stats/queued`.'),
  counters: oneOrMore(plainText())
    .optional()
    .describe('`http`: those of `values` that count up from a start of their own.'),
  series: figures()
    .optional()
    .describe(
      '`prometheus`: figures by name, each a selector such as `http_requests_total{code="200"}`; what fits is summed.',
    ),
  headers: z
    .record(z.string(), plainText())
    .optional()
    .describe('`http`, `prometheus`: headers of the request; `{{env.NAME}}` keeps a token secret.'),
  interval: someDuration()
    .optional()
    .describe('Time between readings; 5s by default, SQL before the load and in settle only.'),
  timeout: someDuration().prefault('5s').describe('A reading that takes longer has failed.'),
});
