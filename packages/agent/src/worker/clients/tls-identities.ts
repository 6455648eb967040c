import type { TlsSpec } from '@squall/core/plan';
import { compileTemplate, type Template } from '@squall/core/template';
import { createTlsContext, type TlsRequest, TlsSessions } from '@squall/mqtt';
import { TLS_CONTEXTS_MAX } from '../limits.ts';
import type { PlanFiles } from '../plan-files.ts';

type Context = TlsRequest['context'];

export interface TlsIdentitiesOptions {
  readonly spec: TlsSpec;
  readonly files: PlanFiles;
  /** Fills in a template for the client at a position. */
  readonly render: (template: Template, position: number) => string;
}

/**
 * Certificates and keys of one group's clients: one pair for all, or one a client, by names of files
 * that are templates. What is read of them is kept, since reading costs more than a handshake.
 */
export class TlsIdentities {
  /** Null where sessions are not resumed. */
  readonly sessions: TlsSessions | null;
  readonly #options: TlsIdentitiesOptions;
  readonly #cert: Template | null;
  readonly #key: Template | null;
  readonly #ca: string | null;
  /** By the names of certificate and key. */
  readonly #contexts = new Map<string, Context>();

  /** @throws Error where a file of the plan is not there. */
  constructor(options: TlsIdentitiesOptions) {
    const { spec, files } = options;
    this.#options = options;
    this.#cert = spec.cert === null ? null : compileTemplate(spec.cert);
    this.#key = spec.key === null ? null : compileTemplate(spec.key);
    this.#ca = spec.ca === null ? null : files.text(spec.ca);
    this.sessions = spec.resume ? new TlsSessions() : null;
  }

  /**
   * What the client at `position` needs for TLS.
   * @throws Error where its certificate or key is not there or cannot be used.
   */
  of(position: number): TlsRequest {
    const { servername, verify, alpn } = this.#options.spec;
    return { context: this.#context(position), servername, verify, alpn, sessions: this.sessions };
  }

  /**
   * Looks whether the files of all `clients` clients are there.
   * @throws Error that names one that is missing.
   */
  mustHaveAll(clients: number): void {
    for (const template of [this.#cert, this.#key]) {
      if (template === null || template.isStatic) continue;
      for (let position = 0; position < clients; position++) this.#name(template, position);
    }
  }

  #context(position: number): Context {
    const { files, spec } = this.#options;
    const cert = this.#name(this.#cert, position);
    const key = this.#name(this.#key, position);
    const names = `${cert}\n${key}`;
    const known = this.#contexts.get(names);
    if (known !== undefined) return known;
    const made = createTlsContext({
      ca: this.#ca,
      cert: cert === null ? null : files.text(cert),
      key: key === null ? null : files.text(key),
      minVersion: spec.minVersion,
    });
    if (this.#contexts.size < TLS_CONTEXTS_MAX) this.#contexts.set(names, made);
    return made;
  }

  /** Name of a file that is there. */
  #name(template: Template | null, position: number): string | null {
    if (template === null) return null;
    const name = this.#options.render(template, position);
    this.#options.files.mustHave(name);
    return name;
  }
}
