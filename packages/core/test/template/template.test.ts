import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compileTemplate,
  parseTemplate,
  type Template,
  type TemplateContext,
} from '../../src/template/index.ts';

const CONTEXT: TemplateContext = {
  n: 41,
  clients: 100,
  blockN: 6,
  seq: 3,
  nowMs: 1_700_000_000_123.7,
  run: 'r7x2',
  group: 'devices',
  csv: { serial: 'AB-1' },
  secrets: { TOKEN: 's3cret' },
  vars: { site: 'berlin' },
  random: () => 0.5,
};

const render = (text: string, context: Partial<TemplateContext> = {}): string =>
  compileTemplate(text).render({ ...CONTEXT, ...context });

test.each([
  ['plain', 'plain'],
  ['', ''],
  ['device-{{n}}', 'device-42'],
  ['{{ n }}', '42'],
  ['{{n:06}}', '000042'],
  ['{{n:01}}', '42'],
  ['{{n % 10}}', '2'],
  ['{{n%10:03}}', '002'],
  ['{{n + 100}}', '142'],
  ['{{n - 50}}', '-8'],
  ['{{n - 50:04}}', '-0008'],
  ['{{block.n}}', '7'],
  ['{{seq}}', '3'],
  ['{{seq % 2}}', '1'],
  ['{{now}}', '1700000000123'],
  ['{{random 1 100}}', '51'],
  ['{{random -5 -5}}', '-5'],
  ['{{csv.serial}}', 'AB-1'],
  ['{{env.TOKEN}}', 's3cret'],
  ['{{run}}-{{group}}-{{n}}', 'r7x2-devices-42'],
  ['{{site}}/{{n}}', 'berlin/42'],
  ['{"a":{"b":1}}', '{"a":{"b":1}}'],
  ['a}}b', 'a}}b'],
])('%s renders as %s', (text, expected) => expect(render(text)).toBe(expected));

test('a uuid is of version 4 and takes its randomness from the context', () => {
  const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(render('{{uuid}}')).toMatch(shape);
  expect(render('{{uuid}}', { random: () => 0.999_999 })).toMatch(shape);
  expect(render('{{uuid}}', { random: () => 0 })).toBe('00000000-0000-4000-8000-000000000000');
});

test.each([
  ['{{n', 1, 'never closed'],
  ['ab{{', 3, 'never closed'],
  ['ab{{}}', 3, 'empty'],
  ['x{{n * 2}}', 2, 'not a template expression'],
  ['{{n}}{{n % 0}}', 6, 'division by 0'],
  ['{{random 5 1}}', 1, 'no number from 5 to 1'],
  ['{{random 5}}', 1, 'not a template expression'],
  ['{{n:6}}', 1, 'not a template expression'],
  ['{{n:099}}', 1, 'too many'],
  ['{{random}}', 1, 'not a template expression'],
  ['{{block}}', 1, 'not a template expression'],
  ['{{block.x}}', 1, 'not a template expression'],
  ['{{env.}}', 1, 'not a template expression'],
  ['{{constructor()}}', 1, 'not a template expression'],
  ['{{{{n}}}}', 1, 'not a template expression'],
  [`{{${'a'.repeat(1000)}}}`, 1, 'too long'],
])('%s is refused at column %d', (text, column, message) => {
  expect(parseTemplate(text)).toMatchObject({
    ok: false,
    column,
    message: expect.stringContaining(message),
  });
  expect(() => compileTemplate(text)).toThrow(`(column ${column})`);
});

test.each([
  ['{{env.NOPE}}', 'environment variable NOPE'],
  ['{{csv.nope}}', 'no column nope'],
  ['{{constructor}}', 'no variable constructor'],
  ['{{toString}}', 'no variable toString'],
])('%s without a value is an error, not the word undefined', (text, message) => {
  expect(() => render(text)).toThrow(message);
});

const traits = ({ isStatic, perMessage }: Template) => ({ isStatic, perMessage });

describe('what a template varies with', () => {
  test.each(['plain', '{{run}}', '{{group}}', '{{env.TOKEN}}', '{{site}}'])('%s: nothing', (t) => {
    expect(traits(compileTemplate(t))).toEqual({ isStatic: true, perMessage: false });
  });
  test.each(['{{n}}', '{{n % 2}}', '{{block.n}}', '{{csv.serial}}'])('%s: the client', (t) => {
    expect(traits(compileTemplate(t))).toEqual({ isStatic: false, perMessage: false });
  });
  test.each(['{{seq}}', '{{now}}', '{{random 1 2}}', '{{uuid}}', '{{n}}/{{seq}}'])(
    '%s: the message',
    (t) => {
      expect(traits(compileTemplate(t))).toEqual({ isStatic: false, perMessage: true });
    },
  );
});

test('text without braces renders as itself', () => {
  fc.assert(
    fc.property(
      fc.string().filter((text) => !text.includes('{{')),
      (text) => {
        expect(render(text)).toBe(text);
      },
    ),
  );
});

test('parts cover the text: rendering is the concatenation of renderings', () => {
  const piece = fc.constantFrom('a', '/', '{{n}}', '{{n:04}}', '{{seq}}', '{{run}}', '-', 'é');
  fc.assert(
    fc.property(fc.array(piece), fc.nat(), (pieces, n) => {
      const whole = render(pieces.join(''), { n });
      expect(whole).toBe(pieces.map((text) => render(text, { n })).join(''));
    }),
  );
});

test('random numbers stay between their ends, both included', () => {
  const seen = new Set<string>();
  for (let k = 0; k < 100; k++) seen.add(render('{{random 1 3}}', { random: () => k / 100 }));
  expect([...seen].toSorted()).toEqual(['1', '2', '3']);
});

test('any text either compiles or fails with a column inside it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('{{', '}}', '{', 'n', ' ', '%', '0', ':', '.')),
      (bits) => {
        const text = bits.join('');
        const parsed = parseTemplate(text);
        const column = parsed.ok ? 1 : parsed.column;
        expect(column).toBeGreaterThanOrEqual(1);
        expect(column).toBeLessThanOrEqual(Math.max(1, text.length));
      },
    ),
  );
});
