import { at } from '../element.ts';
import { MAX_MARKS } from '../limits.ts';
import { sharedFilter } from '../matches-filter.ts';
import type { PlanNames } from '../plan-names.ts';
import type { StreamStages } from '../stream-stages.ts';
import { HELD } from './entitlements.ts';
import { lostExample } from './lost-example.ts';
import { surelyAfter } from './moments.ts';
import type { PlanTopics } from './plan-topics.ts';
import type { PublisherColumn, PublisherStore } from './publisher-store.ts';
import type { RowBook, RowKey } from './row-book.ts';
import { lostOfShare, lowestBit, type ShareCase, shareFigures } from './share-figures.ts';
import type { SharedColumn, ShareStore } from './share-store.ts';
import type { Share } from './shares.ts';
import type { Sources } from './sources.ts';

export interface ShareJudgeOptions {
  readonly names: PlanNames;
  readonly topics: PlanTopics;
  readonly stages: StreamStages;
  readonly sources: Sources;
  readonly publishers: PublisherStore;
  readonly shares: ShareStore;
  readonly rows: RowBook;
}

/** What one publisher sent to a share in one stage. */
interface Candidate {
  readonly share: Share;
  readonly row: RowKey;
  readonly stream: number;
  readonly publisher: number;
  readonly publisherSource: number;
  readonly column: PublisherColumn | null;
  readonly came: SharedColumn | null;
}

const NOTHING = new Uint32Array(0);
/** Publishers judged between two breaths. */
const STEP = 4_096;

/** Judges shared subscriptions: each as one receiver, whoever of its members got what. */
export class ShareJudge {
  readonly #options: ShareJudgeOptions;

  constructor(options: ShareJudgeOptions) {
    this.#options = options;
  }

  /** Yields how many publishers were judged. */
  *judge(shares: Iterable<Share>): Generator<number, void> {
    const { topics } = this.#options;
    let judged = 0;
    for (const share of shares) {
      for (const topic of topics.matches(sharedFilter(share.name) ?? '', false)) {
        if (share.open.has(topic)) continue;
        for (let place = topics.from(topic); place < topics.to(topic); place++) {
          this.#publisher(share, topics.streamAt(place), topics.clientAt(place));
          judged += 1;
          if (judged % STEP === 0) yield STEP;
        }
      }
    }
    yield judged % STEP;
  }

  #publisher(share: Share, stream: number, publisher: number): void {
    const { names, sources, publishers, shares, stages } = this.#options;
    const spec = names.plan.streams[stream];
    const entry = names.plan.entries[share.entry]?.spec;
    if (spec === undefined || entry === undefined) return;
    const publisherSource = sources.ownerOf(spec.group, publisher);
    const first = stages.firstOf(share.entry);
    for (const stage of stages.of(stream)) {
      const column = publishers.column(stream, stage);
      const came = shares.column(share.name, stream, stage);
      const qos = Math.min(spec.spec.qos, share.qos);
      const row: RowKey = { from: spec.spec.subject, to: entry.subject, qos, stage };
      if (stage < first && came === null) continue;
      this.#judge({ share, row, stream, publisher, publisherSource, column, came });
    }
  }

  #judge(candidate: Candidate): void {
    const { rows } = this.#options;
    const { row, publisher, column, came } = candidate;
    const handed = at(column?.handed ?? [], publisher);
    const bits = came?.bits[publisher] ?? NOTHING;
    const from = this.#unverifiable(candidate);
    if (from === null) {
      if (handed > 0 || bits.length > 0)
        this.#add(candidate, this.#caseOf(candidate, handed, bits));
      return;
    }
    const isUnknown = !this.#options.sources.isComplete(candidate.publisherSource);
    if (handed > 0 || bits.length > 0 || isUnknown) {
      rows.unverifiable(row, { messages: handed, from });
    }
  }

  #add(candidate: Candidate, share: ShareCase): void {
    const { rows } = this.#options;
    const { row, publisher, column } = candidate;
    const { handed, start, bits } = share;
    const figures = shareFigures(share);
    rows.add(row, figures, 1);
    const refused = at(column?.refused ?? [], publisher);
    if (refused > 0) rows.refused(row, Math.min(refused, figures.unresolved));
    if (figures.lost > 0) this.#lostExamples(candidate, share);
    if (bits.length === 0 && start === handed && handed > 0) rows.undecided(row);
    this.#doubleExamples(candidate);
  }

  #caseOf(candidate: Candidate, handed: number, bits: Uint32Array): ShareCase {
    const { share, column, publisher, came } = candidate;
    const head = at(column?.heads ?? [], publisher);
    const start = this.#startOf(candidate, handed);
    const lowest = lowestBit(bits);
    // What came early shows that the share was there; where members came and went, only then.
    const isSteady = !share.isBroken && lowest >= 0;
    return {
      handed,
      unresolved: { lists: this.#options.publishers.unresolved, head },
      start: isSteady ? Math.min(start, lowest) : start,
      open: share.hold !== HELD || (share.isBroken && this.#readsQueues(share)),
      bits,
      again: came?.again.get(publisher) ?? 0,
    };
  }

  /** Each queue of RocketMQ is read by one member: what it has not read the others do not get. */
  #readsQueues(share: Share): boolean {
    return this.#options.names.plan.entries[share.entry]?.spec.consume !== undefined;
  }

  /** From which number on everything must have come to some member. */
  #startOf({ share, column, publisher, publisherSource }: Candidate, handed: number): number {
    const clock = this.#options.sources.list[publisherSource]?.clock;
    const { since } = share;
    if (column === null || since === null || clock === null || clock === undefined) return handed;
    if (surelyAfter(since, { us: at(column.firstUs, publisher), clock })) return 0;
    for (const [mark, us] of (column.marksUs.get(publisherSource) ?? []).entries()) {
      if (!surelyAfter(since, { us, clock })) continue;
      return Math.min(handed, at(column.marks, publisher * MAX_MARKS + mark));
    }
    return handed;
  }

  /** Whose ledger is missing or too full, or null. */
  #unverifiable({ share, publisherSource, column, publisher }: Candidate): string | null {
    const { sources, shares } = this.#options;
    const incomplete = [publisherSource, ...share.sources].find(
      (source) => !sources.isComplete(source),
    );
    const full = [...share.sources].find((source) => sources.list[source]?.full === true);
    const unlisted = at(column?.unlisted ?? [], publisher) === 1 ? publisherSource : undefined;
    const whose = incomplete ?? full ?? unlisted ?? (shares.full ? publisherSource : undefined);
    return whose === undefined ? null : (sources.list[whose]?.agent ?? '');
  }

  #lostExamples(
    { share, row, stream, publisher, column, publisherSource }: Candidate,
    own: ShareCase,
  ) {
    const { rows, names, sources } = this.#options;
    const room = rows.roomFor(row, 'lost');
    if (room <= 0) return;
    const clock = sources.list[publisherSource]?.clock ?? null;
    const scene = { names, sender: { stream, publisher, column, clock }, subscriber: share.name };
    for (const seq of lostOfShare(own, room)) {
      rows.example(row, 'lost', lostExample({ seq, flags: 0 }, scene));
    }
  }

  /** What came to members in two workers: each of them saw it once. */
  #doubleExamples({
    share,
    row,
    stream,
    publisher,
    column,
    publisherSource,
    came,
  }: Candidate): void {
    const { rows, names, sources } = this.#options;
    const clock = sources.list[publisherSource]?.clock ?? null;
    const scene = { names, sender: { stream, publisher, column, clock }, subscriber: share.name };
    for (const { publisher: sender, seq } of came?.examples ?? []) {
      if (sender === publisher) {
        rows.example(row, 'duplicated', lostExample({ seq, flags: 0 }, scene));
      }
    }
  }
}
