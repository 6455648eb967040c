import { z } from 'zod';
import { planFile, thresholdEntry, thresholdMap } from './schema/plan-file.ts';

type Settings = NonNullable<Parameters<typeof z.toJSONSchema>[1]>;

/** What an editor needs to complete and check plans: the JSON Schema of the plan file. */
export function planJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(planFile, settings), title: 'Squall plan' };
}

const settings: Settings = {
  io: 'input',
  unrepresentable: 'any',
  override: ({ zodSchema, jsonSchema }) => {
    // Values with units are text to an editor, whatever the checker takes first.
    if (jsonSchema['type'] !== undefined || jsonSchema['enum'] !== undefined) {
      delete jsonSchema.anyOf;
    }
    // Examples of values that are transformed would be left out by the generator.
    if (jsonSchema['x-example'] !== undefined) jsonSchema.examples = [jsonSchema['x-example']];
    if (zodSchema === thresholdEntry) Object.assign(jsonSchema, thresholdSchema());
  },
};

function thresholdSchema() {
  const { $schema: _dialect, ...longForm } = z.toJSONSchema(thresholdMap, settings);
  return {
    anyOf: [
      { type: 'string', examples: ['publish_time: p(99) < 500ms over 10s in publish'] },
      longForm,
    ],
  };
}
