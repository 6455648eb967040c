import { z } from 'zod';
import { planFile, thresholdEntry, thresholdMap } from './schema/plan-file.ts';

/** What an editor needs to complete and check plans: the JSON Schema of the plan file. */
export function planJsonSchema(): Record<string, unknown> {
  return {
    ...z.toJSONSchema(planFile, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        // Values with units are text to an editor, whatever the checker takes first.
        if (jsonSchema['type'] !== undefined || jsonSchema['enum'] !== undefined) {
          delete jsonSchema.anyOf;
        }
        if (zodSchema === thresholdEntry) Object.assign(jsonSchema, thresholdSchema());
      },
    }),
    title: 'Squall plan',
  };
}

function thresholdSchema() {
  const { $schema: _, ...longForm } = z.toJSONSchema(thresholdMap, {
    io: 'input',
    unrepresentable: 'any',
  });
  return {
    anyOf: [
      { type: 'string', examples: ['publish_time: p(99) < 500ms over 10s in publish'] },
      longForm,
    ],
  };
}
