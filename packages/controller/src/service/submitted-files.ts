import { createHash } from 'node:crypto';
import path from 'node:path';
import type { PlanFileContent, PlanFileSource } from '@squall/core/plan';

/** Files that came with a plan, by the names that it gives them. */
export class SubmittedFiles implements PlanFileSource {
  readonly #files: ReadonlyMap<string, string>;

  /** @param files in base64. */
  constructor(files: Readonly<Record<string, string>>) {
    this.#files = new Map(Object.entries(files));
  }

  read(name: string, maxBytes: number): PlanFileContent | { message: string; hint?: string } {
    const text = this.#files.get(name);
    if (text === undefined) {
      return {
        message: `${name} did not come with the plan`,
        hint: 'send it in files, in base64, by the name that the plan gives it',
      };
    }
    const content = Buffer.from(text, 'base64');
    if (content.length > maxBytes) {
      return { message: `${name} is too large: all files of a plan together have at most 32 MiB` };
    }
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { bytes: content.length, sha256, content };
  }

  list(directory: string): readonly string[] {
    const folder = path.posix.normalize(`${directory}/`);
    return [...this.#files.keys()].filter(
      (name) => path.posix.normalize(`${path.posix.dirname(name)}/`) === folder,
    );
  }
}
