import { type DraftMap, type DraftValue, noted, planName } from '../plan/draft.ts';
import type { JmeterElement } from './element.ts';
import type { Variables } from './variables.ts';
import { periodMs, type Step, timesOf } from './walk.ts';

/** The stream of a Pub sampler. */
export interface Stream {
  readonly name: string;
  readonly step: Step;
  readonly body: DraftMap;
  /** ms between two messages of a client; 0: as fast as answers come. */
  readonly everyMs: number;
  /** Messages of each client; Infinity without end. */
  readonly times: number;
}

/** Bytes that "add timestamp" puts in front: 13 digits and a mark. */
const STAMP_BYTES = 24;
const MIN_EVERY_MS = 0.001;

export function streamOf(
  step: Step,
  given: { readonly steps: readonly Step[]; readonly taken: Set<string> },
  variables: Variables,
): Stream {
  const { element } = step;
  const everyMs = periodMs(step, given.steps);
  const times = timesOf(step);
  const name = planName(element.title, 'publish', given.taken);
  given.taken.add(name);
  const pace: DraftMap =
    everyMs < MIN_EVERY_MS
      ? {
          rate: noted('max', 'no timer: each thread sent as soon as the last message was answered'),
          inflight: 1,
        }
      : {
          every: everyText(step, given.steps, everyMs),
          ...(step.poisson ? { arrivals: 'poisson' } : {}),
        };
  const body = {
    name,
    topic: variables.template(element.text('mqtt.topic_name', 'test_topic'), 'message', element),
    qos: qosOf(element, variables),
    ...(element.flag('mqtt.retained_message') ? { retain: true } : {}),
    payload: payloadOf(element, variables),
    ...pace,
  };
  return { name, step, body, everyMs: everyMs < MIN_EVERY_MS ? 0 : everyMs, times };
}

/** µs are the least that a duration says. */
export function duration(ms: number): string {
  if (ms % 1_000 === 0) return `${ms / 1_000}s`;
  return ms % 1 === 0 ? `${ms}ms` : `${Math.max(1, Math.round(ms * 1_000))}us`;
}

function qosOf(element: JmeterElement, variables: Variables): number | string {
  const { text, value } = variables.numberText(element.text('mqtt.qos_level'), 0, element);
  if ([0, 1, 2].includes(value)) return text;
  variables.findings.change(element.line, element.what, `QoS ${value} acted as 0`);
  return 0;
}

function payloadOf(element: JmeterElement, variables: Variables): DraftValue {
  const random = 'Random string with fixed length';
  const type = element.text('mqtt.message_type', random).trim();
  const stamped = element.flag('mqtt.add_timestamp');
  if (type === random) return randomPayload(element, stamped, variables);
  const text = element.text('mqtt.message_to_sent');
  if (type === 'Hex string') return hexPayload(element, text, variables);
  if (type !== 'String') {
    variables.findings.change(element.line, element.what, `message type "${type}" sent nothing`);
    return { text: '' };
  }
  // Two braces would be the language of templates: bytes say nothing in it.
  if (text.includes('{{')) {
    if (variables.constant(text) === text) return { hex: hexOf(text) };
    variables.findings.lose(
      element.line,
      element.what,
      'its payload has "{{" beside variables: it is written "{ {"',
    );
  }
  const body = variables.template(text, 'message', element);
  if (stamped) return { template: `{{now}}ts_sep_flag${body}` };
  return body.includes('{{') ? { template: body } : { text: body };
}

function randomPayload(element: JmeterElement, stamped: boolean, variables: Variables): DraftValue {
  const length = variables.numberText(
    element.text('mqtt.message_type_fixed_length'),
    1_024,
    element,
  );
  if (!stamped && typeof length.text === 'string' && length.value > 0) return `${length.text}B`;
  return `${length.value + (stamped ? STAMP_BYTES : 0)}B`;
}

function hexPayload(element: JmeterElement, text: string, variables: Variables): DraftValue {
  const hex = variables.constant(text)?.replace(/\s+/g, '') ?? '';
  if (/^(?:[0-9a-f]{2})*$/i.test(hex) && hex !== '') return { hex };
  variables.findings.lose(
    element.line,
    element.what,
    'its payload is no hexadecimal text that is known',
  );
  return { hex: '00' };
}

function hexOf(text: string): string {
  return [...new TextEncoder().encode(text)]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

/** The entry of a Sub sampler. */
export function subscriptionOf(
  element: JmeterElement,
  taken: Set<string>,
  variables: Variables,
): DraftMap {
  const name = planName(element.title, 'subscribe', taken);
  taken.add(name);
  const filters = element.text('mqtt.topic_name', 'test_topic').split(',');
  const topics = filters.map((filter) => variables.template(filter, 'filter', element));
  return {
    name,
    topic: topics.length === 1 ? (topics[0] ?? '') : topics,
    qos: qosOf(element, variables),
  };
}

/** A variable of the plan where the timer is one, and nothing else takes part in the turn. */
function everyText(step: Step, steps: readonly Step[], everyMs: number): string {
  const alone = steps.every(
    (other) => other === step || other.delayMs === 0 || other.loops.length === 0,
  );
  return alone && everyMs === step.delayMs && step.delayText !== null
    ? step.delayText
    : duration(everyMs);
}
