import type { App, RouteScene } from '../app.ts';
import { agents } from '../schemas.ts';
import { agentView } from '../views.ts';

export function addAgentRoutes(app: App, { service }: RouteScene): void {
  app.get(
    '/v1/agents',
    {
      schema: {
        tags: ['agents'],
        summary: 'The agents that are there, and what they do',
        response: { 200: agents },
      },
    },
    async () => ({ agents: service.fleet().map(agentView) }),
  );
}
