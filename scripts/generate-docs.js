import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { tuningScript } from '../packages/agent/dist/host/index.js';
import { BENCH_FLAGS } from '../packages/cli/dist/bench/flags.js';
import { TOOL_FLAGS } from '../packages/cli/dist/rocketmq/flag-table.js';
import { openApiDocument } from '../packages/controller/dist/rest/openapi.js';
import { METRICS, REASONS } from '../packages/core/dist/metrics/index.js';
import { planJsonSchema } from '../packages/core/dist/plan/index.js';
import { reportSchema } from '../packages/core/dist/report/index.js';
import { referenceFiles } from './docs/reference.js';

/** Writes the generated pages of `docs/reference`, and the tuning script. Needs the built packages: `npm run build`. */
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, 'docs', 'reference');
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

const files = referenceFiles({
  planSchema: planJsonSchema(),
  reportSchema: reportSchema.toJSONSchema(),
  metrics: METRICS,
  reasons: REASONS,
  openApi: await openApiDocument(version),
  benchFlags: BENCH_FLAGS,
  toolFlags: TOOL_FLAGS,
  errorSource: readFileSync(path.join(root, 'packages/core/src/errors/squall-error.ts'), 'utf8'),
});

mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
writeFileSync(path.join(root, 'deploy', 'tune', 'squall-tune.sh'), tuningScript());
process.stdout.write(
  `wrote ${Object.keys(files).join(', ')} to docs/reference, and deploy/tune/squall-tune.sh\n`,
);
