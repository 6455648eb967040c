import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SquallError } from '@squall/core/errors';
import { LedgerJoin, type LedgerPage, readLedgerPages } from '@squall/core/ledger';
import { coarsenFrames, decodeFrame, encodeFrame } from '@squall/core/metrics';
import { sketchPlan } from './ledger-plans.ts';
import { item, Simulation } from './simulation.ts';

const clock = { domain: 7, startUs: 1 };
const head = { worker: 0, page: 0, last: false, clock };
const pairs = (rows: readonly number[]) => ({ ...head, kind: 'pairs', rows });
const publishers = (rows: readonly number[], marksUs: readonly number[] = []) => ({
  ...head,
  kind: 'publishers',
  stream: 0,
  stage: 0,
  marksUs,
  rows,
});
const subscribers = (group: number, filters: number, rows: readonly number[] = []) => ({
  ...head,
  kind: 'subscribers',
  group,
  filters,
  sessionsLost: 0,
  rows,
});
const edge = { ...head, kind: 'edge', firsts: [], held: [] };
const shares = (rows: readonly number[]) => ({
  ...head,
  kind: 'shares',
  share: '$share/s/d/#',
  stream: 0,
  stage: 0,
  rows,
});
const tally = { kind: 0, entry: 0, stage: 0, stream: -1, count: 1 };
const tallies = { ...head, kind: 'tallies', full: false, tallies: [tally], examples: [] };

const PLAN = sketchPlan(
  [
    { name: 'devices', clients: 3, publish: [{ topic: 'd/{{n}}' }] },
    { name: 'readers', clients: 2, subscribe: [{ topics: ['d/#', 'd/1'] }] },
    { name: 'sharers', clients: 2, subscribe: [{ topics: ['$share/s/d/#'] }] },
  ],
  [{ name: 'all', run: { devices: ['publish'], readers: ['subscribe'], sharers: ['subscribe'] } }],
);

function busyPages(): LedgerPage[] {
  const simulation = new Simulation(PLAN, [{ agent: 'a', workers: 1 }]);
  simulation.subscribe(1, 0);
  for (let n = 0; n < 12; n++) {
    simulation.tick();
    const message = simulation.publish(0, 0, n % 3);
    if (n % 5 === 0) simulation.unresolved(message);
    if (n === 4) simulation.mark(0);
    if (n % 4 === 1) simulation.receive({ group: 1, client: 0 }, message.bytes);
    if (n % 3 === 1) simulation.receive({ group: 1, client: 1 }, message.bytes.slice(0, 45));
    if (n === 7) simulation.receive({ group: 1, client: 0 }, message.bytes);
    if (n === 8) simulation.disconnect(1, 0);
    simulation.receive({ group: 2, client: n % 2 }, message.bytes);
  }
  return simulation.pages(10).map(({ page }) => page);
}

describe('ledger pages on the bus', () => {
  test('arrive as they were sent', () => {
    const pages = busyPages();
    expect(pages.length).toBeGreaterThan(4);
    expect(new Set(pages.map(({ kind }) => kind)).size).toBe(6);
    const frame = { run: 'r', agent: 'a', epoch: 1, seqFrom: 1, seqTo: 1, slices: [], pages };
    expect(decodeFrame(encodeFrame(frame))).toEqual(frame);
    expect(readLedgerPages(JSON.parse(JSON.stringify(pages)))).toEqual(pages);
  });

  test('a frame with pages is never made one with another', () => {
    const bare = { run: 'r', agent: 'a', epoch: 1, slices: [] };
    const first = { ...bare, seqFrom: 1, seqTo: 1, pages: [] };
    expect(() => coarsenFrames(first, { ...bare, seqFrom: 2, seqTo: 2 })).toThrow(RangeError);
  });

  test.each([
    ['no list', {}],
    ['not an object', [1]],
    ['an unknown kind', [{ ...head, kind: 'rumours', rows: [] }]],
    ['no clock', [{ ...pairs([]), clock: null }]],
    ['a negative worker', [{ ...pairs([]), worker: -1 }]],
    ['a page beyond all pages', [{ ...pairs([]), page: 1e9 }]],
    ['last that is no truth', [{ ...pairs([]), last: 1 }]],
    ['rows that are no list', [{ ...pairs([]), rows: 'x' }]],
    ['a row with half a number', [pairs([0, 0, 0, 0, 1.5, 0])]],
    ['a row with a negative number', [pairs([0, 0, 0, 0, -1, 0])]],
    ['a row that ends early', [pairs([0, 0, 0, 0, 1])]],
    ['a pair without a message', [pairs([0, 0, 0, 0, 0, 0])]],
    ['a pair of another form', [pairs([0, 0, 0, 0, 1, 2])]],
    ['more different messages than numbers', [pairs([0, 0, 0, 0, 1, 1, 2, 0, 0, 1, 0, 0, 0])]],
    ['a gap beyond the last message', [pairs([0, 0, 0, 0, 2, 1, 1, 0, 0, 1, 0, 0, 1, 2, 8])]],
    ['an empty gap', [pairs([0, 0, 0, 0, 2, 1, 1, 0, 0, 1, 0, 0, 1, 0, 1])]],
    ['gaps in the wrong order', [pairs([0, 0, 0, 0, 9, 1, 5, 0, 0, 1, 0, 0, 2, 0, 8, 4, 8])]],
    ['gaps of more than is missing', [pairs([0, 0, 0, 0, 9, 1, 8, 0, 0, 1, 0, 0, 1, 0, 32])]],
    ['a million gaps that are not there', [pairs([0, 0, 0, 0, 9, 1, 8, 0, 0, 1, 0, 0, 1e15])]],
    ['an unresolved range beyond the last message', [publishers([0, 3, 1, 1, 0, 0, 1, 2, 2])]],
    ['ranges that are not there', [publishers([0, 3, 1, 1, 0, 0, 2, 0, 1])]],
    ['too many marks', [publishers([], [1, 2, 3, 4, 5])]],
    ['a mark that its row lacks', [publishers([0, 3, 1, 1, 0, 0, 0], [1])]],
    ['a stage beyond the last', [{ ...publishers([]), stage: 256 }]],
    ['a stream beyond the last', [{ ...publishers([]), stream: 65_536 }]],
    ['half a filter at the edge', [{ ...edge, held: [0, 0, 1] }]],
    ['half a first message', [{ ...edge, firsts: [0] }]],
    ['an edge without filters', [{ ...edge, held: undefined }]],
    ['a share without a name', [{ ...shares([]), share: 1 }]],
    ['bits that are not there', [shares([0, 0, 0, 2, 4])]],
    ['a run of nothing', [shares([0, 0, 0, 1, 2])]],
    ['a run of another form', [shares([0, 0, 0, 1, 7])]],
    ['words that their run lacks', [shares([0, 0, 0, 2, 10, 1])]],
    ['a word of 33 bits', [shares([0, 0, 0, 2, 6, 2 ** 33])]],
    ['more words than a row has', [shares([0, 0, 0, 1, 1e9])]],
    ['a tally of nothing', [{ ...tallies, tallies: [{ ...tally, count: 0 }] }]],
    ['a tally of an unknown kind', [{ ...tallies, tallies: [{ ...tally, kind: 11 }] }]],
    ['a tally of stream -2', [{ ...tallies, tallies: [{ ...tally, stream: -2 }] }]],
    ['an example that is none', [{ ...tallies, examples: [{}] }]],
    ['full that is no truth', [{ ...tallies, full: 'no' }]],
  ])('are refused with %s', (_, value) => {
    expect(() => readLedgerPages(value)).toThrow(
      expect.objectContaining({ name: 'SquallError', code: 'SQ_FRAME' }),
    );
  });

  test('garbage in a well-formed page is refused or joined, and nothing else', () => {
    const pages = JSON.parse(JSON.stringify(busyPages())) as unknown[];
    const places: { holder: Record<string, unknown>; key: string }[] = [];
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        places.push({ holder: value as Record<string, unknown>, key });
        walk(inner);
      }
    };
    walk(pages);
    const garbage = fc.oneof(
      fc.constantFrom<unknown>(null, true, '', 'pairs', -1, 0.5, 1e308, [], {}),
      fc.nat(),
      fc.nat(5),
    );
    fc.assert(
      fc.property(fc.nat(places.length - 1), garbage, (at, value) => {
        const { holder, key } = item(places, at);
        const before = holder[key];
        holder[key] = value;
        const code = codeOf(() => joinAll(readLedgerPages(pages)));
        holder[key] = before;
        expect(['none', 'SQ_FRAME']).toContain(code);
      }),
      { numRuns: 500 },
    );
  });

  test('a page that names what the plan does not have is refused', () => {
    const wrong: unknown[] = [
      publishers([3, 1, 1, 1, 0, 0, 0]),
      { ...publishers([0, 1, 1, 1, 0, 0, 0]), stream: 1 },
      { ...publishers([0, 1, 1, 1, 0, 0, 0]), stage: 1 },
      subscribers(5, 0),
      subscribers(1, 1),
      subscribers(1, 2, [2, 0, 0, 0, 5, 1, 5, 1]),
      shares([3, 0, 0, 1, 5]),
      { ...shares([0, 0, 0, 1, 5]), stream: 1 },
      { ...shares([0, 0, 0, 1, 5]), stage: 1 },
      pairs([7, 0, 0, 0, 1, 0]),
      pairs([3, 1, 0, 0, 1, 0]),
      pairs([3, 0, 1, 0, 1, 0]),
      pairs([3, 0, 0, 3, 1, 0]),
    ];
    for (const page of wrong) {
      expect(() => joinAll(readLedgerPages([page]))).toThrow(
        expect.objectContaining({ code: 'SQ_FRAME' }),
      );
    }
  });
});

function codeOf(work: () => void): string {
  try {
    work();
    return 'none';
  } catch (error) {
    return error instanceof SquallError ? error.code : String(error);
  }
}

function joinAll(pages: readonly LedgerPage[]): void {
  const range = { first: 0, last: 2, clients: 3 };
  const join = new LedgerJoin({
    plan: PLAN,
    split: [{ agent: 'a', workers: [{ groups: [range, { first: 0, last: 1, clients: 2 }] }] }],
    shortRun: 'r1',
    secrets: {},
  });
  for (const page of pages) join.add('a', page);
  const steps = join.join();
  while (steps.next().done !== true);
}
