import type { HostProbeSource, WebhookProbeSource } from '../probe-spec.ts';
import type { ProbeFile } from '../schema/plan-file.ts';
import type { Place } from './probe-parts.ts';

/** A hook that is read where it listens. */
export function hookSource(
  probe: ProbeFile & { readonly url: string },
  { path, context }: Place,
): WebhookProbeSource | null {
  const { listen, url } = probe;
  if (listen === undefined) return { type: 'webhook', url, listen: null };
  context.findings.error(path, 'a probe of type webhook has either url or listen', { atKey: true });
  return null;
}

/** A hook that the controller opens. */
export function listeningSource(
  { listen }: ProbeFile,
  { path, context }: Place,
): WebhookProbeSource | null {
  if (listen === undefined) {
    context.findings.error(path, 'a probe of type webhook needs url or listen', {
      hint: 'listen: 0.0.0.0:8085 takes the requests where the controller runs',
      atKey: true,
    });
    return null;
  }
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s/]+)):(\d{1,5})$/.exec(listen);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host !== undefined && port >= 1 && port <= 65_535) {
    return { type: 'webhook', url: '', listen: { host, port } };
  }
  context.findings.error(
    [...path, 'listen'],
    `"${listen.slice(0, 80)}" is no address to listen on`,
    {
      hint: 'write host:port, such as 0.0.0.0:8085',
    },
  );
  return null;
}

/** An agent is chosen by its id or by its labels. */
export function hostSource(probe: ProbeFile, { path, context }: Place): HostProbeSource | null {
  const { labels = {} } = probe;
  const agent = probe.agent ?? null;
  const hasLabels = Object.keys(labels).length > 0;
  if ((agent === null) === hasLabels) return { type: 'host', agent, labels };
  const fault = hasLabels
    ? 'a probe of type host has either agent or labels'
    : 'a probe of type host needs agent or labels';
  const hint = 'name the agent that was started with `squall agent --observe` on that host';
  context.findings.error(path, fault, { hint, atKey: true });
  return null;
}
