import { isIpAddress } from '../ip-address.ts';
import { MAX_SOURCE_ADDRESSES } from '../limits.ts';
import { MAX_CLIENTS } from '../../schedule/index.ts';
import { z } from 'zod';
import { connect } from './connect.ts';
import { consume } from './consume.ts';
import { addFault, count, flag, name, oneOrMore, plainText, strictMap } from './leaves.ts';
import { publish } from './publish.ts';
import { respond, subscribe } from './subscribe.ts';
import { fileTemplate, identityTemplate } from './templates.ts';

const clientCount = () => count({ min: 1, max: MAX_CLIENTS, range: `1 to ${MAX_CLIENTS} clients` });

const clients = z.union([
  clientCount(),
  strictMap({
    count: clientCount().describe('Clients over all agents.'),
    scale: flag().prefault(true).describe('`false`: `--scale` leaves the count alone.'),
  }),
]);

const sourceAddress = plainText(64).superRefine((text, context) => {
  if (isIpAddress(text)) return;
  addFault(context, {
    message: `"${text}" is not an IP address`,
    hint: 'write addresses of the agent’s own, such as 10.0.0.5; names are not looked up',
  });
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
  from: fileTemplate()
    .optional()
    .describe(
      'CSV file beside the plan with one row a client, and the names of its columns above: `{{csv.x}}`.',
    ),
  sourceAddresses: z
    .array(sourceAddress)
    .min(1)
    .max(MAX_SOURCE_ADDRESSES)
    .optional()
    .describe(
      'Local addresses to connect from, by turns: each gives as many connections as there are local ports. An agent uses those that its own host has, and refuses a run where it has none.',
    ),
  connect: connect.prefault({}).describe('How clients connect.'),
  publish: oneOrMore(publish)
    .optional()
    .describe('What clients publish: one stream, or a list of named ones.'),
  subscribe: oneOrMore(subscribe)
    .optional()
    .describe('What clients subscribe to: one entry, or a list of named ones.'),
  respond: oneOrMore(respond)
    .optional()
    .describe('What clients answer: one entry, or a list of named ones.'),
  consume: oneOrMore(consume)
    .optional()
    .describe('What clients consume (RocketMQ): one entry, or a list of named ones.'),
});
