import {
  type MetricName,
  NOT_SENT,
  type RunAggregate,
  type SeriesTotal,
} from '../metrics/index.ts';
import type { Group, Plan } from '../plan/plan.ts';
import type { AgentRecord, ReportInput } from './input.ts';
import type { Book } from './model.ts';

/** Reason of `unfinished` for what was due and not sent; all others were sent and not acknowledged. */
const WAITING = 'waiting';

type BooksInput = Pick<ReportInput, 'plan' | 'agents' | 'aggregate' | 'outcome'>;

/**
 * The books of every publish stream and of every group's connections: what went in equals what came
 * out, every difference by its name. What a lost agent did not report any more is a difference with
 * the agent's name; without one, nothing may be left over.
 */
export function booksOf(input: BooksInput): Book[] {
  const { plan, aggregate } = input;
  if (aggregate === null) return [];
  const ledger = new SubjectSums(aggregate);
  return plan.groups.flatMap((group) => [
    ...connectBooks(group.name, { input, ledger }),
    ...sendersOf(group).flatMap((sender) => streamBooks(sender, { input, ledger })),
  ]);
}

/** Who sends messages by one name: a stream, what answers by the name of the group, or both. */
interface Sender {
  readonly subject: string;
  /** Whether all of its messages are acknowledged. */
  readonly acknowledged: boolean;
}

function sendersOf({ publish, respond }: Group): Sender[] {
  const senders = new Map<string, boolean>();
  for (const { subject, qos } of [...publish, ...respond]) {
    senders.set(subject, (senders.get(subject) ?? true) && qos > 0);
  }
  return Array.from(senders, ([subject, acknowledged]) => ({ subject, acknowledged }));
}

/** Agents of which not everything arrived. */
function incompleteAgents(agents: readonly AgentRecord[]): AgentRecord[] {
  return agents.filter(
    (agent) =>
      agent.state !== 'completed' ||
      agent.workersLost.length > 0 ||
      agent.framesProduced === null ||
      agent.framesReceived < agent.framesProduced,
  );
}

interface Account {
  readonly input: BooksInput;
  readonly ledger: SubjectSums;
}

function streamBooks({ subject, acknowledged }: Sender, { input, ledger }: Account): Book[] {
  const sum = (metric: MetricName) => ledger.sum(subject, metric);
  const failed = sum('publish_failed');
  const notSent = ledger.sum(subject, 'publish_failed', (reason) => reason.startsWith(NOT_SENT));
  const waiting = ledger.sum(subject, 'unfinished', (reason) => reason === WAITING);
  const inFlight = sum('unfinished') - waiting;
  const [scheduled, sent, ended] = [sum('scheduled'), sum('sent'), sum('published')];
  const before = [
    term('sent', sent),
    term('dropped', sum('dropped')),
    term('failed before sending', notSent),
    term('waiting at the end', waiting),
  ];
  const after = [
    acknowledged ? term('acked', sum('acked')) : term('published', ended),
    term('failed after sending', failed - notSent),
    term('in flight at the end', inFlight),
  ];
  const lost = lostOf(input, subject, openMessages);
  const open = [scheduled - total(before), sent - total(after)] as const;
  // What is left over must be what the lost agents alone leave over, not a cent more.
  const explained = lost !== null && open[0] + open[1] === lost.residual;
  return [
    plannedBook(subject, { planned: sum('planned'), scheduled, input }),
    book(`${subject}: scheduled`, scheduled, { terms: before, lost: explained ? lost : null }),
    book(`${subject}: sent`, sent, { terms: after, lost: explained ? lost : null }),
  ];
}

interface Term {
  readonly name: string;
  readonly value: number;
}

function term(name: string, value: number): Term {
  return { name, value };
}

function total(terms: readonly Term[]): number {
  return terms.reduce((sum, { value }) => sum + value, 0);
}

interface Planned {
  readonly planned: number;
  readonly scheduled: number;
  readonly input: BooksInput;
}

/**
 * Messages that the plan has, and that nobody picked up. In a run that was cut off they were not due
 * yet, and so are those of a closed loop that a stage was too short for; otherwise only a lost agent
 * can have left any.
 */
function plannedBook(subject: string, { planned, scheduled, input }: Planned): Book {
  const short = planned - scheduled;
  const cut = input.outcome.kind !== 'completed' || mayRunShort(input.plan, subject);
  const lost = lostOf(input, subject, (sum) => sum('planned') - sum('scheduled'));
  return book(`${subject}: planned`, planned, {
    terms: [
      term('scheduled', scheduled),
      term('not yet due at the end', cut && short > 0 ? short : 0),
    ],
    lost: lost !== null && lost.residual === short ? lost : null,
  });
}

/** A closed loop with a `count` in a stage that ends by something else: how far it comes is open. */
function mayRunShort({ groups, stages }: Plan, subject: string): boolean {
  return stages.some(({ run, forUs, until }) => {
    if (forUs === null && until === null) return false;
    return run.some(({ group, activities }) =>
      activities.some((activity) => {
        if (activity.kind !== 'publish' || activity.pace.kind !== 'max') return false;
        const stream = groups[group]?.publish[activity.stream];
        return stream?.subject === subject && stream.count !== null;
      }),
    );
  });
}

interface RightSide {
  readonly terms: readonly Term[];
  readonly lost: Lost | null;
}

function book(name: string, left: number, { terms, lost }: RightSide): Book {
  const names = terms.map((one) => one.name).join(' + ');
  const right = total(terms);
  const open = left - right;
  if (lost === null || open === 0) {
    return { equation: `${name} = ${names}`, left, right, holds: open === 0 };
  }
  // A lost frame can hide either side; the books stay whole numbers of messages.
  const unreported = `not reported by ${lost.agents}`;
  return open > 0
    ? { equation: `${name} = ${names} + ${unreported}`, left, right: left, holds: true }
    : { equation: `${name} + ${unreported} = ${names}`, left: right, right, holds: true };
}

interface Lost {
  readonly agents: string;
  readonly residual: number;
}

type SumOf = (metric: MetricName) => number;

/** Messages that were picked up, and of which nobody said how they ended. */
function openMessages(sum: SumOf): number {
  const ended = sum('published') + sum('dropped') + sum('publish_failed') + sum('unfinished');
  return sum('scheduled') - ended;
}

/** What the agents that did not report to the end leave over by themselves. */
function lostOf(
  { agents, aggregate }: BooksInput,
  subject: string,
  residualOf: (sum: SumOf) => number,
): Lost | null {
  const incomplete = incompleteAgents(agents);
  if (incomplete.length === 0 || aggregate === null) return null;
  let residual = 0;
  for (const { id } of incomplete) {
    const own = [...aggregate.agentCounters(id)].filter(({ key }) => key.subject === subject);
    residual += residualOf((metric) =>
      own.reduce((sum, { key, value }) => sum + (key.metric === metric ? value : 0), 0),
    );
  }
  return { agents: incomplete.map((agent) => agent.id).join(', '), residual };
}

/** Attempts that had no answer yet when the run ended are under way, one a client at most. */
function connectBooks(group: string, { input, ledger }: Account): Book[] {
  const clients = input.plan.groups.find((one) => one.name === group)?.clients ?? 0;
  const attempts = ledger.sum(group, 'connect_attempts');
  const connected = ledger.sum(group, 'connected');
  const failed = ledger.sum(group, 'connect_failed');
  const open = attempts - connected - failed;
  const possible = open >= 0 && open <= clients;
  return [
    book(`${group}: connect_attempts`, attempts, {
      terms: [
        term('connected', connected),
        term('connect_failed', failed),
        term('under way at the end', possible ? open : 0),
      ],
      lost: null,
    }),
  ];
}

/** Counters of the run by subject and metric. */
class SubjectSums {
  readonly #totals: readonly SeriesTotal[];

  constructor(aggregate: RunAggregate) {
    this.#totals = [...aggregate.series()].filter(({ histogram }) => histogram === null);
  }

  sum(subject: string, metric: MetricName, reason?: (reason: string) => boolean): number {
    let sum = 0;
    for (const { key, value } of this.#totals) {
      if (key.subject !== subject || key.metric !== metric) continue;
      if (reason === undefined || reason(key.reason ?? '')) sum += value;
    }
    return sum;
  }
}
