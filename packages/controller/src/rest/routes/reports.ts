import { type Report, toJunit } from '@squall/core/report';
import type { App, RouteScene } from '../app.ts';
import { idParam, problem, report } from '../schemas.ts';

const tags = ['reports'];

export function addReportRoutes(app: App, { service }: RouteScene): void {
  app.get(
    '/v1/runs/:id/report',
    {
      schema: {
        tags,
        summary: 'The report of a run that is over',
        params: idParam,
        response: { 200: report, 404: problem, 409: problem },
      },
    },
    async ({ params }): Promise<Report> => JSON.parse(await service.reportText(params.id)),
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
    async ({ params }, reply) =>
      reply.type('application/xml; charset=utf-8').send(toJunit(await service.report(params.id))),
  );
}
