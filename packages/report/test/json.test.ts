import { REPORT_FORMATS } from '@squall/report';
import { describe, expect, test } from 'vitest';
import { rate, reportOf } from './report-of.ts';

describe('report.json', () => {
  test('is the report, with a line for each curve', () => {
    const { timeline } = reportOf();
    const values = [1, null, -2.5, 1e21, 0];
    const report = reportOf({ timeline: { ...timeline, series: [rate('sent', values)] } });
    const text = REPORT_FORMATS.json.draw(report);
    expect(JSON.parse(text)).toEqual(report);
    expect(text).toContain('"values": [1,null,-2.5,1e+21,0]\n');
  });

  test('texts that look like a list stay as they are', () => {
    const report = reportOf({ reasons: ['[\n  1,\n  2\n]', '[1, 2]'] });
    expect(JSON.parse(REPORT_FORMATS.json.draw(report))).toEqual(report);
  });
});
