import {
  type AgentFacts,
  CONTROL_PROTOCOL,
  type FromAgent,
  MAX_CONTROL_MESSAGE_BYTES,
} from '@squall/core/control';
import type { RequestListener, Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import {
  GOODBYE_US,
  HELLO_TIMEOUT_US,
  MAX_AGENTS,
  MAX_ID_SUFFIX,
  MAX_PENDING_LINKS,
} from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { TimeSource } from '../time-source.ts';
import { Link } from './link.ts';
import { listen, type TlsIdentity } from './listen.ts';
import { AgentSession, type Reservation, type SessionOwner } from './session.ts';
import { sameToken } from './token.ts';

/** "Try again later" [RFC 6455 registry]. */
const OVERLOADED = 1013;
/** An endpoint that leaves on purpose [RFC 6455, 7.4.1]. */
const GOING_AWAY = 1001;

type Hello = Extract<FromAgent, { type: 'hello' }>;

export interface HubOptions {
  readonly host: string;
  readonly port: number;
  /** What agents must show to be let in; null lets in whoever can reach the (loopback) address. */
  readonly token: string | null;
  readonly time: TimeSource;
  readonly logger: Logger;
  /** Addresses that other machines reach are taken, too. */
  readonly remote?: boolean;
  readonly tls?: TlsIdentity;
  /** Plain HTTP on the same port. */
  readonly requests?: RequestListener;
}

/** Where agents dial in: lets them in, keeps one session each, tells who comes and goes. */
export class AgentHub {
  readonly #options: HubOptions;
  readonly #server: WebSocketServer;
  readonly #sessions = new Map<string, AgentSession>();
  readonly #changeListeners = new Set<() => void>();
  readonly #frameListeners = new Set<(session: AgentSession, bytes: Uint8Array) => void>();
  readonly #owner: SessionOwner;
  readonly #http: Server;
  #pending = 0;
  readonly port: number;

  /** @throws SquallError SQ_LISTEN */
  static async open(options: HubOptions): Promise<AgentHub> {
    const { server, port } = await listen(options);
    return new AgentHub(options, {
      port,
      server: new WebSocketServer({
        server,
        perMessageDeflate: false,
        maxPayload: MAX_CONTROL_MESSAGE_BYTES,
        // Agents send no Origin; a web page that tries to reach a local controller always does.
        verifyClient: (info: { origin?: string }) => info.origin === undefined,
      }),
      http: server,
    });
  }

  private constructor(
    options: HubOptions,
    parts: { port: number; server: WebSocketServer; http: Server },
  ) {
    this.#options = options;
    this.#server = parts.server;
    this.#http = parts.http;
    this.port = parts.port;
    this.#owner = {
      frame: (session, bytes) => {
        for (const listener of this.#frameListeners) listener(session, bytes);
      },
      gone: (session, reason) => {
        if (this.#sessions.get(session.id) === session) this.#sessions.delete(session.id);
        options.logger.info(`agent ${session.id} left: ${reason}`);
        this.#changed();
      },
      changed: () => this.#changed(),
    };
    this.#server.on('connection', (socket) => this.#accept(socket));
  }

  /** In the order of their ids, which is the order of the split. */
  sessions(): AgentSession[] {
    return [...this.#sessions.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  session(id: string): AgentSession | undefined {
    return this.#sessions.get(id);
  }

  /**
   * An agent of a run that was taken up: it is at work in it, and comes back with `resume` within its
   * grace. To be called before the first agent can dial in.
   */
  expect(agent: { id: string; facts: AgentFacts }, reservation: Reservation): AgentSession {
    const session = this.#open(agent.id, agent.facts);
    session.reserve(reservation);
    return session;
  }

  /** Called when an agent joins, leaves, loses or gets back its link, or is reserved or freed. */
  onChange(listener: () => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  onFrame(listener: (session: AgentSession, bytes: Uint8Array) => void): () => void {
    this.#frameListeners.add(listener);
    return () => this.#frameListeners.delete(listener);
  }

  /** Says goodbye to every agent; those that do not answer are cut off. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#http.close(() => resolve());
    });
    this.#server.close();
    for (const session of this.#sessions.values()) session.retire();
    for (const socket of this.#server.clients) socket.close(GOING_AWAY, 'the controller closes');
    const cutOff = this.#options.time.after(GOODBYE_US, () => {
      for (const socket of this.#server.clients) socket.terminate();
      this.#http.closeAllConnections();
    });
    await closed;
    cutOff();
  }

  #changed(): void {
    for (const listener of this.#changeListeners) listener();
  }

  #accept(socket: WebSocket): void {
    if (this.#pending >= MAX_PENDING_LINKS) {
      socket.close(OVERLOADED, 'too many agents at the door');
      return;
    }
    this.#pending++;
    let waiting = true;
    const settle = () => {
      if (waiting) this.#pending--;
      waiting = false;
      stopTimer();
    };
    const link: Link = new Link(socket, this.#options.time, {
      message: (message) => {
        // Only the first word counts: after it the link belongs to a session or is closing.
        if (!waiting) return;
        settle();
        if (message.type === 'hello') this.#greet(link, message);
        else this.#refuseUnreadable(link, message);
      },
      frame: () => this.#refuseUnreadable(link, null),
      bad: (_reason, json) => this.#refuseUnreadable(link, json),
      closed: settle,
    });
    const stopTimer = this.#options.time.after(HELLO_TIMEOUT_US, () => link.terminate());
  }

  /** A hello that cannot be read is most likely one of another version: say so where it is. */
  #refuseUnreadable(link: Link, json: unknown): void {
    const greeting = looseHello.safeParse(json).data;
    if (greeting !== undefined && greeting.protocol !== CONTROL_PROTOCOL) {
      this.#refuseVersion(link, greeting);
      return;
    }
    const message = 'the first message must be a hello that fits the protocol';
    link.reject({ type: 'rejected', code: 'protocol', message });
  }

  #refuseVersion(link: Link, { protocol, agent }: LooseHello): void {
    const { version = 'of an unknown version', host = 'an unknown host' } = agent ?? {};
    const age = protocol < CONTROL_PROTOCOL ? 'older' : 'newer';
    const message = `the agent (Squall ${version}) is ${age} than this controller: it speaks control protocol ${protocol}, not ${CONTROL_PROTOCOL}`;
    this.#options.logger.warn(`an agent on ${host} was turned away: ${message}`);
    link.reject({ type: 'rejected', code: 'protocol', message });
  }

  #greet(link: Link, hello: Hello): void {
    const { token, logger } = this.#options;
    if (token !== null && !sameToken(hello.token, token)) {
      const none = hello.token === '';
      const fault = none ? 'no join token' : 'wrong join token';
      logger.warn(`an agent on ${hello.agent.host} was turned away: ${fault}`);
      const message = none
        ? 'no join token was given; start the agent with that of this controller'
        : 'the join token is wrong; start the agent with the token of this controller';
      link.reject({ type: 'rejected', code: 'token', message });
      return;
    }
    if (hello.protocol !== CONTROL_PROTOCOL) {
      this.#refuseVersion(link, hello);
      return;
    }
    if (hello.resume === null) this.#join(link, hello);
    else this.#resume(link, hello, hello.resume);
  }

  #resume(link: Link, hello: Hello, resume: { run: string; epoch: number }): void {
    const { agent } = hello;
    const session = this.sessions().find(
      (candidate) =>
        candidate.serves(resume) &&
        candidate.facts.host === agent.host &&
        candidate.facts.pid === agent.pid &&
        (candidate.id === agent.id || candidate.facts.id === agent.id),
    );
    if (session === undefined) {
      link.reject({
        type: 'rejected',
        code: 'unknown_run',
        message: `run ${resume.run} is over, or goes on without agent ${agent.id}`,
      });
      return;
    }
    session.attach(link);
  }

  #join(link: Link, hello: Hello): void {
    const { agent } = hello;
    const before = this.#sessions.get(agent.id);
    // The same machine says hello again under this id, without its run: the old process is no more.
    if (before !== undefined && !before.lively && before.facts.host === agent.host) {
      // One that is the very same process has given its run up: its controller was away too long.
      const same = before.facts.pid === agent.pid;
      before.end(same ? 'it has given up its share' : 'it was started again');
    }
    const id = this.#sessions.size < MAX_AGENTS ? this.#freeId(agent.id) : null;
    if (id === null) {
      link.reject({
        type: 'rejected',
        code: 'id',
        message: `no room for another agent called ${agent.id}`,
      });
      return;
    }
    const session = this.#open(id, agent);
    session.attach(link);
    this.#options.logger.info(`agent ${id} joined from ${agent.host}, ${agent.workers} workers`);
  }

  #open(id: string, facts: AgentFacts): AgentSession {
    const { time } = this.#options;
    const session = new AgentSession({ id, facts, time, owner: this.#owner });
    this.#sessions.set(id, session);
    return session;
  }

  #freeId(wanted: string): string | null {
    if (!this.#sessions.has(wanted)) return wanted;
    for (let suffix = 2; suffix <= MAX_ID_SUFFIX; suffix++) {
      const id = `${wanted.slice(0, 120)}-${suffix}`;
      if (!this.#sessions.has(id)) return id;
    }
    return null;
  }
}

/** Fit for a log, whoever sent it. */
const word = z.string().regex(/^[\w.:+-]{1,256}$/);

/** As much of a greeting as every version of it has. */
const looseHello = z.object({
  type: z.literal('hello'),
  protocol: z.number(),
  agent: z.object({ version: word, host: word }).partial().optional().catch(undefined),
});
type LooseHello = z.infer<typeof looseHello>;
