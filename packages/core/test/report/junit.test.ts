import { buildReport, type Report, toJunit } from '@squall/core/report';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counter, planOf } from '../thresholds/scene.ts';
import { agentOf, healthySlices, inputOf } from './scene.ts';
import { parseXml, type XmlElement } from './xml.ts';

function all(element: XmlElement, name: string): XmlElement[] {
  return [
    ...(element.name === name ? [element] : []),
    ...element.children.flatMap((child) => all(child, name)),
  ];
}

function reportOf(texts: readonly string[], failures = 0): Report {
  const slices = healthySlices();
  const [, second] = slices['a'] ?? [];
  const failed =
    failures === 0 ? [] : [counter('publish_failed', failures, { qos: 1, reason: 'timeout' })];
  if (second !== undefined && slices['a'] !== undefined) {
    slices['a'][1] = { ...second, series: [...second.series, ...failed] };
  }
  return buildReport(inputOf({ plan: planOf(texts), slices }));
}

describe('JUnit', () => {
  it('has a case per threshold, per check of the harness and per book', () => {
    const report = reportOf(['publish_failed: count == 0', 'publish_time: max < 1s over 1s']);
    const root = parseXml(toJunit(report));
    const names = all(root, 'testcase').map((one) => one.attributes['name']);
    expect(root.name).toBe('testsuites');
    expect(names).toContain('publish_failed: count == 0');
    expect(names).toContain('publish_time: max < 1s over 1s');
    expect(names).toContain('lateness');
    for (const book of report.books) expect(names).toContain(book.equation);
    expect(root.attributes).toMatchObject({
      tests: String(names.length),
      failures: '0',
      errors: '0',
    });
  });

  it('gives a failure with what was expected, what was observed, and where', () => {
    const root = parseXml(toJunit(reportOf(['publish_failed: count == 0 over 1s'], 3)));
    const [failure] = all(root, 'failure');
    expect(failure?.attributes['message']).toContain('count = 3');
    expect(failure?.text).toContain('expected: count == 0 over 1s');
    expect(failure?.text).toContain('observed: count = 3');
    expect(failure?.text).toContain('worst: publish, 2026-11-30T12:00:01.000Z');
    expect(root.attributes['failures']).toBe('1');
  });

  it('skips what is inconclusive, and calls what the harness did wrong an error', () => {
    const input = inputOf({
      plan: planOf([{ text: 'publish_time: max < 1s', minSamples: 1_000 }]),
      slices: healthySlices(),
      agents: [agentOf('a', { framesProduced: 10, framesReceived: 5 }), agentOf('b')],
    });
    const root = parseXml(toJunit(buildReport(input)));
    expect(all(root, 'skipped').length).toBeGreaterThan(0);
    const broken = all(root, 'testcase').find((one) => one.attributes['name'] === 'frames_missing');
    expect(broken?.children[0]?.name).toBe('error');
  });

  it('does not look green when the run was cut off', () => {
    const report = buildReport({
      ...inputOf({ plan: planOf([]), slices: healthySlices() }),
      outcome: { kind: 'cancelled', by: 'signal', reasons: ['the run was stopped by a signal'] },
    });
    const root = parseXml(toJunit(report));
    expect(Number(root.attributes['errors'])).toBe(1);
    expect(all(root, 'error')[0]?.attributes['message']).toBe('the run was stopped by a signal');
  });

  it('says that a run ended early that a threshold ended', () => {
    const input = inputOf({ plan: planOf(['sent: count > 0']), slices: healthySlices() });
    const reason = 'threshold "sent: rate > 9k/s over 1s abort" was broken and ended the run';
    const report = buildReport({
      ...input,
      thresholds: input.thresholds.map((one) => ({ ...one, aborted: true, state: 'fail' })),
      outcome: { kind: 'threshold', reasons: [reason] },
    });
    const cases = all(parseXml(toJunit(report)), 'testcase');
    const run = cases.find((one) => one.attributes['name'] === 'the run goes to its end');
    expect(run?.children[0]).toMatchObject({ name: 'failure', attributes: { message: reason } });
  });

  it.each([
    ']]> <failure/> & "quotes" \'too\'',
    'control \u0000\u0001\u0008\u000B\u001F\u007F',
    'lone \uD800 and \uDC00, \uFFFE \uFFFF',
    'lines\r\nand\ttabs\nand \u2028',
    '😀 𝒳',
    '<![CDATA[ x ]]><!-- y --><?z?>',
  ])('stays XML whatever the texts hold: %j', (hostile) => {
    const report = reportOf(['publish_failed: count == 0'], 1);
    const poisoned: Report = {
      ...report,
      run: { ...report.run, name: hostile, labels: { [hostile]: hostile } },
      notes: [hostile],
      reasons: [hostile],
      thresholds: report.thresholds.map((one) => ({ ...one, text: hostile, remark: hostile })),
      books: report.books.map((one) => ({ ...one, equation: hostile })),
    };
    const root = parseXml(toJunit(poisoned));
    const suite = root.children[0];
    const clean = hostile.replaceAll(
      // eslint-disable-next-line no-control-regex
      /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g,
      '\uFFFD',
    );
    expect(suite?.attributes['name']).toBe(clean);
    expect(all(root, 'failure')).toHaveLength(1);
  });

  it('stays XML for any text at all', () => {
    const report = reportOf(['publish_failed: count == 0'], 1);
    const cases = all(parseXml(toJunit(report)), 'testcase').length;
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (hostile) => {
        const thresholds = report.thresholds.map((one) => ({ ...one, text: hostile }));
        const root = parseXml(toJunit({ ...report, thresholds, notes: [hostile] }));
        expect(all(root, 'testcase')).toHaveLength(cases);
      }),
    );
  });
});
