import { compileTemplate, type Template, type TemplatePart } from '../../template/index.ts';
import { MAX_RENDERED_IDS } from '../limits.ts';
import type { Group, MqttTarget, Plan } from '../plan.ts';
import type { Findings } from '../problem.ts';

/**
 * A second client with the same id throws the first one out [MQTT-3.1.4-2], which would look like a
 * broker that loses connections. So the ids of all clients that meet on a broker are compared before
 * anything starts: by rendering them, or in very large groups by their template.
 */
export function checkClientIds(
  { groups, targets }: Pick<Plan, 'groups' | 'targets'>,
  findings: Findings,
): void {
  for (const group of groups) checkStable(group, findings);
  const brokers = new Map<string, Group[]>();
  for (const group of groups) {
    for (const broker of addresses(targets[group.target])) {
      brokers.set(broker, [...(brokers.get(broker) ?? []), group]);
    }
  }
  const told = new Set<string>();
  for (const together of brokers.values()) checkTogether(together, { findings, told });
}

function addresses(target: MqttTarget | undefined): string[] {
  return (target?.urls ?? []).map(({ host, port }) => `${host}:${port}`);
}

function path(group: Group) {
  return ['groups', group.name, 'clientId'];
}

/** A kept session is found again by its client id [MQTT-3.1.3-2]. */
function checkStable(group: Group, findings: Findings): void {
  if (group.connect.cleanStart) return;
  if (group.clientId === '') {
    findings.error(path(group), 'cleanStart: false needs a client id [MQTT-3.1.3-7]');
  }
  if (compileTemplate(group.clientId).perMessage) {
    findings.error(path(group), 'cleanStart: false needs client ids that stay the same', {
      hint: 'use {{n}} in place of {{uuid}} or {{random}}',
    });
  }
}

interface Telling {
  readonly findings: Findings;
  readonly told: Set<string>;
}

function checkTogether(groups: readonly Group[], telling: Telling): void {
  const seen = new Map<string, Group>();
  let room = MAX_RENDERED_IDS;
  for (const group of groups) {
    // An empty id asks the broker to choose one [MQTT-3.1.3-6].
    if (group.clientId === '') continue;
    const template = compileTemplate(group.clientId);
    if (isUnique(template)) continue;
    if (group.clients > room) {
      checkByTemplate(group, template, telling);
      continue;
    }
    room -= group.clients;
    checkByRendering(group, template, { seen, telling });
  }
}

/** 122 random bits do not meet. */
function isUnique(template: Template): boolean {
  return template.parts.some((part) => part.kind === 'uuid');
}

function checkByTemplate(group: Group, template: Template, telling: Telling): void {
  if (template.parts.some((part) => isWholeIndex(part, group.clients))) return;
  tell(group, 'clients of the group would have the same client id', telling);
}

function isWholeIndex(part: TemplatePart, clients: number): boolean {
  if (part.kind !== 'index' || part.of === 'seq') return false;
  return part.op !== '%' || part.operand > clients;
}

function checkByRendering(
  group: Group,
  template: Template,
  { seen, telling }: { readonly seen: Map<string, Group>; readonly telling: Telling },
): void {
  const random = template.parts.some((part) => part.kind === 'random');
  for (let n = 0; n < group.clients; n++) {
    const id = renderId(template, group, n);
    const other = seen.get(id);
    if (other === undefined) {
      seen.set(id, group);
      continue;
    }
    const who =
      other === group
        ? `client ${n + 1} and one before it`
        : `client ${n + 1} and one of the group ${other.name}`;
    const same = random ? 'could have the same client id' : `have the same client id "${id}"`;
    tell(group, `${who} ${same}`, telling);
    return;
  }
}

/** Parts that are not known yet are the same for all clients, so their name stands for them. */
function renderId(template: Template, group: Group, n: number): string {
  let id = '';
  for (const part of template.parts) {
    if (part.kind === 'env') id += `{{env.${part.name}}}`;
    else if (part.kind === 'random') id += String(part.min);
    else id += renderOne(part, group, n);
  }
  return id;
}

function renderOne(part: TemplatePart, group: Group, n: number): string {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'group') return group.name;
  if (part.kind !== 'index') return `{{${part.kind}}}`;
  const value = part.op === '%' ? (n + 1) % part.operand : n + 1 + shift(part);
  const digits = String(Math.abs(value)).padStart(part.width, '0');
  return value < 0 ? `-${digits}` : digits;
}

function shift({ op, operand }: { readonly op: string | null; readonly operand: number }): number {
  if (op === null) return 0;
  return op === '-' ? -operand : operand;
}

function tell(group: Group, message: string, { findings, told }: Telling): void {
  if (told.has(group.name)) return;
  told.add(group.name);
  findings.error(path(group), message, {
    hint: 'put {{n}} into the client id, and {{group}} where groups share a broker',
  });
}
