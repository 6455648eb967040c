import { SquallError } from '@squall/core/errors';
import { plainText } from './findings.ts';
import type { ImportedPlan } from './imported.ts';
import { importJmeter } from './jmeter/import-jmeter.ts';
import { importSwarm } from './swarm/import-swarm.ts';
import { parseXml } from './xml/parse-xml.ts';

/**
 * Makes a plan of a JMeter plan, or of a scenario of HiveMQ Swarm. Nothing of it is carried out, nothing is
 * fetched, no file is opened.
 * @param file its name, for comments and errors.
 * @throws SquallError SQ_PLAN for what is no such file, with the line.
 */
export function importPlan(bytes: Uint8Array, file: string): ImportedPlan {
  const root = parseXml(bytes, file);
  if (root.name === 'jmeterTestPlan') return importJmeter(root, file);
  if (root.name === 'scenario') return importSwarm(root, file);
  throw new SquallError('SQ_PLAN', `not imported: its root element is ${plainText(root.name)}`, {
    path: file,
    hint: 'a JMeter plan begins with <jmeterTestPlan>, a scenario of HiveMQ Swarm with <scenario>',
  });
}
