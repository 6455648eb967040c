import type { AclSigner } from '../codec/acl-signer.ts';
import type { RemotingCommand } from '../codec/command.ts';
import { decodeFrame } from '../codec/frame.ts';
import { Property } from '../codec/message-properties.ts';
import { commitLogOffset } from '../codec/offset-message-id.ts';
import { RequestCode } from '../codec/request-code.ts';
import { ResponseCode } from '../codec/response-code.ts';
import { RocketmqError } from '../codec/rocketmq-error.ts';
import { decodeRecords, type StoredMessage } from '../codec/stored-message.ts';
import type { Connection } from '../connections/connection.ts';
import { signedRequest } from '../connections/requester.ts';
import type { Answer, AnswerHandler, NoAnswer } from '../connections/waiting-requests.ts';
import type { TransactionOptions, TransactionState } from './producer-options.ts';

/** Values of `commitOrRollback`. */
const STATES: Readonly<Record<TransactionState, string>> = {
  commit: '8',
  rollback: '12',
  unknown: '0',
};
/** Decisions that are remembered; older ones are forgotten first. */
const DECISIONS_MAX = 100_000;

/** What came of half messages, as the official tool counts it. */
export interface TransactionCounts {
  committed: number;
  rolledBack: number;
  left: number;
  /** Ends that the broker refused, or did not answer. */
  endsFailed: number;
  /** Questions of brokers. */
  checks: number;
  /** … about messages that were decided. */
  unexpectedChecks: number;
  /** … about messages that had been asked about before. */
  duplicatedChecks: number;
}

export interface TransactionParts {
  readonly group: string;
  readonly options: TransactionOptions;
  readonly signer: AclSigner | null;
  readonly timeoutUs: number;
}

interface Decision {
  state: TransactionState;
  checks: number;
}

/**
 * The second half of half messages: commit, rollback or silence, and the answers to brokers that ask
 * again. What was decided is remembered, because a second commit delivers a message twice.
 */
export class Transactions implements AnswerHandler {
  readonly counts: TransactionCounts = {
    committed: 0,
    rolledBack: 0,
    left: 0,
    endsFailed: 0,
    checks: 0,
    unexpectedChecks: 0,
    duplicatedChecks: 0,
  };
  readonly #parts: TransactionParts;
  /** By message id, oldest first. */
  readonly #decisions = new Map<string, Decision>();
  /** Message ids of halves under way, by token. */
  readonly #ids = new Map<number, string>();

  constructor(parts: TransactionParts) {
    this.#parts = parts;
  }

  sent(token: number, messageId: string): void {
    this.#ids.set(token, messageId);
  }

  /** A half message was stored (`answer`), or not (null). */
  settled(token: number, stored: { answer: Answer; connection: Connection | null } | null): void {
    const messageId = this.#ids.get(token);
    this.#ids.delete(token);
    if (messageId === undefined || stored === null) return;
    const state = this.#parts.options.decide(token);
    this.#remember(messageId, { state, checks: 0 });
    this.#count(state);
    if (stored.connection === null) {
      this.counts.endsFailed += 1;
      return;
    }
    const { ext } = decodeFrame(stored.answer.frame);
    const offset = commitLogOffset(ext['msgId'] ?? '');
    if (offset === null) throw new RocketmqError('HEADER', 'a half message without its offset');
    this.#end(stored.connection, {
      state,
      messageId,
      commitLogOffset: String(offset),
      tableOffset: ext['queueOffset'] ?? '0',
      checked: false,
    });
  }

  /** A broker asks about a half message. False: it is not one of this group. */
  checked(connection: Connection, command: RemotingCommand): boolean {
    let record: StoredMessage | undefined;
    try {
      [record] = decodeRecords(command.body);
    } catch (error) {
      if (!(error instanceof RocketmqError)) throw error;
    }
    if (record?.properties[Property.producerGroup] !== this.#parts.group) return false;
    const messageId = record.properties[Property.uniqueKey] ?? command.ext['offsetMsgId'] ?? '';
    const state = this.#decideAgain(messageId);
    if (state === null) return true;
    // Before it asks, the broker appends a fresh copy of the half: both offsets are that one's.
    this.#end(connection, {
      state,
      messageId,
      commitLogOffset: command.ext['commitLogOffset'] ?? '0',
      tableOffset: command.ext['tranStateTableOffset'] ?? '0',
      checked: true,
    });
    return true;
  }

  answered(_token: number, answer: Answer): void {
    // A remark stands on successes, too ("not set any response code" on a rollback).
    if (answer.head.code !== ResponseCode.success) this.counts.endsFailed += 1;
  }

  unanswered(_token: number, _why: NoAnswer): void {
    this.counts.endsFailed += 1;
  }

  /** Null: decided before, and not to be said again. */
  #decideAgain(messageId: string): TransactionState | null {
    const known = this.#decisions.get(messageId) ?? { state: 'unknown', checks: 0 };
    known.checks += 1;
    this.counts.checks += 1;
    if (known.checks > 1) this.counts.duplicatedChecks += 1;
    if (known.state !== 'unknown') {
      this.counts.unexpectedChecks += 1;
      return null;
    }
    known.state = this.#parts.options.decideAgain(messageId, known.checks);
    this.#remember(messageId, known);
    if (known.state !== 'unknown') {
      this.counts.left -= 1;
      this.#count(known.state);
    }
    return known.state;
  }

  #count(state: TransactionState): void {
    if (state === 'commit') this.counts.committed += 1;
    else if (state === 'rollback') this.counts.rolledBack += 1;
    else this.counts.left += 1;
  }

  #remember(messageId: string, decision: Decision): void {
    this.#decisions.set(messageId, decision);
    if (this.#decisions.size <= DECISIONS_MAX) return;
    const [oldest] = this.#decisions.keys();
    if (oldest !== undefined) this.#decisions.delete(oldest);
  }

  #end(
    connection: Connection,
    half: {
      state: TransactionState;
      messageId: string;
      commitLogOffset: string;
      tableOffset: string;
      checked: boolean;
    },
  ): void {
    const command = signedRequest(
      {
        code: RequestCode.endTransaction,
        ext: {
          producerGroup: this.#parts.group,
          tranStateTableOffset: half.tableOffset,
          commitLogOffset: half.commitLogOffset,
          commitOrRollback: STATES[half.state],
          fromTransactionCheck: String(half.checked),
          msgId: half.messageId,
          transactionId: half.messageId,
        },
      },
      this.#parts.signer,
    );
    // An undecided one is never answered.
    const handler = half.state === 'unknown' ? null : this;
    if (!connection.postCommand(command, handler, this.#parts.timeoutUs))
      this.counts.endsFailed += 1;
  }
}
