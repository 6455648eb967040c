import { type FromAgent, type FromController, fromAgent } from '@squall/core/control';
import { type RawData, WebSocket } from 'ws';
import { MAX_BAD_MESSAGES, MAX_LINK_BACKLOG_BYTES } from '../limits.ts';
import type { TimeSource } from '../time-source.ts';

/** WebSocket close codes [RFC 6455, 7.4.1]. */
const POLICY_VIOLATION = 1008;

export interface LinkEvents {
  message(message: FromAgent): void;
  /** A measurement frame, not decoded. */
  frame(bytes: Uint8Array): void;
  /**
   * Something that does not fit the protocol; the link is closed after `MAX_BAD_MESSAGES` of them.
   * `json` is what was said, where it was JSON at all.
   */
  bad(reason: string, json?: unknown): void;
  closed(): void;
}

/** One WebSocket to one agent: parses and checks what comes in, answers clock probes by itself. */
export class Link {
  readonly #socket: WebSocket;
  readonly #time: TimeSource;
  #events: LinkEvents;
  #badMessages = 0;
  #welcomed = false;

  constructor(socket: WebSocket, time: TimeSource, events: LinkEvents) {
    this.#socket = socket;
    this.#time = time;
    this.#events = events;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', () => this.#events.closed());
    // A close always follows. A line that broke is no fault of what was said on it.
    socket.on('error', (error) => {
      if (isProtocolError(error)) this.#events.bad(`bytes that are no WebSocket: ${error.message}`);
    });
  }

  get open(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Hands the link from the handshake to the agent's session. Only from then on it gives the time. */
  handTo(events: LinkEvents): void {
    this.#events = events;
    this.#welcomed = true;
  }

  /** Whether the message was handed to an open socket. It may still be lost with the line. */
  send(message: FromController): boolean {
    if (!this.open) return false;
    if (this.#socket.bufferedAmount > MAX_LINK_BACKLOG_BYTES) {
      this.#events.bad('the agent does not read what it is sent');
      this.#socket.terminate();
      return false;
    }
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** Says why, then closes. */
  reject(message: Extract<FromController, { type: 'rejected' }>): void {
    this.send(message);
    this.#socket.close(POLICY_VIOLATION, message.code);
  }

  close(): void {
    this.#socket.close();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Counts a message that does not fit; for owners that find out later than the link. */
  countBad(reason: string, json?: unknown): void {
    this.#events.bad(reason, json);
    if (++this.#badMessages >= MAX_BAD_MESSAGES) {
      this.#socket.close(POLICY_VIOLATION, 'too many bad messages');
    }
  }

  #receive(data: RawData, isBinary: boolean): void {
    // First of all: whatever happens before this reading would count as the agent's clock error.
    const receivedUs = this.#time.monotonicUs();
    const bytes = toBuffer(data);
    if (isBinary) {
      this.#events.frame(bytes);
      return;
    }
    const json = parseJson(bytes);
    const parsed = fromAgent.safeParse(json);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      const where = issue === undefined ? '' : `: ${issue.path.join('.')} ${issue.message}`;
      this.countBad(`a message that does not fit the protocol${where}`, json);
      return;
    }
    if (parsed.data.type === 'clock_probe' && this.#welcomed) {
      this.send({
        type: 'clock_answer',
        agentSentUs: parsed.data.agentSentUs,
        controllerReceivedUs: receivedUs,
        controllerSentUs: this.#time.monotonicUs(),
      });
    }
    this.#events.message(parsed.data);
  }
}

/** The library's own errors speak of what the peer sent, the system's of the line. */
function isProtocolError(error: Error): boolean {
  return 'code' in error && String(error.code).startsWith('WS_ERR_');
}

/** Undefined where the bytes are no JSON, which then fits no message. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

function toBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
