import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { PlanFileContent, PlanFileSource } from '@squall/core/plan';

/** The files that a plan names, looked for from the plan's own directory on. */
export class FilesBeside implements PlanFileSource {
  readonly #directory: string;

  /** @param planFile path of the plan. */
  constructor(planFile: string) {
    this.#directory = path.dirname(planFile);
  }

  read(name: string, maxBytes: number): PlanFileContent | FileFault {
    const file = path.resolve(this.#directory, name);
    try {
      const facts = statSync(file);
      if (!facts.isFile()) return fault(name, 'is not a file');
      if (facts.size > maxBytes) return tooLarge(name, facts.size);
      const content = readFileSync(file);
      // It may have grown since.
      if (content.length > maxBytes) return tooLarge(name, content.length);
      return contentOf(content);
    } catch (error) {
      return fault(name, whyNot(error), `it is looked for as ${file}`);
    }
  }

  list(directory: string): readonly string[] | FileFault {
    const folder = path.resolve(this.#directory, directory);
    try {
      return readdirSync(folder, { withFileTypes: true })
        .filter((entry) => !entry.name.startsWith('.') && isFile(path.join(folder, entry.name)))
        .map((entry) => path.posix.join(directory, entry.name));
    } catch (error) {
      return fault(directory, whyNot(error), `it is looked for as ${folder}`);
    }
  }
}

interface FileFault {
  readonly message: string;
  readonly hint?: string;
}

function contentOf(content: Uint8Array): PlanFileContent {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { bytes: content.length, sha256, content };
}

/** What links point to counts. */
function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

function tooLarge(name: string, bytes: number): FileFault {
  return fault(
    name,
    `has ${bytes} bytes, which is too much: all files of a plan together have at most 32 MiB`,
    'they travel to every agent that needs them; made-up payloads of any size need no file',
  );
}

function fault(name: string, what: string, hint?: string): FileFault {
  return { message: `${name} ${what}`, ...(hint === undefined ? {} : { hint }) };
}

function whyNot(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT') return 'is not there';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read';
  if (code === 'ENOTDIR') return 'is not a directory';
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
