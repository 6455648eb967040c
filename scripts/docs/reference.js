import { benchPage } from './bench-page.js';
import { errorsPage } from './errors-page.js';
import { metricsPage } from './metrics-page.js';
import { planPage } from './plan-page.js';
import { reportPage } from './report-page.js';
import { restPage } from './rest-page.js';
import { rocketmqPage } from './rocketmq-page.js';

/**
 * What the reference is made from: the parts of the house that describe themselves.
 * @typedef {object} Sources
 * @property {Record<string, any>} planSchema JSON Schema of the plan
 * @property {Record<string, any>} reportSchema JSON Schema of the report
 * @property {Record<string, any>} metrics catalogue of metrics
 * @property {Record<string, any>} reasons what failures are counted by
 * @property {Record<string, any>} openApi OpenAPI document of the REST API
 * @property {readonly any[]} benchFlags flags that `squall bench` takes
 * @property {readonly any[]} toolFlags flags that `squall rocketmq` takes
 * @property {string} errorSource text of the file with the type ErrorCode
 */

/**
 * The generated files, by their path below `docs/reference`. Pure: the drift test compares its result
 * with the tree, `generate-docs.js` writes it.
 * @returns {Record<string, string>}
 */
export function referenceFiles(/** @type {Sources} */ sources) {
  return {
    'emqtt-bench.md': benchPage(sources.benchFlags),
    'errors.md': errorsPage(sources.errorSource),
    'metrics.md': metricsPage(sources.metrics, sources.reasons),
    'openapi.json': json(sources.openApi),
    'plan.md': planPage(sources.planSchema),
    'plan.schema.json': json(sources.planSchema),
    'report.md': reportPage(sources.reportSchema),
    'report.schema.json': json(sources.reportSchema),
    'rest.md': restPage(sources.openApi),
    'rocketmq-benchmark.md': rocketmqPage(sources.toolFlags),
  };
}

function json(/** @type {unknown} */ value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}
