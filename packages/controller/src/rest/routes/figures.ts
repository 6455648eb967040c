import type { App, RouteScene } from '../app.ts';
import {
  idParam,
  ledger,
  metrics,
  metricsQuery,
  problem,
  runAgents,
  thresholds,
} from '../schemas.ts';
import { readMetrics } from '../metrics-answer.ts';
import { thresholdViews } from '../threshold-view.ts';

const tags = ['figures'];

/** What is measured and judged of a run, while it goes on as after its end. */
export function addFigureRoutes(app: App, { service }: RouteScene): void {
  app.get(
    '/v1/runs/:id/metrics',
    {
      schema: {
        tags,
        summary: 'The time line of a run, at a resolution of one second',
        params: idParam,
        querystring: metricsQuery,
        response: { 200: metrics, 400: problem, 404: problem },
      },
    },
    async ({ params, query }) => readMetrics(service, params.id, query),
  );
  app.get(
    '/v1/runs/:id/thresholds',
    {
      schema: {
        tags,
        summary: 'The thresholds of a run',
        params: idParam,
        response: { 200: thresholds, 404: problem, 409: problem },
      },
    },
    async ({ params }) => {
      const run = service.active(params.id);
      if (run === undefined) {
        return { final: true, thresholds: (await service.report(params.id)).thresholds };
      }
      return { final: false, thresholds: thresholdViews(run.handle.figures) };
    },
  );
  app.get(
    '/v1/runs/:id/ledger',
    {
      schema: {
        tags,
        summary: 'What was delivered, lost and duplicated',
        params: idParam,
        response: { 200: ledger, 404: problem },
      },
    },
    async ({ params }) => {
      if (service.active(params.id) !== undefined) return { final: false, ledger: [] };
      return { final: true, ledger: (await service.report(params.id)).ledger };
    },
  );
  app.get(
    '/v1/runs/:id/agents',
    {
      schema: {
        tags,
        summary: 'The agents of a run',
        params: idParam,
        response: { 200: runAgents, 404: problem },
      },
    },
    async ({ params }) => {
      const agents = await service.agentsOf(params.id);
      const shown = agents.map((agent) => ({ ...agent, workersLost: [...agent.workersLost] }));
      return { agents: shown };
    },
  );
}
