import { REPORT_FORMATS } from '@squall/report';
import { describe, expect, test } from 'vitest';
import { reportOf } from './report-of.ts';

const draw = (more: Parameters<typeof reportOf>[0]) => REPORT_FORMATS.md.draw(reportOf(more));

describe('the report as Markdown', () => {
  test('begins with the verdict, its validity and its reasons', () => {
    const text = draw({ verdict: 'fail', exitCode: 99, reasons: ['too slow', 'too few'] });
    expect(text.split('\n').slice(0, 6)).toEqual([
      '### ❌ gateway: fail',
      '',
      'validity **valid** · exit code 99 · 4s',
      '',
      '- too slow',
      '- too few',
    ]);
  });

  test('says that a run was scaled', () => {
    const { run } = reportOf();
    expect(draw({ run: { ...run, scale: 0.1 } })).toContain('**at scale 0.1**');
  });

  test('lets nothing that others wrote be markup, a mention or a line of its own', () => {
    const { run } = reportOf();
    const text = draw({
      run: { ...run, name: '<img src=x> @everyone | [a](b)\n# big' },
      reasons: ['`code` **bold**\n\n# head \u202Egnp.exe'],
    });
    expect(text).not.toContain('<img');
    expect(text).not.toMatch(/@everyone/);
    expect(text).not.toContain('[a](b)');
    expect(text).not.toMatch(/^# /m);
    expect(text).not.toContain('\u202E');
    expect(text).toContain(String.raw`\*\*bold\*\*`);
  });

  test('a bar in an equation does not end its cell', () => {
    const balance = {
      equation: 'a | b',
      values: { a: 2, b: 1 },
      unresolved: 0,
      difference: -1,
      share: -0.5,
      settledAfterUs: null,
      holds: false,
      state: 'fail' as const,
      remark: '',
    };
    expect(draw({ balance: [balance] })).toContain(
      String.raw`| ❌ | ${'`'}a \| b${'`'} | -1 | a 2, b 1 |`,
    );
  });

  test('long lists end with how many more there are', () => {
    const reasons = Array.from({ length: 40 }, (_, n) => `reason ${n}`);
    expect(draw({ reasons })).toContain('… and 30 more');
  });
});
