import type { RemotingCommand } from '../codec/command.ts';
import { decodeFrame } from '../codec/frame.ts';
import { ResponseCode } from '../codec/response-code.ts';
import { answerError, RocketmqError } from '../codec/rocketmq-error.ts';
import type { Connection } from './connection.ts';
import type { Answer, AnswerHandler, NoAnswer } from './waiting-requests.ts';

/** One request whose answer somebody awaits. Rare requests only: it costs a promise. */
class AwaitedAnswer implements AnswerHandler {
  readonly #resolve: (answer: RemotingCommand) => void;
  readonly #reject: (error: Error) => void;
  readonly #what: { address: string; code: number };

  constructor(
    what: { address: string; code: number },
    resolve: (answer: RemotingCommand) => void,
    reject: (error: Error) => void,
  ) {
    this.#what = what;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  answered(_token: number, answer: Answer): void {
    try {
      this.#resolve(decodeFrame(answer.frame));
    } catch (error) {
      this.#reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  unanswered(_token: number, why: NoAnswer): void {
    const { address, code } = this.#what;
    const text =
      why === 'timed out'
        ? `${address} did not answer request ${code} in time`
        : `the connection to ${address} was lost before the answer to request ${code}`;
    this.#reject(new RocketmqError(why === 'timed out' ? 'TIMEOUT' : 'CLOSED', text, { address }));
  }
}

/**
 * Sends a command and gives its answer, whatever its code.
 *
 * @throws RocketmqError TIMEOUT, CLOSED, HEADER
 */
export function answerOf(
  connection: Connection,
  command: RemotingCommand,
  timeoutUs: number,
): Promise<RemotingCommand> {
  const { address } = connection;
  return new Promise((resolve, reject) => {
    const handler = new AwaitedAnswer({ address, code: command.code }, resolve, reject);
    if (connection.postCommand(command, handler, timeoutUs)) return;
    reject(
      new RocketmqError('CLOSED', `no connection to ${address}, or no room on it`, { address }),
    );
  });
}

/**
 * The answer where it is a success; a remark may stand on a success, too.
 *
 * @throws RocketmqError ANSWER
 */
export function successOf(answer: RemotingCommand, address: string): RemotingCommand {
  if (answer.code === ResponseCode.success) return answer;
  throw answerError({ code: answer.code, remark: answer.remark, address });
}

/** The peer's own words; empty where there are none. */
export function remarkOf(answer: Answer): string {
  try {
    return decodeFrame(answer.frame).remark ?? '';
  } catch {
    // Then the code alone has to do.
    return '';
  }
}
