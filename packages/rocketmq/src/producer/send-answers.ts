// Data path: one call a send.
import { ResponseCode } from '../codec/response-code.ts';
import { remarkOf } from '../connections/answers.ts';
import type { Answer, AnswerHandler, NoAnswer } from '../connections/waiting-requests.ts';
import { Outcome, type Settlement } from './producer-handlers.ts';
import { refusalOutcome, refusalReason } from './refusal-reasons.ts';

const QUEUE_ID = Buffer.from('queueId');
const QUEUE_OFFSET = Buffer.from('queueOffset');

/** Who takes the settlements of one broker's answers. */
export interface SettlementSink {
  settle(token: number, settlement: Settlement, answer: Answer | null): void;
}

/** Reads the answers of one broker to sends. */
export class SendAnswers implements AnswerHandler {
  readonly #sink: SettlementSink;
  readonly #settlement: Settlement;

  constructor(brokerName: string, sink: SettlementSink) {
    this.#sink = sink;
    this.#settlement = {
      outcome: Outcome.stored,
      responseCode: 0,
      reason: '',
      brokerName,
      queueId: 0,
      queueOffset: 0,
    };
  }

  answered(token: number, answer: Answer): void {
    const settlement = this.#settlement;
    const { head } = answer;
    settlement.responseCode = head.code;
    settlement.queueId = head.number(QUEUE_ID);
    settlement.queueOffset = head.number(QUEUE_OFFSET);
    if (head.code === ResponseCode.success) {
      settlement.outcome = Outcome.stored;
      settlement.reason = '';
    } else {
      const reason = refusalReason(head.code, remarkOf(answer));
      settlement.reason = reason;
      settlement.outcome = refusalOutcome(head.code, reason);
    }
    this.#sink.settle(token, settlement, answer);
  }

  unanswered(token: number, why: NoAnswer): void {
    const settlement = this.#settlement;
    settlement.responseCode = -1;
    settlement.queueId = -1;
    settlement.queueOffset = -1;
    settlement.reason = why;
    settlement.outcome = why === 'timed out' ? Outcome.timedOut : Outcome.connectionLost;
    this.#sink.settle(token, settlement, null);
  }
}
