import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  judgeLedger,
  LedgerJoin,
  type LedgerPage,
  type LedgerResult,
  ledgerSeries,
} from '@squall/core/ledger';
import type { AgentShare, GroupRows } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import { compileTemplate } from '@squall/core/template';
import type { Judge } from '@squall/core/thresholds';
import { streamTopics } from '@squall/core/schedule';

/** A page and whose it is. */
export interface AgentPage {
  readonly agent: string;
  readonly page: LedgerPage;
}

export interface RunLedgerScene {
  readonly plan: Plan;
  /** Of all agents of the run, lost ones included. */
  readonly split: readonly AgentShare[];
  readonly shortRun: string;
  /** Values of `{{env.X}}`; null: an earlier process had them, and this one does not. */
  readonly secrets: Readonly<Record<string, string>> | null;
  /** Rows of CSV files, by the group's name; null likewise. */
  readonly rows: Readonly<Record<string, GroupRows>> | null;
  /** Whether pages wait here for a checkpoint. */
  readonly isSaved: boolean;
  /** Those that an earlier process put away. */
  readonly known: readonly AgentPage[];
}

/** Shown in place of a value that only the agents know. */
const HIDDEN = '***';

/**
 * The delivery ledger of one run: takes pages as they come, keeps each until it is in a checkpoint,
 * and puts them together when the run is over.
 */
export class RunLedger {
  readonly #scene: RunLedgerScene;
  /** Null where nobody subscribes: there is nothing to compare with. */
  readonly #join: LedgerJoin | null;
  #unsaved: AgentPage[] = [];
  #goal: number | null = null;
  #isGoalSought = false;

  constructor(scene: RunLedgerScene) {
    this.#scene = scene;
    const { known, plan, rows, secrets, shortRun, split } = scene;
    const subscribes = plan.groups.some((group) => group.subscribe.length > 0);
    const values = secrets ?? hiddenValues(plan);
    this.#join = subscribes
      ? new LedgerJoin({ plan, split, shortRun, secrets: values, rows: rows ?? {} })
      : null;
    for (const { agent, page } of known) this.#join?.add(agent, page);
    this.#seekGoal();
  }

  /**
   * How many arrivals (`arrived`) there are when everything has arrived that was sent to somebody who
   * must get it; null while that is not known, or where it cannot be before the end.
   */
  get goal(): number | null {
    return this.#goal;
  }

  /**
   * Takes a page; one that came before changes nothing.
   * @throws SquallError SQ_FRAME for a page that names what the plan does not have.
   */
  add(agent: string, page: LedgerPage): void {
    if (this.#join === null) return;
    this.#join.add(agent, page);
    if (this.#scene.isSaved) this.#unsaved.push({ agent, page });
    this.#seekGoal();
  }

  /** Once, when everything is here that was sent. */
  #seekGoal(): void {
    if (this.#isGoalSought || this.#join?.allSent !== true || this.#lacksValues()) return;
    this.#isGoalSought = true;
    void this.#findGoal(this.#join);
  }

  async #findGoal(join: LedgerJoin): Promise<void> {
    try {
      this.#goal = await gone(join.goal());
    } catch {
      // What is wrong with the plan's names is told when the ledgers are joined.
      this.#goal = null;
    }
  }

  /** Pages that no checkpoint has yet. To be told once they are in one. */
  unsaved(): { readonly pages: readonly AgentPage[]; readonly kept: () => void } {
    const pages = this.#unsaved.slice();
    return { pages, kept: () => void this.#unsaved.splice(0, pages.length) };
  }

  /**
   * Compares what was sent with what arrived and tells the judge, without holding up others for long.
   * Once, when nothing more can come. Null where nobody subscribes.
   */
  async finish(judge: Judge): Promise<LedgerResult | null> {
    if (this.#join === null) return null;
    const result = this.#lacksValues() ? UNREADABLE : await gone(this.#join.join());
    const doubt = judgeLedger(result, this.#scene.plan).doubts[0] ?? null;
    judge.takeLedger(ledgerSeries(result.rows), doubt);
    return result;
  }

  /** Without the values in them nobody can say which filter matches which topic. */
  #lacksValues(): boolean {
    const { plan, rows, secrets } = this.#scene;
    if (secrets !== null && rows !== null) return false;
    const texts = plan.groups.flatMap((group) => [
      ...group.publish.flatMap(streamTopics),
      ...group.subscribe.flatMap((entry) => entry.topics),
    ]);
    return texts.some(
      (text) =>
        (secrets === null && valuesIn(text).length > 0) || (rows === null && hasColumn(text)),
    );
  }
}

const UNREADABLE: LedgerResult = {
  rows: [],
  outside: [],
  apart: { unstamped: 0, outside: 0, replayed: 0, untracked: 0 },
  sessionsLost: [],
  perSubscription: null,
  missing: [
    'the values of {{env.…}} or {{csv.…}} in topics: a controller that was started again does not have them',
  ],
};

/** Goes through steps of work without holding up others for long. */
async function gone<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

function hiddenValues(plan: Plan): Record<string, string> {
  const names = plan.groups.flatMap((group) => valuesIn(group.clientId));
  return Object.fromEntries(names.map((name) => [name, HIDDEN]));
}

function hasColumn(text: string): boolean {
  return compileTemplate(text).parts.some(({ kind }) => kind === 'csv');
}

/** Names of the `{{env.X}}` in a template. */
function valuesIn(text: string): string[] {
  return compileTemplate(text).parts.flatMap((part) => (part.kind === 'env' ? [part.name] : []));
}
