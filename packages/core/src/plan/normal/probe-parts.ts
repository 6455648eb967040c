import { parseSelector } from '../../probes/selector.ts';
import { nearest } from '../../text/nearest.ts';
import type { HttpProbeSource, PrometheusProbeSource, RocketmqProbeSource } from '../probe-spec.ts';
import type { PlanPath } from '../problem.ts';
import type { ProbeFile } from '../schema/plan-file.ts';
import { parseTemplate } from '../../template/index.ts';
import type { NormalContext } from './context.ts';

/** Where a probe stands in the file. */
export interface Place {
  readonly path: PlanPath;
  readonly context: NormalContext;
}

type Addressed = ProbeFile & { readonly url: string };

export function httpSource(probe: Addressed, place: Place): HttpProbeSource | null {
  const { url, values = {}, headers = {} } = probe;
  const counters = [probe.counters ?? []].flat();
  const sound = [checkPointers(values, place), checkCounters(counters, 'values', { probe, place })];
  return sound.every(Boolean) ? { type: 'http', url, headers, values, counters } : null;
}

export function prometheusSource(probe: Addressed, place: Place): PrometheusProbeSource | null {
  const { url, series = {}, headers = {}, preset = null } = probe;
  const counters = [probe.counters ?? []].flat();
  const sound = [checkSeries(probe, place), checkCounters(counters, 'series', { probe, place })];
  if (!sound.every(Boolean)) return null;
  return { type: 'prometheus', url, headers, series, counters, preset };
}

function checkPointers(values: Readonly<Record<string, string>>, place: Place): boolean {
  const { context, path } = place;
  let sound = notEmpty(values, [...path, 'values'], context);
  for (const [figure, pointer] of Object.entries(values)) {
    if (/^(?:\/(?:[^~]|~[01])*)?$/.test(pointer)) continue;
    sound = false;
    context.findings.error([...path, 'values', figure], `"${pointer}" is no JSON pointer`, {
      hint: 'it begins with /, such as /stats/0/queued [RFC 6901]',
    });
  }
  return sound;
}

/** A list of figures that count up names figures that there are. */
function checkCounters(
  counters: readonly string[],
  key: 'values' | 'series',
  { probe, place }: { readonly probe: ProbeFile; readonly place: Place },
): boolean {
  const known = Object.keys(probe[key] ?? {});
  const unknown = counters.filter((name) => !known.includes(name));
  for (const name of unknown) {
    const near = nearest(name, known);
    place.context.findings.error([...place.path, 'counters'], `${key} has no ${name}`, {
      hint: near === null ? undefined : `did you mean ${near}?`,
    });
  }
  return unknown.length === 0;
}

/** Chosen series, the figures of an exporter, or both. */
function checkSeries({ series, preset }: ProbeFile, { path, context }: Place): boolean {
  const { findings } = context;
  if (series === undefined) {
    if (preset !== undefined) return true;
    findings.error(path, 'a probe of type prometheus needs series or preset', { atKey: true });
    return false;
  }
  if (preset === 'node') {
    findings.error([...path, 'series'], 'the preset node has no series beside it', {
      hint: 'read them with a probe of their own',
      atKey: true,
    });
    return false;
  }
  let sound = notEmpty(series, [...path, 'series'], context);
  for (const [figure, selector] of Object.entries(series)) {
    if (parseSelector(selector) !== null) continue;
    sound = false;
    findings.error([...path, 'series', figure], `"${selector}" is no selector`, {
      hint: 'write a name and labels, such as http_requests_total{code="200"}, or rate() of it',
    });
  }
  return sound;
}

/** Null where a key is a template of something else than secrets. */
export function rocketmqSource(probe: ProbeFile, place: Place): RocketmqProbeSource | null {
  const { nameServers = [], acl = null } = probe;
  for (const [key, text] of Object.entries(acl ?? {})) {
    const parsed = parseTemplate(text);
    if (parsed.ok && parsed.parts.every(({ kind }) => kind === 'text' || kind === 'env')) continue;
    const path = [...place.path, 'acl', key];
    place.context.findings.error(path, 'only {{env.NAME}} can stand in the account of a probe');
    return null;
  }
  const topics = [probe.topic ?? []].flat();
  const groups = [probe.group ?? []].flat();
  const tls =
    probe.tls === undefined
      ? null
      : { verify: probe.tls.verify, servername: probe.tls.servername ?? null };
  return { type: 'rocketmq', nameServers, acl, tls, topics, groups };
}

function notEmpty(map: object, path: PlanPath, { findings }: NormalContext): boolean {
  if (Object.keys(map).length > 0) return true;
  findings.error(path, 'at least one figure is needed');
  return false;
}
