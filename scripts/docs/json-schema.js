/** Reading a JSON Schema for people: what a value may be, and which maps it is made of. */

/** @typedef {Record<string, any>} Schema */
/** @typedef {{ path: string, schema: Schema }} Section */

/** What stands in a table for a value of this schema. */
export function valueText(/** @type {Schema} */ schema) {
  if (schema['x-unit'] !== undefined) return withExample(schema);
  if (schema.enum !== undefined) return words(schema.enum, schema['x-not-yet-words'] ?? []);
  if (schema.const !== undefined) return `\`${schema.const}\``;
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms !== undefined) return formsText(forms);
  switch (schema.type) {
    case 'array':
      return `list of ${valueText(schema.items ?? {})}`;
    case 'object':
      return 'map';
    case 'null':
      return 'nothing';
    case 'boolean':
      return '`true` or `false`';
    case 'string':
      return withExample({ ...schema, 'x-unit': 'text' });
    case undefined:
      return 'any';
    default:
      return [schema.type].flat().join(' or ');
  }
}

/** What is refused anyway is no choice. */
function formsText(/** @type {Schema[]} */ forms) {
  const built = forms.filter((form) => form['x-not-yet'] !== true);
  return [...new Set((built.length > 0 ? built : forms).map(valueText))].join(' or ');
}

function withExample(/** @type {Schema} */ schema) {
  const example = schema['x-example'];
  return example === undefined ? schema['x-unit'] : `${schema['x-unit']}, e.g. \`${example}\``;
}

/** Numbers and the same numbers as text are one word to a person. */
function words(
  /** @type {(string | number | boolean)[]} */ values,
  /** @type {string[]} */ refused,
) {
  const marked = [...new Set(values.map(String))].map((word) =>
    refused.includes(word) ? `\`${word}\` (not in this version)` : `\`${word}\``,
  );
  return marked.join(', ');
}

/**
 * Every map below `schema`, in the order of the file, each once.
 * @returns {Section[]}
 */
export function sectionsOf(/** @type {Schema} */ schema, path = '') {
  const own = schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0;
  const sections = own ? [{ path, schema }] : [];
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    sections.push(...sectionsOf(child, path === '' ? key : `${path}.${key}`));
  }
  if (isSchema(schema.additionalProperties)) {
    sections.push(...sectionsOf(schema.additionalProperties, `${path}.<name>`));
  }
  if (schema.items !== undefined) sections.push(...sectionsOf(schema.items, `${path}[]`));
  // One entry or a list of them: the list says nothing new.
  const forms = (schema.anyOf ?? schema.oneOf ?? []).filter(
    (/** @type {Schema} */ form, /** @type {number} */ index, /** @type {Schema[]} */ all) =>
      form.type !== 'array' ||
      !all.some((other) => JSON.stringify(other) === JSON.stringify(form.items)),
  );
  for (const form of forms) sections.push(...sectionsOf(form, path + formName(form)));
  return sections;
}

/** Forms of one key are told apart by their constant (`protocol: mqtt`). */
function formName(/** @type {Schema} */ form) {
  for (const [key, child] of Object.entries(form.properties ?? {})) {
    if (child.const !== undefined) return ` (${key}: ${child.const})`;
  }
  return '';
}

function isSchema(/** @type {unknown} */ value) {
  return typeof value === 'object' && value !== null;
}

/** Text in a table cell. */
export function cell(/** @type {string} */ text) {
  return text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');
}
