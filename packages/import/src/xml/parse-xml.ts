import { SquallError } from '@squall/core/errors';
import { SaxesParser } from 'saxes';

/** One element of a document, with where it stands. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  /** Texts and CDATA of its own, joined. */
  text: string;
  /** Line of its start tag, from 1. */
  readonly line: number;
}

/** Bytes of a file that is imported: real plans have some hundred KB. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_DEPTH = 128;
const MAX_ELEMENTS = 500_000;
/** Characters that the parser is given at a time: a fault early in a file is told before the rest is read. */
const PIECE = 64 * 1024;

/**
 * The tree of an XML document. No document type is taken, so there are no entities but the five of XML,
 * nothing is expanded and nothing is fetched.
 * @throws SquallError SQ_PLAN for what is not well-formed, not UTF-8, too large or too deep, with the line.
 */
export function parseXml(bytes: Uint8Array, file: string): XmlElement {
  if (bytes.length > MAX_FILE_BYTES) throw tooLarge(file, bytes.length);
  const text = decode(bytes, file);
  const reader = new TreeReader(file);
  for (let at = 0; at < text.length; at += PIECE) reader.write(text.slice(at, at + PIECE));
  return reader.end();
}

/** What is said of a file that is not even read. */
export function tooLarge(file: string, bytes: number): SquallError {
  return refused(file, `the file has ${bytes} bytes, and at most 32 MiB are read`);
}

class TreeReader {
  readonly #file: string;
  readonly #parser = new SaxesParser<{ xmlns: false; position: true }>({
    xmlns: false,
    position: true,
  });
  readonly #open: XmlElement[] = [];
  #root: XmlElement | null = null;
  #elements = 0;
  #line = 1;

  constructor(file: string) {
    this.#file = file;
    const parser = this.#parser;
    parser.on('error', (error) => {
      throw this.#refused(error.message.replace(/^\d+:\d+: /, ''));
    });
    parser.on('doctype', () => {
      throw this.#refused('it has a document type (<!DOCTYPE …>), which may define entities');
    });
    parser.on('opentagstart', () => {
      this.#line = parser.line;
    });
    parser.on('opentag', ({ name, attributes }) => this.#enter(name, attributes));
    parser.on('text', (text) => this.#append(text));
    parser.on('cdata', (text) => this.#append(text));
    parser.on('closetag', () => {
      this.#open.pop();
    });
  }

  write(piece: string): void {
    this.#parser.write(piece);
  }

  end(): XmlElement {
    this.#parser.close();
    if (this.#root === null) throw this.#refused('it holds no element');
    return this.#root;
  }

  #enter(name: string, attributes: Readonly<Record<string, string>>): void {
    if (++this.#elements > MAX_ELEMENTS)
      throw this.#refused(`it has over ${MAX_ELEMENTS} elements`);
    if (this.#open.length >= MAX_DEPTH)
      throw this.#refused(`its elements are over ${MAX_DEPTH} deep`);
    const element = { name, attributes, children: [], text: '', line: this.#line };
    this.#open.at(-1)?.children.push(element);
    this.#root ??= element;
    this.#open.push(element);
  }

  #append(text: string): void {
    const element = this.#open.at(-1);
    if (element !== undefined) element.text += text;
  }

  #refused(what: string): SquallError {
    return refused(this.#file, `line ${this.#parser.line}: ${what}`);
  }
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused(file, 'the file is not text in UTF-8');
  }
}

function refused(path: string, what: string): SquallError {
  return new SquallError('SQ_PLAN', `not imported: ${what}`, {
    path,
    hint: 'a JMeter plan (.jmx) or a HiveMQ Swarm scenario is wanted: XML in UTF-8, 32 MiB at most, without a document type',
  });
}
