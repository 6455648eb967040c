import { z } from 'zod';
import { YAML_TYPES } from './parsers.ts';
import { PROBLEM_TYPE } from './problem.ts';
import { runEvents } from './schemas.ts';

/** The parts of an OpenAPI document that are looked at here; all others stay as they are. */
interface Operation {
  requestBody?: unknown;
  responses: Record<string, { description?: string; content?: Record<string, unknown> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
}

const MEANINGS: Readonly<Record<string, string>> = {
  200: 'as asked',
  201: 'made; `location` names its place',
  202: 'on its way',
  304: 'nothing has changed',
  400: 'the request is wrong',
  404: 'not there',
  409: 'not possible in this state',
  412: 'somebody else has changed it',
  422: 'the plan is wrong, or a key was used twice',
  503: 'not now: `retry-after`',
};

/** What a report may be answered as besides JSON. */
const DRAWINGS = ['text/html', 'text/csv', 'text/markdown', 'text/plain', 'application/xml'];

const UNSAID = 'Default Response';
const TEXT = { schema: { type: 'string' } };

/**
 * Completes the document that is made from the routes: what the checking of bodies knows nothing of
 * (texts, streams, problems), and each schema once.
 */
export function completeDocument(generated: object): object {
  const document: Document = JSON.parse(JSON.stringify(generated));
  for (const methods of Object.values(document.paths)) {
    for (const operation of Object.values(methods)) completeAnswers(operation);
  }
  const operation = (method: string, path: string) => document.paths[path]?.[method];
  const plan = operation('post', '/v1/plans');
  const planTypes = [YAML_TYPES[0], 'application/json'];
  if (plan !== undefined) {
    const content = Object.fromEntries(planTypes.map((type) => [type, TEXT]));
    plan.requestBody = { required: true, description: 'the plan', content };
  }
  answerWith(operation('get', '/v1/plans/{id}/text'), planTypes);
  const report = operation('get', '/v1/runs/{id}/report')?.responses['200'];
  if (report !== undefined) {
    report.content = {
      ...report.content,
      ...Object.fromEntries(DRAWINGS.map((type) => [type, TEXT])),
    };
  }
  answerWith(operation('get', '/v1/runs/{id}/junit'), ['application/xml']);
  answerWith(operation('get', '/metrics'), ['text/plain']);
  const events = operation('get', '/v1/runs/{id}/events');
  if (events?.responses['200'] !== undefined) {
    events.responses['200'].content = { 'text/event-stream': TEXT };
  }
  document.components.schemas['RunEvent'] = eventSchema();
  return eachSchemaOnce(document);
}

function completeAnswers({ responses }: Operation): void {
  for (const [status, answer] of Object.entries(responses)) {
    if (answer.description === UNSAID) answer.description = MEANINGS[status] ?? '';
    const json = answer.content?.['application/json'];
    if (Number(status) >= 400 && json !== undefined && JSON.stringify(json).includes('/Problem')) {
      answer.content = { [PROBLEM_TYPE]: json };
    }
  }
}

function answerWith(operation: Operation | undefined, types: readonly string[]): void {
  const answer = operation?.responses['200'];
  if (answer === undefined) return;
  answer.description = MEANINGS['200'] ?? '';
  answer.content = Object.fromEntries(types.map((type) => [type, TEXT]));
}

/** The data of each event, by its type. */
function eventSchema(): object {
  const properties = Object.entries(runEvents).map(([type, schema]) => {
    const { $schema: _dialect, ...own } = z.toJSONSchema(schema, { io: 'input' });
    return [type, own] as const;
  });
  return {
    type: 'object',
    description: 'the data of the events of a run, by the type of the event',
    properties: Object.fromEntries(properties),
  };
}

const REFERENCE = /"#\/components\/schemas\/([A-Za-z]+)"/g;

/** Schemas come as what is taken and as what is given; where only one of them is used, it is the one. */
function eachSchemaOnce(document: Document): object {
  const text = JSON.stringify({ ...document, components: undefined });
  const used = new Set([...text.matchAll(REFERENCE)].map((match) => match[1] ?? ''));
  used.add('RunEvent');
  const renamed = JSON.stringify({
    ...document,
    components: {
      ...document.components,
      schemas: Object.fromEntries(
        Object.entries(document.components.schemas)
          .filter(([name]) => used.has(name))
          .map(([name, schema]) => [plain(name, used), schema]),
      ),
    },
  }).replaceAll(REFERENCE, (_whole, name: string) => {
    return `"#/components/schemas/${plain(name, used)}"`;
  });
  const complete: object = JSON.parse(renamed);
  return complete;
}

function plain(name: string, used: ReadonlySet<string>): string {
  const short = name.replace(/Input$/, '');
  return used.has(short) ? name : short;
}
