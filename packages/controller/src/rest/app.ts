import swagger from '@fastify/swagger';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type RawServerDefault,
} from 'fastify';
import {
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../logger.ts';
import type { RunService } from '../service/run-service.ts';
import { guard } from './auth.ts';
import { BODY_LIMIT_BYTES } from './limits.ts';
import { takeJson } from './parsers.ts';
import { answerError, sendProblem } from './problem.ts';
import { addAgentRoutes } from './routes/agents.ts';
import { addEventRoutes } from './routes/events.ts';
import { addFigureRoutes } from './routes/figures.ts';
import { addPlanRoutes } from './routes/plans.ts';
import { addReportRoutes } from './routes/reports.ts';
import { addRunRoutes } from './routes/runs.ts';
import { addSystemRoutes } from './routes/system.ts';

export interface RestDeps {
  readonly service: RunService;
  /** What requests must show; null: the address is a loopback one, and everybody there may ask. */
  readonly token: string | null;
  readonly version: string;
  readonly logger: Logger;
  /** The text for Prometheus; null: it is served elsewhere, or nowhere. */
  readonly metrics: MetricsText | null;
}

export interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** What routes share. `closing` aborts when the API closes: nobody is kept waiting then. */
export interface RouteScene extends RestDeps {
  readonly closing: AbortSignal;
}

/**
 * The REST API as an application that listens nowhere: its requests come from the controller's port
 * (`app.routing`), or from tests (`app.inject`). Resolves when it is ready for them.
 */
export async function buildApp(deps: RestDeps): Promise<App> {
  const app: App = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    // The controller has one log for all it does.
    logger: false,
    routerOptions: { maxParamLength: 256 },
  }).withTypeProvider<ZodTypeProvider>();
  const closing = new AbortController();
  app.setValidatorCompiler(validatorCompiler);
  // Handlers are held to the schemas by the compiler; what is text already goes as it is.
  app.setSerializerCompiler(
    () => (data) => (typeof data === 'string' ? data : JSON.stringify(data)),
  );
  app.setErrorHandler(answerError((line) => deps.logger.warn(`REST: ${line}`)));
  app.setNotFoundHandler((request, reply) =>
    sendProblem(reply, 404, {
      detail: `there is no ${request.method} ${request.url.split('?')[0] ?? ''}`,
      code: 'SQ_NOT_FOUND',
      hint: 'see /openapi.json for what there is',
    }),
  );
  app.addHook('onRequest', guard(deps.token));
  app.addHook('preClose', () => closing.abort());
  takeJson(app);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Squall',
        description: 'The REST API of the controller.',
        version: deps.version,
      },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
  const scene: RouteScene = { ...deps, closing: closing.signal };
  // Routes are documented only when they come after the documenting plugin is there.
  await app.register(async (scope) =>
    addPlanRoutes(scope.withTypeProvider<ZodTypeProvider>(), scene),
  );
  for (const addRoutes of [
    addRunRoutes,
    addFigureRoutes,
    addReportRoutes,
    addEventRoutes,
    addAgentRoutes,
    addSystemRoutes,
  ]) {
    addRoutes(app, scene);
  }
  await app.ready();
  return app;
}
