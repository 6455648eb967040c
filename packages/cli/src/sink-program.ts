import { SquallError } from '@squall/core/errors';
import { parseShare, parseSize } from '@squall/core/units';
import { type Command, InvalidArgumentError } from 'commander';
import type { SinkWebhookOptions } from './commands/sink-webhook.ts';
import { durationUs, hostAndPort, wholeNumber } from './option-values.ts';

export interface SinkActions {
  sinkWebhook(options: SinkWebhookOptions): Promise<void>;
}

const MIB = 1024 * 1024;
const MAX_BODY_LIMIT = 64 * MIB;

export function addSink(program: Command, actions: SinkActions): void {
  const sink = program
    .command('sink')
    .description('Be the system that a rule engine sends to, and count what comes.')
    .helpCommand(false);
  sink
    .command('webhook')
    .description('Take the requests of a rule engine: counts them, and checks the stamps in them.')
    .requiredOption(
      '--listen <host:port>',
      'where requests are taken; any path, POST or PUT',
      hostAndPort,
    )
    .option('--status <code>', 'what they are answered with', wholeNumber(200, 599), 200)
    .option('--delay <duration>', 'how long each answer is held back', durationUs)
    .option(
      '--error-share <share>',
      'this share is answered with 503 and not counted, such as 1%',
      shareOf,
    )
    .option('--body-limit <size>', 'longest body (default: 1MiB)', bodyLimit)
    .option('--json', 'at the end, print the figures as JSON')
    .addHelpText('after', SINK_EXAMPLES)
    .action((options: SinkWebhookOptions) => actions.sinkWebhook(options));
}

/** `1%`. */
function shareOf(text: string): number {
  return parsed(() => parseShare(text));
}

/** `64KiB`, up to 64 MiB. */
function bodyLimit(text: string): number {
  const bytes = parsed(() => parseSize(text));
  if (bytes >= 1 && bytes <= MAX_BODY_LIMIT) return bytes;
  throw new InvalidArgumentError('It must be from 1B to 64MiB.');
}

function parsed<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SquallError)) throw error;
    throw new InvalidArgumentError(`${error.message}; ${error.hint ?? ''}.`);
  }
}

const SINK_EXAMPLES = `
Examples:
  squall sink webhook --listen 0.0.0.0:8085             point the rule engine's webhook at http://this-host:8085/
  squall sink webhook --listen 127.0.0.1:8085 --delay 5ms --error-share 1%
  curl http://127.0.0.1:8085/stats                      what came so far; of one run: /stats?run=<run id>
  curl http://127.0.0.1:8085/metrics                    the same for Prometheus

A plan reads it by a probe: { type: webhook, url: "http://that-host:8085" }. Ctrl-C ends it and prints what came.
`;
