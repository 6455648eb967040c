import { ANSWERS_IN_FLIGHT } from '../limits.ts';
import type { PublishGroup } from '../publish/publish-group.ts';
import { type StageBook, StageRun } from '../publish/stage-run.ts';
import type { Stream } from '../publish/stream.ts';
import { AnswerFeed } from '../requests/answer-feed.ts';
import { type AnswerStream, answerStream } from '../requests/answer-stream.ts';
import type { RequestView } from '../requests/request-view.ts';
import { item } from '../element.ts';
import type { MqttServices } from './group-services.ts';

/** Answers are no part of the ledger: whoever asked knows which of them came. */
const NO_BOOK: StageBook = {
  nextOf: () => 0,
  handed: () => undefined,
  mark: () => undefined,
  refused: () => undefined,
  unresolved: () => undefined,
  unresolvedTail: () => undefined,
};

/** What the clients of one group answer: a stream an entry, behind those that the group publishes. */
export class GroupAnswers {
  readonly streams: readonly Stream[];
  readonly #services: MqttServices;
  readonly #entries: readonly AnswerStream[];
  /** What answers in the current stage, by the respond entry. */
  readonly #answering: (AnswerFeed | undefined)[] = [];

  constructor(services: MqttServices, group: PublishGroup) {
    const { publish, respond } = services.group;
    this.#services = services;
    this.#entries = respond.map((spec, entry) =>
      answerStream(spec, publish.length + entry, { services, group }),
    );
    this.streams = this.#entries.map(({ stream }) => stream);
  }

  /** From here on the answers of an entry belong to this stage. */
  begin(entry: number, stage: number): { readonly stream: Stream; readonly run: StageRun } {
    const { recorder, moment } = this.#services;
    const { stream, source, spec } = item(this.#entries, entry);
    const { subject, qos } = stream;
    const meter = recorder.meter({ kind: 'publish', subject, stage, qos });
    const options = {
      stage,
      stream,
      meter,
      book: NO_BOOK,
      window: ANSWERS_IN_FLIGHT,
      paced: false,
      requests: null,
      answers: true,
    };
    const run = new StageRun(options, (outlet) => {
      const feed = new AnswerFeed({ source, outlet, meter, moment, delayUs: spec.delayUs });
      this.#answering[entry] = feed;
      return feed;
    });
    return { stream, run };
  }

  /** A client received what an entry is for. */
  onRequest(entry: number, position: number, request: RequestView): void {
    this.#answering[entry]?.ask(position, request);
  }
}
