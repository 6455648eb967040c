import { SquallError } from '@squall/core/errors';
import { Findings } from '../findings.ts';
import type { ImportedPlan } from '../imported.ts';
import { type DraftMap, type DraftValue, noted, planName } from '../plan/draft.ts';
import { writePlan } from '../plan/write-plan.ts';
import type { XmlElement } from '../xml/parse-xml.ts';
import { brokersOf } from './brokers.ts';
import { connectOf, publishOf, subscribeOf } from './commands.ts';
import { readLifeCycle, type Life } from './life-cycle.ts';
import { patternOf, patternTemplate } from './pattern.ts';
import { childText, Scenario, whatOf } from './scenario.ts';

/**
 * A scenario of HiveMQ Swarm, in any of its dialects, as a plan of ours.
 * @throws SquallError SQ_PLAN where no life cycle of it does anything.
 */
export function importSwarm(root: XmlElement, file: string): ImportedPlan {
  const findings = new Findings();
  const scenario = new Scenario(root, findings);
  const builder = new Builder(scenario);
  const stages = builder.stages();
  if (stages.length === 0) {
    throw new SquallError(
      'SQ_PLAN',
      'not imported: no stage of it has a life cycle that can be said',
      {
        path: file,
        hint: 'what can be imported: docs/from-hivemq-swarm.md; a Velocity template must be rendered first',
      },
    );
  }
  const draft = {
    head: [`Imported by squall from ${file}, a scenario of HiveMQ Swarm.`],
    name: planName(file.replace(/\.\w+$/, ''), 'swarm', new Set()),
    vars: {},
    targets: builder.targets,
    groups: builder.groups,
    stages,
    thresholds: [noted('connect_failed: count == 0', 'Swarm has no verdict; a plan has')],
  };
  const { lost, changed, lostCount, changedCount } = findings;
  return { text: writePlan(draft, lost), from: 'swarm', lost, changed, lostCount, changedCount };
}

interface Draft {
  readonly name: string;
  readonly element: XmlElement;
  readonly clients: number;
  target: string;
  connect: DraftMap;
  readonly publish: DraftValue[];
  readonly subscribe: DraftValue[];
  readonly taken: Set<string>;
}

class Builder {
  readonly #scenario: Scenario;
  readonly #drafts = new Map<string, Draft>();
  readonly #targets = new Map<string, { readonly name: string; readonly map: DraftMap }>();
  readonly #names = new Set<string>();
  readonly #ids = new Set<string>();

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  get targets(): DraftMap {
    return Object.fromEntries([...this.#targets.values()].map(({ name, map }) => [name, map]));
  }

  get groups(): DraftMap {
    return Object.fromEntries(
      [...this.#drafts.values()].map((draft) => [draft.name, this.#written(draft)]),
    );
  }

  stages(): DraftValue[] {
    const taken = new Set<string>();
    return this.#scenario.block('stages').flatMap((stage) => {
      const lives = stage.children
        .filter(({ name }) => name === 'lifeCycle')
        .flatMap((element) => {
          const draft = this.#draft(element);
          return draft === null ? [] : [{ draft, life: readLifeCycle(element, this.#scenario) }];
        });
      const depth = Math.max(0, ...lives.map(({ life }) => life.steps.length));
      return Array.from({ length: depth }, (_, index) => {
        const name = planName(stage.attributes['id'] ?? 'stage', 'stage', taken);
        taken.add(name);
        return noted(this.#stage(name, lives, index), `${whatOf(stage)}, line ${stage.line}`);
      });
    });
  }

  /** The steps of the life cycles at one depth run side by side. */
  #stage(name: string, lives: readonly { draft: Draft; life: Life }[], index: number): DraftMap {
    const run: Record<string, DraftValue> = {};
    let waitMs = 0;
    let until: string | null = null;
    for (const { draft, life } of lives) {
      const step = life.steps[index];
      if (step === undefined) continue;
      if (step.kind === 'wait') {
        waitMs = Math.max(waitMs, step.ms);
        run[draft.name] ??= 'idle';
      } else if (step.kind === 'receive') {
        until = `${draft.name}.received >= ${step.count * draft.clients}`;
        run[draft.name] ??= 'idle';
      } else run[draft.name] = this.#activity(draft, step);
    }
    const end: DraftMap = until === null ? (waitMs > 0 ? { for: `${waitMs}ms` } : {}) : { until };
    return { name, run, ...end };
  }

  #activity(
    draft: Draft,
    step: Exclude<Life['steps'][number], { kind: 'wait' | 'receive' }>,
  ): DraftValue {
    const { element } = step;
    const scenario = this.#scenario;
    if (step.kind === 'connect') {
      draft.connect = connectOf(element, step.overMs, scenario);
      draft.target = this.#target(element, draft.element);
      return 'connect';
    }
    if (step.kind === 'publish') {
      const stream = publishOf(
        element,
        { clients: draft.clients, times: step.times, taken: draft.taken },
        scenario,
      );
      if (stream === null) return 'idle';
      draft.publish.push(noted(stream.body, `${whatOf(element)}, line ${element.line}`));
      return `publish.${stream.name}`;
    }
    if (step.kind === 'subscribe') {
      draft.subscribe.push(...subscribeOf(element, draft.taken, scenario));
      return 'subscribe';
    }
    return step.kind;
  }

  #draft(lifeCycle: XmlElement): Draft | null {
    const id = lifeCycle.attributes['clientGroup'] ?? '';
    const there = this.#drafts.get(id);
    if (there !== undefined) return there;
    const element = this.#scenario.byId('clientGroups', id);
    if (element === undefined) {
      this.#scenario.lose(lifeCycle, `there is no client group "${id}"`);
      return null;
    }
    const name = planName(id, 'clients', this.#names);
    this.#names.add(name);
    const clients = Math.max(1, this.#scenario.number(element, childText(element, 'count'), 1));
    const draft = {
      name,
      element,
      clients,
      target: '',
      connect: {},
      publish: [],
      subscribe: [],
      taken: new Set<string>(),
    };
    this.#drafts.set(id, draft);
    return draft;
  }

  #target(connect: XmlElement, group: XmlElement): string {
    const version =
      childText(group, 'mqttVersion') ||
      childText(group.children.find(({ name }) => name === 'mqtt') ?? group, 'version');
    const map = {
      protocol: 'mqtt',
      ...brokersOf(connect, this.#scenario),
      version: version === '3' ? '3.1.1' : '5',
    };
    const key = JSON.stringify(map);
    const name =
      this.#targets.get(key)?.name ??
      (this.#targets.size === 0 ? 'broker' : `broker-${this.#targets.size + 1}`);
    this.#targets.set(key, { name, map });
    return name;
  }

  #written(draft: Draft): DraftValue {
    const { element, clients, connect, publish, subscribe } = draft;
    const first = [...this.#targets.values()][0]?.name ?? '';
    return noted(
      {
        target: draft.target === '' ? first : draft.target,
        clients,
        ...this.#clientId(element, clients),
        connect,
        ...(publish.length === 0 ? {} : { publish }),
        ...(subscribe.length === 0 ? {} : { subscribe }),
      },
      `${whatOf(element)}, line ${element.line}`,
    );
  }

  #clientId(element: XmlElement, clients: number): DraftMap {
    const text = childText(element, 'clientIdPattern');
    if (text === '') return {};
    const pattern = patternOf(text);
    if (pattern === null) {
      this.#scenario.lose(element, `the pattern ${text}: more than text and one running number`);
      return {};
    }
    const offset = this.#scenario.number(element, childText(element, 'clientIdPatternOffset'), 0);
    if (clients + offset > 10 ** pattern.digits) {
      this.#scenario.lose(element, `${text} has fewer ids than the group has clients`);
      return {};
    }
    const id = patternTemplate(pattern, offset, null);
    if (!this.#ids.has(id)) {
      this.#ids.add(id);
      return { clientId: id };
    }
    this.#scenario.change(
      element,
      'its ids are those of another group, too: the name of the group is put behind',
    );
    return { clientId: `${id}-{{group}}` };
  }
}
