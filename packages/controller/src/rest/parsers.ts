import type { FastifyInstance } from 'fastify';

/** YAML has a media type of its own [RFC 9512]; the others were in use before. */
export const YAML_TYPES = [
  'application/yaml',
  'application/x-yaml',
  'text/yaml',
  'text/x-yaml',
] as const;

/** JSON only, and an empty body is none. */
export function takeJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/json', 'application/merge-patch+json'],
    { parseAs: 'string' },
    (request, body, done) => {
      if (body.length === 0) done(null, undefined);
      else void parse(request, body.toString(), done);
    },
  );
}

/** YAML and JSON, both as the text that was sent: places in it are told, and its hash is its name. */
export function takePlans(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    ['application/json', ...YAML_TYPES],
    { parseAs: 'string' },
    (_request, body, done) => done(null, body),
  );
}
