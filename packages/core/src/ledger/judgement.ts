import type { Plan } from '../plan/plan.ts';
import type { LedgerExample, LedgerResult, LedgerRow } from './row.ts';
import { sumStages } from './sum-stages.ts';

/** What the ledger says about the verdict, without being asked. One plain sentence each. */
export interface LedgerJudgement {
  /** Lead to `fail`. */
  readonly failures: readonly string[];
  /** Lead to `inconclusive` where nothing failed. */
  readonly inconclusive: readonly string[];
  /** Why the figures are not all there: thresholds on them cannot be judged. */
  readonly doubts: readonly string[];
  /** Worth knowing, no harm to the verdict. */
  readonly notes: readonly string[];
}

/**
 * What must hold even where no threshold says so: nothing lost at QoS ≥ 1, nothing duplicated at
 * QoS 2, nothing corrupted or on a wrong topic. Stages with `warmup: true` are left out, but named in
 * a note. Where it cannot be said whether it holds, the run is inconclusive: of what is lost at QoS 0
 * nothing is asked, so what cannot be verified there is a note.
 */
export function judgeLedger(result: LedgerResult, plan: Pick<Plan, 'stages'>): LedgerJudgement {
  const isWarmup = (row: LedgerRow): boolean => plan.stages[row.stage]?.warmup === true;
  const judged = sumStages(result.rows.filter((row) => !isWarmup(row)));
  const warmup = sumStages(result.rows.filter(isWarmup));
  const asked = judged.filter(({ qos }) => qos > 0);
  const unasked = judged.filter(({ qos }) => qos === 0);
  const lacks = lacking(result);
  // Without a row nobody knows by which QoS it would have been.
  const isLacking = judged.length === 0 || asked.length > 0;
  return {
    failures: judged.flatMap(failuresOf),
    inconclusive: [...asked.flatMap(doubtsOf), ...(isLacking ? lacks : [])],
    doubts: [...judged.flatMap(doubtsOf), ...lacks],
    notes: [
      ...unasked.flatMap(doubtsOf),
      ...(isLacking ? [] : lacks),
      ...judged.flatMap(notesOf),
      ...result.sessionsLost.map(sessionsNote),
      ...warmup.flatMap(failuresOf).map((text) => `in warm-up, not judged: ${text}`),
      ...result.outside.map(({ subject, reason }) => `${subject} is outside the ledger: ${reason}`),
    ],
  };
}

/** One row by itself: what fails it, and what keeps it from being judged. */
export function judgeRow(row: LedgerRow): { failures: string[]; doubts: string[] } {
  return { failures: failuresOf(row), doubts: row.qos > 0 ? doubtsOf(row) : [] };
}

function failuresOf(row: LedgerRow): string[] {
  const { qos, lost, expected, duplicated, corrupted, wrongTopic } = row;
  const failures: string[] = [];
  if (qos >= 1 && lost > 0) {
    failures.push(
      `${way(row)}: ${count(lost)} of ${messages(expected)} lost at QoS ${qos}${around(row)}${example(row, 'lost')}`,
    );
  }
  if (qos === 2 && duplicated > 0) {
    failures.push(
      `${way(row)}: ${messages(duplicated)} duplicated at QoS 2${example(row, 'duplicated')}`,
    );
  }
  if (corrupted > 0) {
    failures.push(`${way(row)}: ${messages(corrupted)} corrupted${example(row, 'corrupted')}`);
  }
  if (wrongTopic > 0) {
    failures.push(
      `${way(row)}: ${messages(wrongTopic)} on another topic than the one published to${example(row, 'wrongTopic')}`,
    );
  }
  return failures;
}

/** What befell the subscribers around what they lost. */
function around({ lostDisconnected, lostSession }: LedgerRow): string {
  const away =
    lostDisconnected === 0
      ? ''
      : `, ${count(lostDisconnected)} of them while the subscriber was disconnected`;
  return lostSession === 0
    ? away
    : `${away}, ${count(lostSession)} as the broker had lost its session`;
}

function doubtsOf(row: LedgerRow): string[] {
  const doubts: string[] = [];
  if (row.unverifiablePairs > 0) {
    const from = row.unverifiableFrom.map((agent) => `agent ${agent}`).join(', ');
    doubts.push(
      `${way(row)}: ${messages(row.unverifiable)} of ${pairs(row.unverifiablePairs)} cannot be verified: the ledger of ${from} is not complete`,
    );
  }
  if (row.inexactPairs > 0) {
    doubts.push(
      `${way(row)}: ${pairs(row.inexactPairs)} had more gaps than are kept, so the figures are bounds`,
    );
  }
  return doubts;
}

function lacking({ missing, apart }: LedgerResult): string[] {
  const doubts: string[] = [];
  if (missing.length > 0) doubts.push(`the delivery ledger lacks ${missing.join('; ')}`);
  if (apart.untracked > 0) {
    doubts.push(
      `${messages(apart.untracked)} of pairs beyond what a worker can follow: use more agents or fewer subscribers`,
    );
  }
  return doubts;
}

function notesOf(row: LedgerRow): string[] {
  const notes: string[] = [];
  if (row.qos === 0 && row.lost > 0) {
    notes.push(`${way(row)}: ${count(row.lost)} of ${messages(row.expected)} lost at QoS 0`);
  }
  if (row.copies > 0) {
    notes.push(
      `${way(row)}: ${messages(row.copies)} came as further copies for overlapping subscriptions, as MQTT allows`,
    );
  }
  if (row.wrongQos > 0) {
    notes.push(
      `${way(row)}: ${messages(row.wrongQos)} by another QoS than the lower one of published and granted${example(row, 'wrongQos')}`,
    );
  }
  if (row.expired > 0) {
    notes.push(
      `${way(row)}: ${messages(row.expired)} may have expired while the subscriber was away, and did not come`,
    );
  }
  if (row.refused > 0) {
    notes.push(`${way(row)}: ${messages(row.refused)} not expected, as the broker refused them`);
  }
  if (row.foreign > 0) notes.push(`${way(row)}: ${messages(row.foreign)} of others than this run`);
  if (row.unexpected > 0) {
    notes.push(`${way(row)}: ${messages(row.unexpected)} on no subscription that was granted`);
  }
  if (row.undecidedPairs > 0) {
    notes.push(
      `${way(row)}: ${pairs(row.undecidedPairs)} subscribed while messages were on their way and got none, which is not judged`,
    );
  }
  return notes;
}

function sessionsNote({ subject, clients }: LedgerResult['sessionsLost'][number]): string {
  const what = clients === 1 ? '1 session' : `${count(clients)} sessions`;
  return `${subject}: ${what} that should have been kept lost by the broker`;
}

function way({ from, to }: LedgerRow): string {
  return `${from} → ${to}`;
}

function example({ examples }: LedgerRow, kind: string): string {
  const first: LedgerExample | undefined = examples[kind]?.[0];
  if (first === undefined) return '';
  const whom = first.client === '' ? '' : ` of ${first.client}`;
  return ` (for example message ${first.seq}${whom} at ${first.subscriber})`;
}

function messages(n: number): string {
  return n === 1 ? '1 message' : `${count(n)} messages`;
}

function pairs(n: number): string {
  return n === 1 ? '1 pair' : `${count(n)} pairs`;
}

function count(n: number): string {
  return n.toLocaleString('en-US');
}
