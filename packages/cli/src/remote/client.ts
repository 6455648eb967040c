import { problem as problemSchema } from '@squall/controller/api';
import { type ErrorCode, isErrorCode, SquallError } from '@squall/core/errors';
import { formatProblems } from '@squall/core/plan';
import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import { PlanRefused } from '../plan-refused.ts';

export interface Remote {
  /** `http://host:port`. */
  readonly url: string;
  readonly token: string | null;
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST';
  readonly body?: unknown;
  readonly query?: readonly (readonly [string, string])[];
  readonly headers?: Readonly<Record<string, string>>;
  /** How the plan is called in what is told of its faults. */
  readonly planName?: string;
}

/** Attempts to reach a controller that is perhaps being started again. */
const ATTEMPTS = 3;
const RETRY_MS = 1_000;
/** Beyond the longest wait that is asked for, a silent controller is gone. */
const ANSWER_TIMEOUT_MS = 90_000;

/** Speaks to a controller's REST API. What it gives is checked against the API's own schemas. */
export class ControllerClient {
  readonly #remote: Remote;

  constructor(remote: Remote) {
    this.#remote = remote;
  }

  get url(): string {
    return this.#remote.url;
  }

  /**
   * @throws SquallError SQ_REMOTE where nobody, or somebody else, answers; else the code of the answer.
   * @throws PlanRefused with all that is wrong with a plan.
   */
  async json<S extends z.ZodType>(
    path: string,
    schema: S,
    options: RequestOptions = {},
  ): Promise<z.output<S>> {
    const response = await this.request(path, options);
    const body = await readJson(response);
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw strange(this.url, `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
  }

  async text(path: string): Promise<string> {
    return (await this.request(path)).text();
  }

  /** An answer that is a success. */
  async request(path: string, options: RequestOptions = {}): Promise<Response> {
    const response = await this.#reach(path, options);
    if (response.ok) return response;
    throw await failure(response, this.url, options.planName ?? 'plan');
  }

  /** One attempt, endless until `signal` says so: for streams. */
  stream(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    return fetch(this.#address(path), { headers: { ...this.#headers(), ...headers }, signal });
  }

  async #reach(path: string, { method = 'GET', body, query = [], headers }: RequestOptions) {
    const url = this.#address(path);
    for (const [name, value] of query) url.searchParams.append(name, value);
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    for (let attempt = 1; ; attempt++) {
      try {
        return await fetch(url, {
          method,
          headers: { ...this.#headers(), ...json, ...headers },
          signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      } catch (cause) {
        if (attempt >= ATTEMPTS) throw unreachable(this.url, cause);
        await delay(RETRY_MS);
      }
    }
  }

  #address(path: string): URL {
    return new URL(path, this.#remote.url);
  }

  #headers(): Record<string, string> {
    const { token } = this.#remote;
    return token === null ? {} : { authorization: `Bearer ${token}` };
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return null;
  }
}

async function failure(response: Response, url: string, planName: string): Promise<Error> {
  const parsed = problemSchema.safeParse(await readJson(response));
  if (!parsed.success) return strange(url, `status ${response.status}`);
  const { code, detail, hint, path, errors = [] } = parsed.data;
  const problems = errors.flatMap(({ line, column, ...error }) =>
    line === undefined || column === undefined
      ? []
      : [{ ...withHint(error), line, column, code: knownCode(error.code) }],
  );
  if (problems.length > 0) return new PlanRefused(formatProblems(planName, problems));
  return new SquallError(knownCode(code), detail, {
    ...(hint === undefined ? {} : { hint }),
    ...(path === undefined ? {} : { path }),
  });
}

function withHint<T extends { hint?: string | undefined }>({ hint, ...rest }: T) {
  return hint === undefined ? rest : { ...rest, hint };
}

function knownCode(code: string): ErrorCode {
  return isErrorCode(code) ? code : 'SQ_REMOTE';
}

export function unreachable(url: string, cause: unknown): SquallError {
  return new SquallError('SQ_REMOTE', 'the controller cannot be reached', {
    path: url,
    hint: 'see that it runs and listens there: squall controller --listen host:port',
    cause: cause instanceof Error && cause.cause !== undefined ? cause.cause : cause,
  });
}

function strange(url: string, what: string): SquallError {
  return new SquallError(
    'SQ_REMOTE',
    `what answers there is no controller of this version: ${what}`,
    {
      path: url,
      hint: 'give the address of a controller, and use the same version of Squall on both sides',
    },
  );
}
