import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../hub/listen.ts';
import { sameToken } from '../hub/token.ts';
import { sendProblem } from './problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a token: says nothing about anybody's runs. */
    readonly open?: boolean;
  }
}

/**
 * Who may ask. With a token: whoever shows it. Without one the controller listens on loopback only, and
 * the one who must be kept out is a web page in a browser of this machine, which gives itself away by
 * its Origin, or by the name under which it reached us (DNS rebinding).
 */
export function guard(token: string | null) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!isSameOrigin(request)) return refuse(reply, 'requests of other web pages are not taken');
    if (token === null) {
      if (isLocalName(request.hostname)) return;
      return refuse(reply, `this controller does not answer to the name ${request.hostname}`);
    }
    if (request.routeOptions.config.open === true || showsToken(request, token)) return;
    await sendProblem(reply, 401, {
      detail: 'the token is wrong or missing',
      code: 'SQ_TOKEN',
      hint: 'send the header "authorization: Bearer …" with the token of the controller',
    });
  };
}

function showsToken(request: FastifyRequest, token: string): boolean {
  const given = /^Bearer +(.*\S) *$/i.exec(request.headers.authorization ?? '')?.[1];
  return given !== undefined && sameToken(given, token);
}

/** Programs send no Origin; browsers do, where it matters. */
function isSameOrigin({ headers }: FastifyRequest): boolean {
  const { origin, host } = headers;
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

function isLocalName(name: string): boolean {
  return name === 'localhost' || isLoopback(name.replaceAll(/[[\]]/g, ''));
}

async function refuse(reply: FastifyReply, detail: string): Promise<void> {
  await sendProblem(reply, 403, { detail, code: 'SQ_REQUEST' });
}
