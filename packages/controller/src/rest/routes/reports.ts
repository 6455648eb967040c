import { CONTENT_SECURITY_POLICY, REPORT_FORMATS, type ReportFormatName } from '@squall/report';
import type { FastifyReply } from 'fastify';
import type { App, RouteScene } from '../app.ts';
import { idParam, problem, report, reportQuery } from '../schemas.ts';

const tags = ['reports'];

export function addReportRoutes(app: App, { service }: RouteScene): void {
  app.get(
    '/v1/runs/:id/report',
    {
      schema: {
        tags,
        summary: 'The report of a run that is over; a browser gets it as a page',
        params: idParam,
        querystring: reportQuery,
        response: { 200: report, 404: problem, 409: problem },
      },
    },
    async ({ params, query, headers }, reply) => {
      reply.header('vary', 'accept');
      const format = query.format ?? (wantsPage(headers.accept) ? 'html' : 'json');
      if (format === 'json') return JSON.parse(await service.reportText(params.id));
      return drawn(format, await service.report(params.id), reply);
    },
  );
  app.get(
    '/v1/runs/:id/junit',
    {
      schema: {
        tags,
        summary: 'The same as JUnit XML, one test case a threshold',
        params: idParam,
      },
    },
    async ({ params }, reply) => drawn('junit', await service.report(params.id), reply),
  );
}

/** Browsers name HTML first; whoever asks for JSON or for anything gets what a program reads. */
function wantsPage(accept = ''): boolean {
  const types = accept.split(',').map((type) => type.split(';', 1)[0]?.trim().toLowerCase());
  const page = types.indexOf('text/html');
  const json = types.indexOf('application/json');
  return page !== -1 && (json === -1 || page < json);
}

/** A page of ours runs no script but its own, also where a name in it is somebody's attempt. */
function drawn(
  format: ReportFormatName,
  model: Parameters<(typeof REPORT_FORMATS)['json']['draw']>[0],
  reply: FastifyReply,
): FastifyReply {
  const { contentType, draw } = REPORT_FORMATS[format];
  if (format === 'html') reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
  return reply.type(contentType).header('x-content-type-options', 'nosniff').send(draw(model));
}
