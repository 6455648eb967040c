import { SquallError } from '@squall/core/errors';
import { Findings } from '../findings.ts';
import type { ImportedPlan } from '../imported.ts';
import { type DraftMap, type DraftValue, noted, planName } from '../plan/draft.ts';
import { writePlan } from '../plan/write-plan.ts';
import type { XmlElement } from '../xml/parse-xml.ts';
import { targetOf } from './connection.ts';
import { elementsOf, type JmeterElement } from './element.ts';
import { groupOf, type ImportedGroup } from './group.ts';
import { csvOf, enabledElements, madeVariables, userVariables } from './known-variables.ts';
import { type Phase, stagesOf } from './stages.ts';
import { connectionsOf } from './thread-connections.ts';
import { isThreadGroup, threadsOf } from './thread-group.ts';
import { thresholdsOf } from './thresholds.ts';
import { isTimer } from './timers.ts';
import { Variables } from './variables.ts';
import { Walk } from './walk.ts';

/**
 * A JMeter plan with samplers of mqtt-jmeter as a plan of ours.
 * @throws SquallError SQ_PLAN where it holds nothing that could be imported.
 */
export function importJmeter(root: XmlElement, file: string): ImportedPlan {
  const findings = new Findings();
  if (root.attributes['version'] === '1.0')
    throw nothing(file, 'JMeter plans of version 1.0 are not read');
  const [plan] = elementsOf(root.children.find(({ name }) => name === 'hashTree'));
  if (plan?.kind !== 'TestPlan') throw nothing(file, 'it has no TestPlan');
  const level = plan.children;
  const elements = [plan, ...enabledElements(level)];
  const { known, runtime } = userVariables(elements);
  const all = new Map([...known, ...madeVariables(elements, findings)]);
  const variables = new Variables(findings, all);
  const house = new House(level, variables);
  const phases = phasesOf(plan, house);
  if (house.groups.length === 0)
    throw nothing(file, 'no enabled thread group has an MQTT sampler that connects');
  for (const name of runtime) variables.offer(name);
  const draft = {
    head: headOf(root, plan, file),
    name: planName(plan.title, 'jmeter', new Set()),
    vars: variables.vars,
    targets: house.targets,
    groups: Object.fromEntries(
      house.groups.map(({ name, map }) => [name, house.whence(name, map)]),
    ),
    stages: stagesOf(phases),
    thresholds: thresholdsOf(house.groups, house.groupElements, variables),
  };
  const { lost, changed, lostCount, changedCount } = findings;
  return { text: writePlan(draft, lost), from: 'jmeter', lost, changed, lostCount, changedCount };
}

function headOf(root: XmlElement, plan: JmeterElement, file: string): string[] {
  const version = root.attributes['jmeter'];
  const comments = plan.text('TestPlan.comments').trim();
  return [
    `Imported by squall from ${file}${version === undefined ? '' : `, a plan of JMeter ${version}`}.`,
    ...(comments === '' ? [] : [comments]),
  ];
}

function phasesOf(plan: JmeterElement, house: House): Phase[] {
  const groups = plan.children.filter(isThreadGroup);
  const of = (kind: RegExp) => groups.filter((group) => kind.test(group.kind));
  const normal = of(/^(?!Setup|Post)/);
  const phase = (name: string, list: readonly JmeterElement[]): Phase => ({
    name,
    groups: list.flatMap((group) => house.build(group)),
  });
  const serial = plan.flag('TestPlan.serialize_threadgroups');
  const main = serial
    ? normal.map((group, index) => phase(`part-${index + 1}`, [group]))
    : [phase('', normal)];
  return [phase('setup', of(/^Setup/)), ...main, phase('teardown', of(/^Post/))];
}

/** What the thread groups of a plan become, one after the other. */
class House {
  readonly groups: ImportedGroup[] = [];
  readonly groupElements: JmeterElement[] = [];
  readonly #level: readonly JmeterElement[];
  readonly #variables: Variables;
  readonly #targets = new Map<string, { readonly name: string; readonly map: DraftValue }>();
  readonly #ids = new Set<string>();
  readonly #whence = new Map<string, string>();

  constructor(level: readonly JmeterElement[], variables: Variables) {
    this.#level = level;
    this.#variables = variables;
    for (const element of level) this.#beside(element);
  }

  get targets(): DraftMap {
    return Object.fromEntries([...this.#targets.values()].map(({ name, map }) => [name, map]));
  }

  whence(name: string, map: DraftMap): DraftValue {
    return noted(map, this.#whence.get(name) ?? '');
  }

  build(group: JmeterElement): ImportedGroup[] {
    const { findings } = this.#variables;
    if (!group.enabled) {
      findings.lose(group.line, group.what, 'left out: disabled');
      return [];
    }
    this.groupElements.push(group);
    const outer = this.#level.filter((element) => !isThreadGroup(element));
    const csv = csvOf(enabledElements([...outer, ...group.children]), findings);
    const variables = csv === null ? this.#variables : this.#variables.with(csv.columns);
    const threads = threadsOf(group, variables);
    if (threads === null) return [];
    const walk = new Walk(variables, threads.clients);
    walk.group(group, outer, { loops: threads.loops });
    const { steps, runtimeS } = walk;
    const from = csv === null ? null : csv.file;
    const built = connectionsOf(steps, findings).map((connection) => {
      const name = planName(group.title, 'group', new Set(this.#whence.keys()));
      this.#whence.set(name, `${group.what}, line ${group.line}`);
      const target = this.#target(targetOf(connection.owner, variables), connection.owner);
      const { what, line } = group;
      const one = groupOf(
        { name, target, what, line, threads, runtimeS, steps, connection, from },
        variables,
      );
      return { ...one, map: { ...one.map, clientId: this.#ownId(one.clientId) } };
    });
    this.groups.push(...built);
    return built;
  }

  /** What stands beside the thread groups. */
  #beside(element: JmeterElement): void {
    const { findings } = this.#variables;
    const { kind, line, what } = element;
    if (isThreadGroup(element)) return;
    if (!element.enabled) findings.lose(line, what, 'left out: disabled');
    else if (!isTimer(element) && !KNOWN.test(element.className))
      findings.lose(line, what, 'has no counterpart here');
    else if (kind === 'BackendListener')
      findings.change(line, what, 'squall serves its figures to Prometheus');
  }

  #target(map: DraftMap, owner: JmeterElement): string {
    const key = JSON.stringify(map);
    const there = this.#targets.get(key);
    if (there !== undefined) return there.name;
    const name = this.#targets.size === 0 ? 'broker' : `broker-${this.#targets.size + 1}`;
    this.#targets.set(key, { name, map: noted(map, `${owner.what}, line ${owner.line}`) });
    return name;
  }

  /** Groups with the same ids would drive each other out. */
  #ownId(id: string): string {
    const own = this.#ids.has(id) ? `${id}-g${this.#ids.size + 1}` : id;
    this.#ids.add(own);
    return own;
  }
}

const KNOWN =
  /(ResultCollector|Summariser|ResultSaver|ResultAction|DebugSampler|BackendListener|CSVDataSet|Arguments|CounterConfig|RandomVariableConfig|Assertion|TestFragmentController)$|vizualizers|perfmon/;

function nothing(path: string, why: string): SquallError {
  return new SquallError('SQ_PLAN', `not imported: ${why}`, {
    path,
    hint: 'what can be imported: docs/from-jmeter.md',
  });
}
