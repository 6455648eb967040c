import type { AclSigner } from '../codec/acl-signer.ts';
import { Property } from '../codec/message-properties.ts';
import type { RecordReader } from '../codec/record-reader.ts';
import { RequestCode } from '../codec/request-code.ts';
import { ResponseCode, responseName } from '../codec/response-code.ts';
import { recordProperties } from '../codec/stored-message.ts';
import type { Connection } from '../connections/connection.ts';
import { signedRequest } from '../connections/requester.ts';
import type { Answer, AnswerHandler, NoAnswer } from '../connections/waiting-requests.ts';
import type { ConsumerCounts } from './consumer-handlers.ts';

export interface SendBackParts {
  readonly group: string;
  readonly retries: number;
  readonly signer: AclSigner | null;
  readonly counts: ConsumerCounts;
  readonly timeoutUs: number;
  failed(reason: string): void;
}

/**
 * Messages whose consumption failed go back to their broker, which delivers them again from the
 * group's retry topic after 10 s, 30 s, 1 min …, and puts them aside in the end.
 */
export class SendBacks implements AnswerHandler {
  readonly #parts: SendBackParts;

  constructor(parts: SendBackParts) {
    this.#parts = parts;
  }

  send(connection: Connection | null, record: RecordReader): void {
    const properties = recordProperties(record);
    const topic = record.bytes.toString('utf8', record.topicAt, record.topicEnd);
    const command = signedRequest(
      {
        code: RequestCode.consumerSendMessageBack,
        ext: {
          offset: String(record.commitLogOffset),
          group: this.#parts.group,
          // The broker chooses, by how often the message has come already.
          delayLevel: '0',
          originMsgId: properties[Property.originMessageId] ?? properties[Property.uniqueKey] ?? '',
          originTopic: properties[Property.retryTopic] ?? topic,
          unitMode: 'false',
          // 4.8.0 needs it.
          maxReconsumeTimes: String(this.#parts.retries),
        },
      },
      this.#parts.signer,
    );
    if (connection?.postCommand(command, this, this.#parts.timeoutUs) !== true) {
      this.#fail('not connected');
    }
  }

  answered(_token: number, answer: Answer): void {
    if (answer.head.code === ResponseCode.success) this.#parts.counts.sentBack += 1;
    else this.#fail(responseName(answer.head.code));
  }

  unanswered(_token: number, why: NoAnswer): void {
    this.#fail(why);
  }

  #fail(reason: string): void {
    this.#parts.counts.sendBacksFailed += 1;
    this.#parts.failed(reason);
  }
}
