import type { SqlProbeSource as Sql } from '../probe-spec.ts';
import type { Place } from './probe-parts.ts';

/** What may stand after the `?` of a database's address; a mistyped one would leave TLS off in silence. */
const PARAMETERS: Readonly<Record<Sql['type'], Readonly<Record<string, readonly string[]>>>> = {
  mysql: { tls: ['true', 'false'] },
  postgres: { sslmode: ['disable', 'prefer', 'require', 'verify-full'] },
};

/** A probe of a database, if its address and query are what they should be. */
export function sqlSource(source: Sql, place: Place): Sql | null {
  return checkParameters(source, place) && checkQuery(source.query, place) ? source : null;
}

function checkParameters({ type, url }: Sql, { path, context }: Place): boolean {
  const known = Object.entries(PARAMETERS[type]).flatMap(([name, values]) =>
    values.map((value) => `${name}=${value}`),
  );
  const given = /\?([^#]*)/.exec(url.replaceAll(/\{\{[^}]*\}\}/g, 'x'))?.[1] ?? '';
  const strange = given.split('&').find((one) => one !== '' && !known.includes(one));
  if (strange === undefined) return true;
  context.findings.error([...path, 'url'], `the address of a ${type} probe has no "${strange}"`, {
    hint: `it may have ${known.join(', ')}`,
  });
  return false;
}

/** One SELECT, and nothing that could be more than reading. */
const FORBIDDEN =
  /\b(?:insert|update|delete|replace|drop|alter|create|truncate|grant|revoke|into|call|lock|set|load|handler|do|execute|merge|copy|vacuum|sleep|benchmark|pg_sleep)\b/i;

function checkQuery(query: string, { path, context }: Place): boolean {
  const place = [...path, 'query'];
  const hint = 'write a single SELECT that gives one number, such as SELECT COUNT(*) FROM t';
  const bare = query.trim().replace(/;$/, '');
  const quoted = bare.replaceAll(/'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`/g, "''");
  const fault = !/^select\b/i.test(quoted)
    ? 'this is no SELECT'
    : quoted.includes(';')
      ? 'this is more than one statement'
      : /--|#|\/\*/.test(quoted)
        ? 'a query of a probe has no comments'
        : FORBIDDEN.test(quoted)
          ? `${FORBIDDEN.exec(quoted)?.[0] ?? ''} is not for a probe`
          : null;
  if (fault === null) return true;
  context.findings.error(place, fault, { hint });
  return false;
}
