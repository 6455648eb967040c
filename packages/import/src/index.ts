export type { Finding } from './findings.ts';
export type { ImportedPlan } from './imported.ts';
export { importPlan } from './import-plan.ts';
export { MAX_FILE_BYTES, tooLarge } from './xml/parse-xml.ts';
