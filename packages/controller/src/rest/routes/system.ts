import type { App, RouteScene } from '../app.ts';
import { completeDocument } from '../document.ts';
import { health, readiness } from '../schemas.ts';

const tags = ['system'];

export function addSystemRoutes(app: App, { metrics, service }: RouteScene): void {
  app.get(
    '/healthz',
    {
      config: { open: true },
      schema: {
        tags,
        summary: 'Whether the process lives',
        security: [],
        response: { 200: health },
      },
    },
    async () => ({ status: 'ok' as const }),
  );
  app.get(
    '/readyz',
    {
      config: { open: true },
      schema: {
        tags,
        summary: 'Whether runs can be taken',
        security: [],
        response: { 200: readiness, 503: readiness },
      },
    },
    async (_request, reply) => {
      const troubles = [...(await service.troubles())];
      if (troubles.length === 0) return { status: 'ready' as const, troubles };
      return reply.code(503).send({ status: 'not ready', troubles });
    },
  );
  let document: object | null = null;
  app.get('/openapi.json', { schema: { hide: true } }, async () => {
    document ??= completeDocument(app.swagger());
    return document;
  });
  if (metrics === null) return;
  app.get(
    '/metrics',
    { schema: { tags, summary: 'Figures of the controller and its runs, for Prometheus' } },
    async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()),
  );
}
