export {
  BUILT_IN_NAMES,
  type IndexName,
  type ParsedTemplate,
  parseTemplate,
  type TemplatePart,
} from './parse.ts';
export { compileTemplate, renderPart, type Template, type TemplateContext } from './template.ts';
