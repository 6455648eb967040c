import { SquallError } from '@squall/core/errors';
import { silentLogger } from '../logger.ts';
import { LiveRuns } from '../service/live-runs.ts';
import { ThreadPlanReader } from '../service/plan-reader.ts';
import { RunService } from '../service/run-service.ts';
import { openStore } from '../store/sql/sql-store.ts';
import { systemTime } from '../time-source.ts';
import { buildApp } from './app.ts';
import { completeDocument } from './document.ts';

/** The OpenAPI document of the REST API, as `/openapi.json` gives it: for its reference. */
export async function openApiDocument(version: string): Promise<object> {
  const store = await openStore(':memory:');
  const live = new LiveRuns({ store, time: systemTime, lingerUs: 0 });
  const service = new RunService({
    controller: {
      agents: () => [],
      submit: () => {
        throw new SquallError('SQ_STATE', 'there is no controller behind this API');
      },
    },
    store,
    live,
    plans: new ThreadPlanReader(),
    time: systemTime,
    version,
  });
  const metrics = { contentType: 'text/plain', text: () => Promise.resolve('') };
  const app = await buildApp({ service, token: null, version, logger: silentLogger, metrics });
  try {
    return completeDocument(app.swagger());
  } finally {
    await app.close();
    await live.close();
    await store.close();
  }
}
