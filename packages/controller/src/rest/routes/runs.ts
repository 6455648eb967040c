import { createHash } from 'node:crypto';
import { SquallError } from '@squall/core/errors';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { RunRequest } from '../../service/run-service.ts';
import type { RunRecord } from '../../store/store.ts';
import type { App, RouteScene } from '../app.ts';
import { RUN_BODY_LIMIT_BYTES } from '../limits.ts';
import { sendPlanFaults, sendProblem } from '../problem.ts';
import {
  idParam,
  idempotencyHeader,
  ifMatch,
  ifNoneMatch,
  problem,
  run,
  runList,
  runPatch,
  runRequest,
  runsQuery,
  stopRequest,
  submittedRun,
  waitQuery,
} from '../schemas.ts';
import { etagOf, type RunView, runView } from '../views.ts';
import { textOf } from './answers.ts';
import { listOf, paged } from './paging.ts';

const tags = ['runs'];

export function addRunRoutes(app: App, scene: RouteScene): void {
  addSubmit(app, scene);
  addReads(app, scene);
  addChanges(app, scene);
}

function addSubmit(app: App, { service }: RouteScene): void {
  app.post(
    '/v1/runs',
    {
      bodyLimit: RUN_BODY_LIMIT_BYTES,
      schema: {
        tags,
        summary: 'Start a run',
        description:
          'The run waits until the agents that it asks for are free. Send an `Idempotency-Key` to be able to send the request again.',
        headers: idempotencyHeader,
        body: runRequest,
        response: { 201: submittedRun, 404: problem, 422: problem, 503: problem },
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      const submitted = await service.submit(
        requestOf(request.body),
        key === undefined ? undefined : { key, request: hashOf(request.body) },
      );
      if (submitted.ok === false) return sendPlanFaults(reply, submitted.errors);
      if (submitted.ok === 'key used') {
        return sendProblem(reply, 422, {
          detail: 'this idempotency key was used for another request',
          code: 'SQ_STATE',
          hint: 'take a new key for each run',
        });
      }
      if (submitted.replayed) void reply.header('idempotent-replayed', 'true');
      const warnings = submitted.warnings.map((warning) => ({ ...warning }));
      return reply
        .code(201)
        .header('location', `/v1/runs/${submitted.run.id}`)
        .send({ ...runView(submitted.run), warnings });
    },
  );
}

function addReads(app: App, { service, closing }: RouteScene): void {
  app.get(
    '/v1/runs',
    {
      schema: {
        tags,
        summary: 'List runs, the newest first',
        querystring: runsQuery,
        response: { 200: runList },
      },
    },
    async ({ query }) => {
      const { label, plan, name, state, verdict } = query;
      const filter = {
        labels: labelsOf(listOf(label)),
        ...(plan === undefined ? {} : { plan }),
        ...(name === undefined ? {} : { name }),
        ...(state === undefined ? {} : { state }),
        ...(verdict === undefined ? {} : { verdict }),
      };
      const { items, next } = await paged(query, (page) => service.runs({ ...page, ...filter }));
      return { runs: items.map(runView), next };
    },
  );
  app.get(
    '/v1/runs/:id',
    {
      schema: {
        tags,
        summary: 'A run; with `wait`, when it is over or has changed',
        params: idParam,
        querystring: waitQuery,
        headers: ifNoneMatch,
        response: {
          200: run,
          304: z.undefined().describe('as `If-None-Match` says'),
          404: problem,
        },
      },
    },
    async (request, reply) => {
      const known = request.headers['if-none-match'];
      const fits = (record: RunRecord) =>
        known === undefined ? record.state === 'done' : etagOf(runView(record)) !== known;
      const signal = AbortSignal.any([goneSignal(reply), closing]);
      const { wait: waitUs } = request.query;
      const record =
        waitUs > 0
          ? await service.runWhen(request.params.id, { fits, waitUs, signal })
          : await service.run(request.params.id);
      return sendRun(reply, runView(record), known);
    },
  );
}

function addChanges(app: App, { service }: RouteScene): void {
  app.patch(
    '/v1/runs/:id',
    {
      schema: {
        tags,
        summary: 'Change notes and labels',
        description:
          'A merge patch [RFC 7396]. The report keeps the labels that the run began with. With `If-Match` only where nobody else has changed the run.',
        params: idParam,
        headers: ifMatch,
        body: runPatch,
        response: { 200: run, 404: problem, 412: problem },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const before = await service.run(id);
      const wanted = request.headers['if-match'];
      if (wanted !== undefined && wanted !== '*' && wanted !== etagOf(runView(before))) {
        return sendProblem(reply, 412, {
          detail: 'the run has changed meanwhile',
          code: 'SQ_STATE',
          hint: 'get it again and look at what others did',
        });
      }
      const { labels, notes } = request.body;
      const change = {
        ...(labels === undefined ? {} : { labels: mergedLabels(before.labels, labels) }),
        ...(notes === undefined ? {} : { notes }),
      };
      return sendRun(reply, runView(await service.change(id, change)));
    },
  );
  app.post(
    '/v1/runs/:id/stop',
    {
      schema: {
        tags,
        summary: 'End a run early',
        description:
          '`graceful` ends the load, awaits what is under way and judges as far as it goes. A second `hard` stop waits for nothing at all.',
        params: idParam,
        body: stopRequest,
        response: { 202: run, 404: problem, 409: problem },
      },
    },
    async (request, reply) => {
      const record = await service.stop(request.params.id, request.body?.mode ?? 'graceful');
      return reply.code(202).send(runView(record));
    },
  );
  app.delete(
    '/v1/runs/:id',
    {
      schema: {
        tags,
        summary: 'Delete a run that is over, with its report',
        params: idParam,
        response: { 204: z.undefined().describe('deleted'), 404: problem, 409: problem },
      },
    },
    async (request, reply) => {
      await service.remove(request.params.id);
      return reply.code(204).send();
    },
  );
}

function sendRun(reply: FastifyReply, view: RunView, known?: string): FastifyReply {
  const etag = etagOf(view);
  // Runs change while they are looked at; what is kept has to be asked about.
  void reply.header('etag', etag).header('cache-control', 'no-cache');
  return known === etag ? reply.code(304).send() : reply.send(view);
}

/** Aborts when the one who asked has gone. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}

function requestOf(body: z.infer<typeof runRequest>): RunRequest {
  const { plan, text, vars, labels, notes, scale, strict, timeout, agents, env, files } = body;
  return {
    plan: plan === undefined ? { text: textOf(text), format: formatOf(text) } : { id: plan },
    vars,
    labels,
    notes,
    scale,
    strict,
    timeoutUs: timeout ?? null,
    agents: agents ?? null,
    secrets: env,
    files,
  };
}

function formatOf(text = ''): 'json' | 'yaml' {
  return text.trimStart().startsWith('{') ? 'json' : 'yaml';
}

/** Names what was asked for; the secrets in it cannot be read back. */
function hashOf(body: z.infer<typeof runRequest>): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('hex');
}

function labelsOf(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
      throw new SquallError('SQ_REQUEST', `"${text}" is no label`, {
        path: 'label',
        hint: 'labels have the form key=value',
      });
    }),
  );
}

function mergedLabels(
  before: Readonly<Record<string, string>>,
  patch: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const merged = Object.entries({ ...before, ...patch });
  return Object.fromEntries(
    merged.flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])),
  );
}
