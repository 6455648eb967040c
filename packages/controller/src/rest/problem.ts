import { type ErrorCode, SquallError } from '@squall/core/errors';
import type { PlanProblem } from '@squall/core/plan';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { RETRY_AFTER_S } from './limits.ts';
import type { problem } from './schemas.ts';

type Problem = z.infer<typeof problem>;

export const PROBLEM_TYPE = 'application/problem+json';

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

const STATUS: Partial<Record<ErrorCode, number>> = {
  SQ_UNIT: 422,
  SQ_PLAN: 422,
  SQ_UNSUPPORTED: 422,
  SQ_THRESHOLD: 422,
  SQ_TOKEN: 401,
  SQ_STORE: 503,
  SQ_REQUEST: 400,
  SQ_NOT_FOUND: 404,
  SQ_STATE: 409,
  SQ_BUSY: 503,
};

type Sketch = Pick<Problem, 'detail' | 'code'> & Partial<Pick<Problem, 'hint' | 'path' | 'errors'>>;

export function sendProblem(reply: FastifyReply, status: number, sketch: Sketch): FastifyReply {
  const title = TITLES[status] ?? 'Error';
  const body: Problem = { type: `urn:squall:error:${sketch.code}`, title, status, ...sketch };
  if (status === 401) void reply.header('www-authenticate', 'Bearer realm="squall"');
  if (status === 503) void reply.header('retry-after', String(RETRY_AFTER_S));
  return reply.code(status).type(PROBLEM_TYPE).send(JSON.stringify(body));
}

/** A plan with faults, all of them told. */
export function sendPlanFaults(reply: FastifyReply, errors: readonly PlanProblem[]): FastifyReply {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return sendProblem(reply, 422, {
    detail: `the plan is wrong: ${first?.message ?? ''}${more}`,
    code: first?.code ?? 'SQ_PLAN',
    hint: 'see errors: each has its line, and most have a hint',
    ...(first === undefined ? {} : { path: first.path }),
    errors: errors.map((error) => ({ ...error })),
  });
}

/** What any handler threw, as an answer. `log` is told what is nobody's fault but ours. */
export function answerError(log: (line: string) => void) {
  return (error: FastifyError | SquallError, request: FastifyRequest, reply: FastifyReply) => {
    if (error instanceof SquallError) return sendProblem(reply, statusOf(error), sketchOf(error));
    if (hasZodFastifySchemaValidationErrors(error)) {
      const errors = error.validation.map(({ instancePath, message = '' }) => ({
        path: `${error.validationContext ?? ''}${instancePath}`.replaceAll('/', '.'),
        message,
        code: 'SQ_REQUEST',
      }));
      const [first] = errors;
      const detail = `${first?.path ?? 'the request'}: ${first?.message ?? error.message}`;
      return sendProblem(reply, 400, { detail, code: 'SQ_REQUEST', errors });
    }
    const status = error.statusCode ?? 500;
    if (status < 500) return sendProblem(reply, status, requestFault(error, request));
    log(error.stack ?? error.message);
    return sendProblem(reply, 500, {
      detail: 'a fault of Squall itself',
      code: 'SQ_INTERNAL',
      hint: 'the log of the controller has the details; please report it',
    });
  };
}

function statusOf(error: SquallError): number {
  return STATUS[error.code] ?? 500;
}

function sketchOf({ code, message, hint, path }: SquallError): Sketch {
  return {
    detail: message,
    code,
    ...(hint === undefined ? {} : { hint }),
    ...(path === undefined ? {} : { path }),
  };
}

/** What the HTTP layer itself did not take. */
function requestFault(error: FastifyError, request: FastifyRequest): Sketch {
  const code = 'SQ_REQUEST';
  const type = request.headers['content-type'];
  if (error.statusCode === 413) {
    return {
      detail: 'the body is too long',
      code,
      hint: 'a plan has at most 4 MiB; one of that size was hardly written by hand',
    };
  }
  if (error.statusCode === 415) {
    return {
      detail: type === undefined ? 'the content type is missing' : `${type} is not taken here`,
      code,
      hint: 'send application/json; plans also as application/yaml: curl -H "content-type: application/yaml" --data-binary @plan.yaml',
    };
  }
  return { detail: error.message, code };
}
