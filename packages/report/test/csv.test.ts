import { REPORT_FORMATS } from '@squall/report';
import { describe, expect, test } from 'vitest';
import { rate, reportOf } from './report-of.ts';

const { timeline } = reportOf();
const draw = (series: (typeof timeline)['series']) =>
  REPORT_FORMATS.csv.draw(reportOf({ timeline: { ...timeline, series } }));

describe('the time line as CSV', () => {
  test('has a row a step with its moment, its second and its stage', () => {
    const lines = draw([rate('sent', [1, 2.5, null, 4, 0])]).split('\r\n');
    expect(lines).toEqual([
      'time,elapsed_s,stage,sent{group=devices} per s',
      '2026-12-01T12:00:00.000Z,0,publish,1',
      '2026-12-01T12:00:01.000Z,1,publish,2.5',
      '2026-12-01T12:00:02.000Z,2,publish,',
      '2026-12-01T12:00:03.000Z,3,publish,4',
      '2026-12-01T12:00:04.000Z,4,,0',
      '',
    ]);
  });

  test('names the unit of percentiles, and the stream and the probe of a curve', () => {
    const [head = ''] = draw([
      { metric: 'publish_time', labels: { group: 'd', stream: 't', stat: 'p99' }, values: [1] },
      { metric: 'cpu_user', labels: { probe: 'host', stat: 'value' }, values: [0.5] },
    ]).split('\r\n');
    expect(head).toContain('"publish_time{group=d,stream=t} p99 (us)"');
    expect(head).toContain('cpu_user{probe=host}');
  });

  test('quotes what would break a cell, and lets no name become a formula', () => {
    const [head = ''] = draw([
      { metric: '=cmd()', labels: { equation: 'a "b", c' }, values: [-1] },
    ]).split('\r\n');
    expect(head).toContain(`"'=cmd(){equation=a ""b"", c}"`);
    expect(draw([rate('sent', [-1])])).toContain(',publish,-1\r\n');
  });

  test('of a run that measured nothing is its head', () => {
    expect(draw([])).toBe('time,elapsed_s,stage\r\n');
  });
});
