import { type DraftMap, inert, type DraftValue, noted, planName } from '../plan/draft.ts';
import type { XmlElement } from '../xml/parse-xml.ts';
import { patternOf, patternTemplate } from './pattern.ts';
import { childText, perSecond, type Scenario, timeMs, whatOf } from './scenario.ts';

/** Connect as the plan says it. @param overMs the ramp before it; 0: all at once. */
export function connectOf(connect: XmlElement, overMs: number, scenario: Scenario): DraftMap {
  const { attributes } = connect;
  scenario.knows(connect, CONNECT_ATTRIBUTES);
  if (connect.children.length > 0)
    scenario.lose(connect, connect.children.map(({ name }) => name).join(', '));
  const ms = (name: string, fallback: number) => timeMs(attributes[name] ?? '') ?? fallback;
  const expiry = timeMs(attributes['sessionExpiry'] ?? '');
  return {
    over: `${Math.max(1_000, overMs)}ms`,
    keepAlive: `${Math.round(ms('keepAlive', 60_000) / 1_000)}s`,
    timeout: `${ms('timeOut', 60_000)}ms`,
    retries: scenario.number(connect, attributes['retries'] ?? '0', 0),
    ...backoffOf(timeMs(attributes['retryInterval'] ?? '')),
    cleanStart: attributes['cleanStart'] !== 'false',
    ...(expiry === null || expiry === 0 ? {} : { sessionExpiry: `${Math.round(expiry / 1_000)}s` }),
  };
}

/** Pauses double here, from theirs on. */
function backoffOf(ms: number | null): DraftMap {
  if (ms === null || ms === 0) return {};
  return { backoff: { min: `${ms}ms`, max: `${Math.max(ms, LONGEST_PAUSE_MS)}ms` } };
}

const LONGEST_PAUSE_MS = 8_000;

const CONNECT_ATTRIBUTES =
  'id broker retries retryInterval timeOut keepAlive cleanStart sessionExpiry expectedDuration'.split(
    ' ',
  );

/** The stream of a publish; null where its topics cannot be said. */
export function publishOf(
  publish: XmlElement,
  given: { readonly clients: number; readonly times: number; readonly taken: Set<string> },
  scenario: Scenario,
): { readonly name: string; readonly body: DraftMap } | null {
  const { attributes } = publish;
  scenario.knows(publish, PUBLISH_ATTRIBUTES);
  const topic = topicOf(publish, given.clients, scenario);
  if (topic === null) return null;
  const generator = attributes['payloadGeneratorType'] ?? 'static';
  if (generator !== 'static')
    scenario.lose(publish, `the payload generator ${generator} is code; 100 bytes are sent`);
  const text = attributes['message'] ?? '';
  const rate = perSecond(attributes['rate'] ?? '');
  const count = scenario.number(publish, attributes['count'] ?? '1', 1) * given.times;
  const expiry = timeMs(attributes['messageExpiry'] ?? '');
  const name = planName(attributes['id'] ?? '', 'publish', given.taken);
  given.taken.add(name);
  const body = {
    name,
    topic,
    qos: scenario.number(publish, attributes['qos'] ?? '0', 0),
    ...(attributes['retain'] === 'true' ? { retain: true } : {}),
    payload: generator === 'static' ? { text: inert(text) } : '100B',
    ...paceOf(rate),
    ...waitOf(attributes['waitForAck']),
    ...(expiry === null ? {} : { expiry: `${Math.round(expiry / 1_000)}s` }),
    count: count * given.clients,
  };
  return { name, body };
}

const PUBLISH_ATTRIBUTES =
  'id topicGroup message payloadGeneratorType rate qos count waitForAck retain roundRobin messageExpiry expectedDuration'.split(
    ' ',
  );

function waitOf(waits: string | undefined): DraftMap {
  return waits === 'true' ? { inflight: 1 } : {};
}

function paceOf(rate: number | null): DraftMap {
  if (rate === null || rate === 0) return { rate: 'max' };
  return { every: `${Math.max(1, Math.round(MICROSECONDS / rate))}us` };
}

const MICROSECONDS = 1_000_000;

/** Topics of a group: those of client and topic are tied by their number, as far as topics go. */
function topicOf(publish: XmlElement, clients: number, scenario: Scenario): string | null {
  const id = publish.attributes['topicGroup'] ?? '';
  const group = scenario.byId('topicGroups', id);
  if (group === undefined) {
    scenario.lose(publish, `there is no topic group "${id}"`);
    return null;
  }
  const text = childText(group, 'topicNamePattern');
  const pattern = patternOf(text);
  if (pattern === null || /[+#]/.test(text)) {
    scenario.lose(
      group,
      `the pattern ${text}: ${pattern === null ? 'more than text and one running number' : 'wildcards are not for publishing'}`,
    );
    return null;
  }
  const topics = scenario.number(group, childText(group, 'count'), 1);
  const offset = scenario.number(group, childText(group, 'topicNamePatternOffset'), 0);
  if (pattern.digits === 0 || topics === clients) return patternTemplate(pattern, offset, null);
  scenario.change(
    publish,
    `each client went through the ${topics} topics of ${whatOf(group)}; here it has one of them`,
  );
  return patternTemplate(pattern, 0, topics);
}

/** The entries of a subscribe; their default QoS is 2. */
export function subscribeOf(
  subscribe: XmlElement,
  taken: Set<string>,
  scenario: Scenario,
): DraftValue[] {
  const { attributes } = subscribe;
  const qos = scenario.number(subscribe, attributes['qos'] ?? '2', 2);
  const names = (attributes['to'] ?? attributes['subscription'] ?? '').split(/\s+/).filter(Boolean);
  return names.flatMap((id) => {
    const subscription = scenario.byId('subscriptions', id);
    const topics = subscription === undefined ? null : filtersOf(subscription, scenario);
    if (topics === null) {
      scenario.lose(subscribe, `the subscription "${id}"`);
      return [];
    }
    const name = planName(id, 'subscribe', taken);
    taken.add(name);
    return [noted({ name, topic: topics, qos }, `${whatOf(subscribe)}, line ${subscribe.line}`)];
  });
}

/** Filters that a list holds. */
const MAX_FILTERS = 100;

function filtersOf(subscription: XmlElement, scenario: Scenario): string | string[] | null {
  const filter = childText(subscription, 'topicFilter');
  if (filter !== '') return inert(filter);
  const group = scenario.byId('topicGroups', childText(subscription, 'topicGroup'));
  const pattern = group === undefined ? null : patternOf(childText(group, 'topicNamePattern'));
  if (group === undefined || pattern === null) return null;
  if (pattern.digits === 0) return pattern.before;
  if (childText(subscription, 'wildCard') === 'true')
    return `${pattern.before.replace(/[^/]*$/, '')}+${pattern.after.replace(/^[^/]*/, '')}`;
  const topics = scenario.number(group, childText(group, 'count'), 1);
  if (topics > MAX_FILTERS) {
    scenario.change(subscription, `its ${topics} topics are one filter with +`);
    return `${pattern.before.replace(/[^/]*$/, '')}+${pattern.after.replace(/^[^/]*/, '')}`;
  }
  return Array.from(
    { length: topics },
    (_, index) => `${pattern.before}${String(index).padStart(pattern.digits, '0')}${pattern.after}`,
  );
}
