import { RocketmqError } from './rocketmq-error.ts';

/** What a body may hold. Objects with object keys come as `Pairs`. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [name: string]: JsonValue;
}

/** Deeper than any answer of a broker; deeper ones are not read (the stack is finite). */
const DEPTH_MAX = 64;

/**
 * Reads the JSON of old name servers and of statistics. What fastjson writes is JSON but for its
 * keys: bare numbers (`{0:"127.0.0.1:10911"}`) and whole objects (`{{"queueId":1}:{…}}`). Such a key
 * becomes the text of its JSON with sorted names, so that it can be parsed again.
 *
 * @throws RocketmqError TEXT
 */
export function parseLenientJson(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return new LenientReader(text).whole();
  }
}

/** JSON with the names of every object in order: one text for one value. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] ?? null)}`);
  return `{${members.join(',')}}`;
}

class LenientReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): JsonValue {
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) throw this.#bad('more after the value');
    return value;
  }

  #value(): JsonValue {
    this.#space();
    const first = this.#text[this.#at];
    if (first === '{') return this.#nested(() => this.#object());
    if (first === '[') return this.#nested(() => this.#array());
    if (first === '"') return this.#string();
    return this.#bare();
  }

  #nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw this.#bad('nested too deep');
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #object(): JsonObject {
    // Without a prototype a member called __proto__ is a member like any other.
    const result: JsonObject = Object.create(null);
    this.#at += 1;
    if (this.#closes('}')) return result;
    for (;;) {
      const key = this.#key();
      this.#space();
      this.#expect(':');
      result[key] = this.#value();
      if (this.#closes('}')) return result;
      this.#expect(',');
    }
  }

  #array(): JsonValue[] {
    const result: JsonValue[] = [];
    this.#at += 1;
    if (this.#closes(']')) return result;
    for (;;) {
      result.push(this.#value());
      if (this.#closes(']')) return result;
      this.#expect(',');
    }
  }

  #key(): string {
    this.#space();
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === '{' || first === '[') return canonicalJson(this.#value());
    const bare = /[-\w$.]+/y;
    bare.lastIndex = this.#at;
    const found = bare.exec(this.#text);
    if (found === null) throw this.#bad('no name');
    this.#at = bare.lastIndex;
    return found[0];
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined) throw this.#bad('a string without end');
      this.#at += char === '\\' ? 2 : 1;
      if (char === '"') return this.#stringFrom(start);
    }
  }

  #stringFrom(start: number): string {
    const value = this.#parsed(start, 'a string that is none');
    if (typeof value === 'string') return value;
    throw this.#bad('a string that is none');
  }

  /** A number or one of the three words. */
  #bare(): JsonValue {
    const start = this.#at;
    const bare = /[-+.\w]+/y;
    bare.lastIndex = start;
    if (bare.exec(this.#text) === null) throw this.#bad('no value');
    this.#at = bare.lastIndex;
    return this.#parsed(start, 'a value that is none');
  }

  #parsed(start: number, what: string): JsonValue {
    try {
      return JSON.parse(this.#text.slice(start, this.#at));
    } catch {
      this.#at = start;
      throw this.#bad(what);
    }
  }

  #space(): void {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? '.')) this.#at += 1;
  }

  #closes(bracket: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== bracket) return false;
    this.#at += 1;
    return true;
  }

  #expect(char: string): void {
    if (this.#text[this.#at] !== char) throw this.#bad(`no '${char}'`);
    this.#at += 1;
  }

  #bad(what: string): RocketmqError {
    return new RocketmqError('TEXT', `not JSON, not even fastjson's: ${what} at ${this.#at}`);
  }
}
