// Data path
import type { InboundPublish } from '@squall/mqtt';
import { at, item } from '../element.ts';
import { LATE_RESPONSES, STRAY_RESPONSES } from '../measure/series.ts';
import { AnswerReader } from '../requests/answer-reader.ts';
import type { GroupPublishing } from './group-publishing.ts';
import type { MqttServices } from './group-services.ts';

/** The answers that come to a group's requests. */
export class GroupRequests {
  readonly #services: MqttServices;
  readonly #publishing: GroupPublishing;
  readonly #reader: AnswerReader;

  constructor(services: MqttServices, publishing: GroupPublishing) {
    const { runHash, firstSubject, group, target } = services;
    this.#services = services;
    this.#publishing = publishing;
    this.#reader = new AnswerReader({
      runHash,
      firstSubject,
      streams: group.publish.length,
      isVersion5: target.version === '5',
    });
  }

  /** Takes an answer to a request of the group; false where it is something else. */
  take(position: number, publish: InboundPublish): boolean {
    const reader = this.#reader;
    const { group, order } = this.#services;
    if (!reader.read(publish) || item(group.publish, reader.stream).request === null) return false;
    // Where clients share a response topic, each gets the answers of all.
    if (reader.client === at(order.numbers, position)) this.#answered(position);
    return true;
  }

  /** Something came by a response topic that answers nothing that was asked. */
  onStray(subject: string): void {
    const { recorder, timeline } = this.#services;
    const stream = this.#publishing.streams.find((each) => each.subject === subject);
    if (stream === undefined) return;
    const key = {
      kind: 'publish',
      subject,
      stage: timeline.currentStage(),
      qos: stream.qos,
    } as const;
    recorder.meter(key).add(STRAY_RESPONSES, 1);
  }

  #answered(position: number): void {
    const { stage, seq } = this.#reader;
    const { recorder, plan } = this.#services;
    const stream = item(this.#publishing.streams, this.#reader.stream);
    const requests = stream.runOf(stage)?.requests ?? null;
    if (requests !== null) {
      if (requests.answered(position, seq)) this.#publishing.pump(position);
    } else if (stage < plan.stages.length) {
      // Nobody waits any more for the answers of a stage that is over.
      const { subject, qos } = stream;
      recorder.meter({ kind: 'publish', subject, stage, qos }).add(LATE_RESPONSES, 1);
    }
  }
}
