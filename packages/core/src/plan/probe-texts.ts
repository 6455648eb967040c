import type { ProbeSource } from './probe-spec.ts';

/** What becomes of the texts of a probe that may hold secrets. */
export interface TextEdits {
  /** Of an address, where a secret stands between `:` and `@`. */
  address(text: string): string;
  /** Of a text that is a secret as a whole: what a header says, a key. */
  secret(text: string): string;
}

/** The source with each text that may hold a secret gone through one of the edits. */
export function withProbeTexts(source: ProbeSource, edits: TextEdits): ProbeSource {
  if (source.type === 'rocketmq') {
    if (source.acl === null) return source;
    const { accessKey, secretKey } = source.acl;
    const acl = { accessKey: edits.secret(accessKey), secretKey: edits.secret(secretKey) };
    return { ...source, acl };
  }
  if (source.type === 'host') return source;
  const url = edits.address(source.url);
  if (!('headers' in source)) return { ...source, url };
  const headers = Object.fromEntries(
    Object.entries(source.headers).map(([name, value]) => [name, edits.secret(value)]),
  );
  return { ...source, url, headers };
}
