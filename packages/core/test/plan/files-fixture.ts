import type { PlanFileContent, PlanFileSource } from '../../src/plan/index.ts';

/** Files of a test, by their names. */
export class TestFiles implements PlanFileSource {
  readonly #files: Readonly<Record<string, string>>;
  /** Names in the order in which they were read. */
  readonly names: string[] = [];

  constructor(files: Readonly<Record<string, string>>) {
    this.#files = files;
  }

  read(name: string, maxBytes: number): PlanFileContent | { message: string } {
    const text = this.#files[name];
    if (text === undefined) return { message: `${name} is not there` };
    this.names.push(name);
    const content = new TextEncoder().encode(text);
    if (content.length > maxBytes) return { message: `${name} is too large` };
    return { bytes: content.length, sha256: `hash of ${name}`, content };
  }

  list(directory: string): readonly string[] {
    return Object.keys(this.#files).filter((name) => name.startsWith(directory));
  }
}
