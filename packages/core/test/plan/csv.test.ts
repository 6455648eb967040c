import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCsv } from '../../src/plan/files/csv.ts';

const read = (text: string) => parseCsv(new TextEncoder().encode(text));
const rowsOf = (text: string) => {
  const table = read(text);
  return 'message' in table ? table.message : table.rows;
};

describe('a CSV file', () => {
  test.each([
    ['lines that end by LF', 'a,b\n1,2\n3,4\n'],
    ['lines that end by CRLF', 'a,b\r\n1,2\r\n3,4\r\n'],
    ['no end of its last line', 'a,b\n1,2\n3,4'],
    ['a byte order mark', '\uFEFFa,b\n1,2\n3,4\n'],
    ['empty lines', 'a,b\n\n1,2\n\r\n3,4\n\n'],
    ['quotes that were not needed', '"a","b"\n"1",2\n3,"4"\n'],
    ['spaces around the names of its columns', ' a , b\n1,2\n3,4\n'],
  ])('may have %s', (_, text) => {
    expect(read(text)).toEqual({
      columns: ['a', 'b'],
      rows: [
        ['1', '2'],
        ['3', '4'],
      ],
    });
  });

  test.each([
    ['commas', 'a,b\n"1,5",2\n', '1,5'],
    ['quotes', 'a,b\n"say ""hi""",2\n', 'say "hi"'],
    ['line ends', 'a,b\n"one\r\ntwo",2\n', 'one\r\ntwo'],
    ['nothing', 'a,b\n,2\n', ''],
    ['spaces, which belong to it', 'a,b\n 1 ,2\n', ' 1 '],
  ])('has fields with %s', (_, text, field) => {
    expect(rowsOf(text)).toEqual([[field, '2']]);
  });

  test('has an empty field after a comma at its very end', () => {
    expect(rowsOf('a,b\n1,')).toEqual([['1', '']]);
  });

  test.each([
    ['', 'the CSV file is empty'],
    ['\n\n', 'the CSV file is empty'],
    ['a,b,a\n', 'the column a stands twice in the header of the CSV file'],
    ['a,1b\n', '"1b" is not the name of a column'],
    ['a,\n', '"" is not the name of a column'],
    ['a,b\n1\n', 'line 2 of the CSV file has 1 fields, its header has 2'],
    ['a,b\n"x\ny",2\n1,2,3\n', 'line 4 of the CSV file has 3 fields, its header has 2'],
    ['a,b\n1,2\n"3,4\n', 'a quote in line 3 of the CSV file is never closed'],
    ['a,b\n1,2"3\n', 'a quote stands in the middle of a field in line 2 of the CSV file'],
    ['a,b\n"1"x,2\n', 'a quote stands in the middle of a field in line 2 of the CSV file'],
    ['a\0,b\n', 'the CSV file is not text in UTF-8'],
  ])('%j is refused', (text, message) => {
    expect(read(text)).toMatchObject({ message });
  });

  test('in another encoding is refused', () => {
    expect(parseCsv(Uint8Array.of(0x61, 0x0a, 0xe9, 0x0a))).toMatchObject({
      message: 'the CSV file is not text in UTF-8',
    });
  });

  test('is read as it was written, whatever is in its fields', () => {
    const field = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', ' ', 'é', '😀') });
    fc.assert(
      fc.property(
        fc
          .integer({ min: 2, max: 4 })
          .chain((width) =>
            fc.array(fc.array(field, { minLength: width, maxLength: width }), { maxLength: 8 }),
          ),
        fc.constantFrom('\n', '\r\n'),
        (rows, lineEnd) => {
          const width = rows[0]?.length ?? 2;
          const header = Array.from({ length: width }, (_, k) => `c${k}`);
          const quoted = rows.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`));
          const text = [header, ...quoted].map((row) => row.join(',')).join(lineEnd);
          expect(rowsOf(text)).toEqual(rows);
        },
      ),
    );
  });
});
