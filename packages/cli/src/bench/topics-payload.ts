import { z } from 'zod';
import type { GivenFlags } from './parse-flags.ts';
import { usage } from '../usage-error.ts';
import type { PlanValue } from './plan-text.ts';
import { topic as topicOf } from './templates-of.ts';

/** The file of `--topics-payload`, as emqtt_bench's topic_spec describes it. */
const topicsFile = z.object({
  topics: z
    .array(
      z.object({
        name: z.string(),
        interval_ms: z.union([z.string().regex(/^\d{1,12}$/), z.number().int().positive()]),
        QoS: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(0),
        retain: z.boolean().default(false),
        inject_timestamp: z.union([z.boolean(), z.enum(['s', 'ms', 'us', 'ns'])]).default(false),
        payload_encoding: z.enum(['json', 'eterm']).default('json'),
        payload: z.record(z.string(), z.json()),
        render: z.string().optional(),
      }),
    )
    .min(1),
});

type Topic = z.infer<typeof topicsFile>['topics'][number];

/** Wall clock in the unit that is asked for; the clock of a plan has milliseconds. */
const NOW: Readonly<Record<string, string>> = {
  true: '{{now}}',
  ms: '{{now}}',
  us: '{{now}}000',
  ns: '{{now}}000000',
};
/** A page of `%pN`. */
const PAGE_BYTES = 4_096;
const MAX_PAGES = 64;

/** One named stream for each topic of the file. @throws SquallError SQ_USAGE */
export function streamsOf(
  flags: GivenFlags,
  text: string,
  extra: { readonly inflight: number | null },
): Record<string, PlanValue>[] {
  const { topics } = parse(text);
  return topics.map((topic, k) => ({
    name: `t${k + 1}`,
    topic: topicOf(flags, topic.name),
    qos: topic.QoS,
    ...(topic.retain ? { retain: true } : {}),
    every: `${topic.interval_ms}ms`,
    ...(extra.inflight === null || topic.QoS === 0 ? {} : { inflight: extra.inflight }),
    payload: { template: payloadOf(flags, topic) },
  }));
}

function parse(text: string): z.infer<typeof topicsFile> {
  const parsed = topicsFile.safeParse(json(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue?.path.join('.') ?? '';
  throw usage(`--topics-payload: ${at} ${issue?.message ?? 'is no file of topics'}`, FORM);
}

const FORM =
  'it is {"topics":[{"name":"a/%i","interval_ms":"100","QoS":1,"inject_timestamp":true,"payload_encoding":"json","payload":{…}}]}';

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw usage(`--topics-payload is no JSON: ${String(cause)}`, FORM);
  }
}

/** JSON as a template; the time stands in it as a number, as emqtt_bench sends it. */
function payloadOf(flags: GivenFlags, topic: Topic): string {
  if (topic.payload_encoding === 'eterm') {
    throw usage(
      `--topics-payload: the payload of ${topic.name} is to be a term of Erlang`,
      'give it "payload_encoding": "json"',
    );
  }
  const { payload, render, inject_timestamp: stamp } = topic;
  const field = render === undefined ? undefined : payload[render];
  const filled =
    render === undefined || typeof field !== 'string'
      ? payload
      : { ...payload, [render]: rendered(flags, field) };
  if (stamp === false) return JSON.stringify(filled);
  if (stamp === 's') {
    throw usage(
      `--topics-payload: ${topic.name} wants its time in seconds`,
      'the time of a plan is {{now}}, in milliseconds: write "ms", "us" or "ns"',
    );
  }
  const now = NOW[String(stamp)] ?? '{{now}}';
  const others = JSON.stringify({ ...filled, timestamp: undefined }).slice(1, -1);
  return `{${others === '' ? '' : `${others},`}"timestamp":${now}}`;
}

function rendered(flags: GivenFlags, text: string): string {
  const pages = /^%p(\d{1,4})$/.exec(text)?.[1];
  if (pages === undefined) {
    return text.replaceAll(/%[ic]/g, (mark) => topicOf(flags, mark));
  }
  if (Number(pages) > MAX_PAGES) {
    throw usage(`--topics-payload: ${text} is too long`, `at most %p${MAX_PAGES}, 4 KiB each`);
  }
  return 'x'.repeat(Number(pages) * PAGE_BYTES);
}
