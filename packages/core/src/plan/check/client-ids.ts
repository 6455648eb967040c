import { AddressSpread } from '../../partition/index.ts';
import { compileTemplate, type Template, type TemplatePart } from '../../template/index.ts';
import { MAX_RENDERED_IDS } from '../limits.ts';
import type { CsvTable } from '../files/csv.ts';
import type { NormalContext } from '../normal/context.ts';
import type { Group, MqttTarget, Plan, Target } from '../plan.ts';
import type { Findings } from '../problem.ts';
import { warnOfLongIds } from './client-id-length.ts';

/** A group with what its client ids are made of. */
interface Identities {
  readonly group: Group;
  readonly template: Template;
  readonly spread: AddressSpread;
  /** Whether `{{block.n}}` is another one for each client. */
  readonly oneBlock: boolean;
  readonly table: CsvTable | null;
}

/**
 * A second client with the same id throws the first one out [MQTT-3.1.4-2], which would look like a
 * broker that loses connections. So the ids of all clients that meet on a broker are compared before
 * anything starts: by rendering them, or in very large groups by their template. Brokers of one target
 * may be a cluster, so all of its clients meet.
 */
export function checkClientIds(
  { groups, targets }: Pick<Plan, 'groups' | 'targets'>,
  context: Pick<NormalContext, 'findings' | 'tables'>,
): void {
  const { findings, tables } = context;
  const brokers = new Map<string, Group[]>();
  for (const group of groups) {
    const target = mqttOnly(targets[group.target]);
    checkStable(group, target, findings);
    warnOfLongIds(group, target, findings);
    for (const broker of addresses(target)) {
      brokers.set(broker, [...(brokers.get(broker) ?? []), group]);
    }
  }
  const told = new Set<string>();
  const looked = new Set<string>();
  for (const together of brokers.values()) {
    const key = together.map(({ name }) => name).join();
    if (looked.has(key)) continue;
    looked.add(key);
    const all = together.map((group) =>
      identitiesOf(group, mqttOnly(targets[group.target]), tables),
    );
    checkTogether(all, { findings, told });
  }
}

/** Brokers of RocketMQ know members of groups by ids that workers make themselves. */
function mqttOnly(target: Target | undefined): MqttTarget | undefined {
  return target?.protocol === 'mqtt' ? target : undefined;
}

function identitiesOf(
  group: Group,
  target: MqttTarget | undefined,
  tables: ReadonlyMap<string, CsvTable>,
): Identities {
  const urls = target?.urls.length ?? 1;
  const spread = target?.spread ?? 'round-robin';
  return {
    group,
    template: compileTemplate(group.clientId),
    spread: new AddressSpread(spread, Math.max(1, urls), group.clients),
    oneBlock: urls === 1 || spread === 'first',
    table: tables.get(group.name) ?? null,
  };
}

function addresses(target: MqttTarget | undefined): string[] {
  return (target?.urls ?? []).map(({ host, port }) => `${host}:${port}`);
}

function path(group: Group) {
  return ['groups', group.name, 'clientId'];
}

/** A kept session is found again by its client id [MQTT-3.1.3-2]. */
function checkStable(group: Group, target: MqttTarget | undefined, findings: Findings): void {
  if (group.clientId === '' && target?.version === '3.1') {
    findings.error(path(group), 'MQTT 3.1 needs a client id');
  }
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

function checkTogether(groups: readonly Identities[], telling: Telling): void {
  const seen = new Map<string, Group>();
  let room = MAX_RENDERED_IDS;
  for (const identities of groups) {
    const { group, template } = identities;
    // An empty id asks the broker to choose one [MQTT-3.1.3-6].
    if (group.clientId === '' || isUnique(template) || !isKnown(identities)) continue;
    // What a file holds is known by looking at it only.
    const listed = template.parts.some((part) => part.kind === 'csv');
    if (group.clients > room && !listed) {
      checkByTemplate(identities, telling);
      continue;
    }
    room = Math.max(0, room - group.clients);
    checkByRendering(identities, { seen, telling });
  }
}

/** 122 random bits do not meet. */
function isUnique(template: Template): boolean {
  return template.parts.some((part) => part.kind === 'uuid');
}

/** A column or rows that are not there, or in a file that was not read, are told elsewhere. */
function isKnown({ group, template, table }: Identities): boolean {
  const hasRows = table !== null && table.rows.length >= group.clients;
  return template.parts.every(
    (part) => part.kind !== 'csv' || (hasRows && table.columns.includes(part.name)),
  );
}

function checkByTemplate({ group, template, oneBlock }: Identities, telling: Telling): void {
  const { clients } = group;
  if (template.parts.some((part) => isWholeIndex(part, { clients, oneBlock }))) return;
  tell(group, 'clients of the group would have the same client id', telling);
}

function isWholeIndex(
  part: TemplatePart,
  { clients, oneBlock }: { readonly clients: number; readonly oneBlock: boolean },
): boolean {
  if (part.kind !== 'index' || part.of === 'seq') return false;
  if (part.of === 'block.n' && !oneBlock) return false;
  return part.op !== '%' || part.operand > clients;
}

function checkByRendering(
  identities: Identities,
  { seen, telling }: { readonly seen: Map<string, Group>; readonly telling: Telling },
): void {
  const { group, template } = identities;
  const random = template.parts.some((part) => part.kind === 'random');
  for (let n = 0; n < group.clients; n++) {
    const id = renderId(identities, n);
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
function renderId(identities: Identities, n: number): string {
  let id = '';
  for (const part of identities.template.parts) id += renderOne(part, identities, n);
  return id;
}

function renderOne(part: TemplatePart, { group, spread, table }: Identities, n: number): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'group':
      return group.name;
    case 'env':
      return `{{env.${part.name}}}`;
    case 'random':
      return String(part.min);
    case 'csv':
      return columnOf(table, n, part.name);
    case 'index':
      return renderIndex(part, 1 + (part.of === 'block.n' ? spread.blockNOf(n) : n));
    case 'now':
    case 'uuid':
    case 'run':
    case 'stamp':
    case 'var':
      return `{{${part.kind}}}`;
  }
}

function columnOf(table: CsvTable | null, n: number, name: string): string {
  return table?.rows[n]?.[table.columns.indexOf(name)] ?? '';
}

function renderIndex(part: Extract<TemplatePart, { kind: 'index' }>, index: number): string {
  const value = part.op === '%' ? index % part.operand : index + shift(part);
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
