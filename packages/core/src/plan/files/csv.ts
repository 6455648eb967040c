import type { Fault } from '../schema/leaves.ts';
import { textOfFile } from './text-file.ts';

export interface CsvTable {
  readonly columns: readonly string[];
  /** One list of fields a row, as long as `columns`. */
  readonly rows: readonly (readonly string[])[];
}

const COLUMN = /^[A-Za-z_]\w*$/;

/**
 * Reads CSV [RFC 4180]: fields between commas, quoted where they hold commas, quotes or line ends;
 * lines end by CRLF or LF; a byte order mark is passed over, and so are empty lines. The first line
 * names the columns.
 */
export function parseCsv(content: Uint8Array): CsvTable | Fault {
  const text = textOfFile(content);
  if (text === null) return { message: 'the CSV file is not text in UTF-8' };
  const records = readRecords(text);
  if ('message' in records) return records;
  const [header, ...rows] = records;
  if (header === undefined) {
    return {
      message: 'the CSV file is empty',
      hint: 'its first line names the columns',
    };
  }
  const columns = header.fields.map((field) => field.trim());
  const fault = headerFault(columns);
  if (fault !== null) return fault;
  const ragged = rows.find(({ fields }) => fields.length !== columns.length);
  if (ragged !== undefined) {
    const { fields, line } = ragged;
    return {
      message: `line ${line} of the CSV file has ${fields.length} fields, its header has ${columns.length}`,
      hint: 'a field with a comma in it is put in quotes',
    };
  }
  return { columns, rows: rows.map(({ fields }) => fields) };
}

function headerFault(columns: readonly string[]): Fault | null {
  const odd = columns.find((column) => !COLUMN.test(column));
  if (odd !== undefined) {
    return {
      message: `"${odd.slice(0, 40)}" is not the name of a column`,
      hint: 'the first line of the file names the columns: letters, digits and _, such as serial or user_name',
    };
  }
  const twice = columns.find((column, index) => columns.indexOf(column) !== index);
  if (twice === undefined) return null;
  return {
    message: `the column ${twice} stands twice in the header of the CSV file`,
  };
}

interface CsvRecord {
  readonly fields: string[];
  /** Of its beginning, from 1. */
  readonly line: number;
}

function readRecords(text: string): CsvRecord[] | Fault {
  const records: CsvRecord[] = [];
  let line = 1;
  let at = 0;
  while (at < text.length) {
    const record: CsvRecord = { fields: [], line };
    let ended = false;
    while (!ended) {
      const field = readField(text, at);
      if (field === null) {
        return {
          message: `a quote in line ${line} of the CSV file is never closed`,
        };
      }
      if (field.fault) {
        return {
          message: `a quote stands in the middle of a field in line ${line} of the CSV file`,
          hint: 'a field with quotes in it is put in quotes itself, and each of them is doubled',
        };
      }
      record.fields.push(field.value);
      line += field.lines;
      ended = text[field.end] !== ',';
      at = field.end + 1;
      // A comma at the very end of the text has an empty field behind it.
      if (!ended && at >= text.length) {
        record.fields.push('');
        ended = true;
      }
    }
    if (text[at - 1] === '\r' && text[at] === '\n') at += 1;
    line += 1;
    if (record.fields.length > 1 || record.fields[0] !== '') records.push(record);
  }
  return records;
}

interface Field {
  readonly value: string;
  /** Where its comma or line end stands. */
  readonly end: number;
  /** Line ends inside it. */
  readonly lines: number;
  readonly fault: boolean;
}

/** Null where its quote is never closed. */
function readField(text: string, at: number): Field | null {
  return text[at] === '"' ? readQuoted(text, at + 1) : readPlain(text, at);
}

function readPlain(text: string, at: number): Field {
  let end = at;
  while (end < text.length && !isEnd(text[end])) end += 1;
  const value = text.slice(at, end);
  return { value, end, lines: 0, fault: value.includes('"') };
}

function readQuoted(text: string, at: number): Field | null {
  let value = '';
  let from = at;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return null;
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      const end = quote + 1;
      const fault = end < text.length && !isEnd(text[end]);
      return { value, end, lines: value.split('\n').length - 1, fault };
    }
    value += '"';
    from = quote + 2;
  }
}

function isEnd(sign: string | undefined): boolean {
  return sign === ',' || sign === '\n' || sign === '\r';
}
