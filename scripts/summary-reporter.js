import { writeFileSync } from 'node:fs';

/**
 * A vitest reporter that counts. It names each skipped test with its reason, and either closes with
 * the line `N passed, N failed, N skipped`, or, where SQUALL_SUMMARY_FILE names a file, leaves the
 * counts there, so that the script that runs vitest can add its own checks and close itself.
 */
export default class SummaryReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const summary = { passed: 0, failed: unhandledErrors.length, skipped: [] };
    for (const module of modules) countModule(module, summary);
    const file = process.env.SQUALL_SUMMARY_FILE;
    if (file === undefined) process.stdout.write(closingText(summary));
    else writeFileSync(file, JSON.stringify(summary));
  }
}

/** The skipped tests by name, then the closing line, alone and last. */
export function closingText(summary) {
  const skips = summary.skipped.map(({ name, reason }) => `skipped: ${name}: ${reason}\n`);
  const { passed, failed } = summary;
  return `${skips.join('')}${passed} passed, ${failed} failed, ${summary.skipped.length} skipped\n`;
}

function countModule(module, summary) {
  // A file that cannot be loaded has no tests in it, yet it is a failure.
  summary.failed += module.errors().length;
  for (const test of module.children.allTests()) {
    const result = test.result();
    if (result.state === 'passed') summary.passed++;
    else if (result.state === 'skipped') summary.skipped.push(skippedTest(module, test, result));
    else summary.failed++;
  }
}

function skippedTest(module, test, result) {
  const name = `${module.relativeModuleId ?? module.moduleId} > ${test.fullName}`;
  return { name, reason: result.note ?? 'no reason given' };
}
