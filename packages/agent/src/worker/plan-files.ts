/** Contents of the files that a plan names, by those names; they came with the plan. */
export class PlanFiles {
  readonly #contents: Readonly<Record<string, string>>;

  /** @param contents in base64. */
  constructor(contents: Readonly<Record<string, string>>) {
    this.#contents = contents;
  }

  /** @throws Error where there is no such file. */
  bytes(name: string): Buffer {
    return Buffer.from(this.mustHave(name), 'base64');
  }

  /** @throws Error where there is no such file. */
  text(name: string): string {
    return this.bytes(name).toString('utf8');
  }

  /** @throws Error where there is no such file. */
  mustHave(name: string): string {
    const content = Object.hasOwn(this.#contents, name) ? this.#contents[name] : undefined;
    if (content === undefined) throw new Error(`the file ${name} did not come with the plan`);
    return content;
  }
}
