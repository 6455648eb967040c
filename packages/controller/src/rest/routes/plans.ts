import type { PlanFormat } from '../../store/store.ts';
import type { App, RouteScene } from '../app.ts';
import { takePlans } from '../parsers.ts';
import { sendPlanFaults } from '../problem.ts';
import { checkedPlan, idParam, pageQuery, plan, planList, planQuery, problem } from '../schemas.ts';
import { planView, summaryView } from '../views.ts';
import { textOf } from './answers.ts';
import { paged } from './paging.ts';

const tags = ['plans'];

export function addPlanRoutes(app: App, { service }: RouteScene): void {
  takePlans(app);
  app.post(
    '/v1/plans',
    {
      schema: {
        tags,
        summary: 'Check a plan and keep it',
        description:
          'The body is the plan: YAML (`application/yaml`) or JSON. A plan that is known already stays what it is, and its resource is answered with 200.',
        querystring: planQuery,
        consumes: ['application/yaml', 'application/json'],
        response: { 200: checkedPlan, 201: checkedPlan, 422: problem },
      },
    },
    async (request, reply) => {
      const keep = request.query.validate === 'false';
      const format: PlanFormat = /json/.test(request.headers['content-type'] ?? '')
        ? 'json'
        : 'yaml';
      const put = await service.putPlan(textOf(request.body), format, keep);
      if (!put.ok) return sendPlanFaults(reply, put.errors);
      const view = {
        ...summaryView(put.plan),
        warnings: put.warnings.map((warning) => ({ ...warning })),
        secrets: [...put.secrets],
        files: [...put.fileNames],
      };
      if (!put.created) return reply.code(200).send(view);
      return reply.code(201).header('location', `/v1/plans/${put.plan.id}`).send(view);
    },
  );
  app.get(
    '/v1/plans',
    {
      schema: {
        tags,
        summary: 'List plans, the newest first',
        querystring: pageQuery,
        response: { 200: planList },
      },
    },
    async ({ query }) => {
      const { items, next } = await paged(query, (page) => service.plans(page));
      return { plans: items.map(summaryView), next };
    },
  );
  app.get(
    '/v1/plans/:id',
    {
      schema: {
        tags,
        summary: 'A plan, as Squall understands it',
        params: idParam,
        response: { 200: plan, 404: problem },
      },
    },
    async ({ params }) => planView(await service.plan(params.id)),
  );
  app.get(
    '/v1/plans/:id/text',
    { schema: { tags, summary: 'A plan, as it was sent', params: idParam } },
    async ({ params }, reply) => {
      const { format, text } = await service.plan(params.id);
      return reply.type(format === 'json' ? 'application/json' : 'application/yaml').send(text);
    },
  );
}
