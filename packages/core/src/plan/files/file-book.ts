import { MAX_FILE_BYTES, MAX_FILES } from '../limits.ts';
import type { FileFacts } from '../plan.ts';
import type { Findings, PlanPath } from '../problem.ts';
import type { PlanFileContent, PlanFiles, PlanFileSource } from './plan-files.ts';

/** The files of one plan: each is read once, and all of them together stay within a bound. */
export class FileBook {
  readonly #source: PlanFileSource | null;
  readonly #findings: Findings;
  readonly #names = new Set<string>();
  readonly #files = new Map<string, PlanFileContent>();
  readonly #missing = new Set<string>();
  #bytes = 0;
  #full = false;

  /** @param source null: the files are not looked at, only their names are kept. */
  constructor(source: PlanFileSource | null, findings: Findings) {
    this.#source = source;
    this.#findings = findings;
  }

  /** False where files are not looked at, so that nothing can be said about what is in them. */
  get looks(): boolean {
    return this.#source !== null;
  }

  /** Names of all files and directories that the plan asks for, sorted. */
  get names(): string[] {
    return [...this.#names].toSorted();
  }

  get facts(): Record<string, FileFacts> {
    return Object.fromEntries(
      this.#sorted().map(([name, { bytes, sha256 }]) => [name, { bytes, sha256 }]),
    );
  }

  get contents(): PlanFiles {
    return Object.fromEntries(this.#sorted().map(([name, { content }]) => [name, content]));
  }

  /** What is in a file; null, and a fault that is told once, where it cannot be read. */
  read(name: string, path: PlanPath): PlanFileContent | null {
    this.#names.add(name);
    const known = this.#files.get(name);
    if (known !== undefined || this.#source === null) return known ?? null;
    if (this.#full || this.#missing.has(name)) return null;
    if (this.#files.size >= MAX_FILES) {
      this.#full = true;
      this.#findings.error(path, `a plan can name at most ${MAX_FILES} files`);
      return null;
    }
    const found = this.#source.read(name, MAX_FILE_BYTES - this.#bytes);
    if ('message' in found) {
      this.#missing.add(name);
      this.#findings.error(path, found.message, found);
      return null;
    }
    this.#bytes += found.bytes;
    this.#files.set(name, found);
    return found;
  }

  /** The files of a directory, sorted by name; empty where they are not looked at or not there. */
  list(directory: string, path: PlanPath): readonly string[] {
    this.#names.add(directory);
    if (this.#source === null) return [];
    const found = this.#source.list(directory);
    if ('message' in found) {
      this.#findings.error(path, found.message, found);
      return [];
    }
    if (found.length === 0) {
      this.#findings.error(path, `there are no files in ${directory}`);
    }
    return found.toSorted();
  }

  #sorted(): [string, PlanFileContent][] {
    return [...this.#files].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }
}
