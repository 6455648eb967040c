/** Items of one pattern: real ones have some dozens. */
const MAX_ITEMS = 200;

/** One character of a pattern, and how often it may stand. */
interface Item {
  readonly fits: (character: string) => boolean;
  /** At least once. */
  readonly needed: boolean;
  /** Any number of times. */
  readonly repeated: boolean;
}

/** Whether a whole text fits; takes time in proportion to text × pattern, whatever they are. */
export type Pattern = (text: string) => boolean;

/**
 * Reads the patterns of `=~`: plain characters, `.`, `[a-z]` and `[^a-z]`, each with `*`, `+` or `?`
 * behind it if need be, a backslash before what shall be plain, `|` between alternatives. Plans may
 * come from strangers, so there is nothing in it that can take for ever.
 *
 * @throws RangeError with the reason where the pattern is not one.
 */
export function readPattern(source: string): Pattern {
  const alternatives: Item[][] = [[]];
  let count = 0;
  for (let at = 0; at < source.length; ) {
    if (source[at] === '|') {
      alternatives.push([]);
      at++;
      continue;
    }
    if (++count > MAX_ITEMS) throw new RangeError('it is too long');
    const { fits, next } = readCharacter(source, at);
    const suffix = source[next] ?? '';
    const counted = suffix === '*' || suffix === '+' || suffix === '?';
    alternatives.at(-1)?.push({
      fits,
      needed: suffix !== '*' && suffix !== '?',
      repeated: suffix === '*' || suffix === '+',
    });
    at = counted ? next + 1 : next;
  }
  return (text) => alternatives.some((items) => matches(items, text));
}

interface Character {
  readonly fits: (character: string) => boolean;
  readonly next: number;
}

function readCharacter(source: string, at: number): Character {
  const [character = ''] = source.slice(at);
  const next = at + character.length;
  if (character === '.') return { fits: () => true, next };
  if (character === '[') return readClass(source, next);
  if (character === '\\') {
    const [plain] = source.slice(next);
    if (plain === undefined) throw new RangeError('nothing follows its last backslash');
    if (/[A-Za-z0-9]/.test(plain)) throw new RangeError(`\\${plain} is not supported`);
    return { fits: (other) => other === plain, next: next + plain.length };
  }
  if ('(){}^$*+?]'.includes(character)) {
    throw new RangeError(
      `${character} is not supported: write \\${character} for the character itself`,
    );
  }
  return { fits: (other) => other === character, next };
}

/** `[a-z_]`, `[^0-9]`. */
function readClass(source: string, from: number): Character {
  const end = source.indexOf(']', from + 1);
  if (end < 0) throw new RangeError('a "[" has no "]"');
  const inside = source.slice(from, end);
  const negated = inside.startsWith('^');
  const members = Array.from(negated ? inside.slice(1) : inside);
  if (members.includes('\\')) throw new RangeError('a backslash within [ ] is not supported');
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; ) {
    const first = members[at] ?? '';
    const last = members[at + 1] === '-' ? members[at + 2] : undefined;
    ranges.push([first, last ?? first]);
    at += last === undefined ? 1 : 3;
  }
  const within = (character: string) =>
    ranges.some(([first, last]) => character >= first && character <= last);
  return { fits: (character) => within(character) !== negated, next: end + 1 };
}

/** Keeps all places of the pattern that can be reached, character by character: no going back. */
function matches(items: readonly Item[], text: string): boolean {
  let places = withSkips(items, [0]);
  for (const character of text) {
    const reached: number[] = [];
    for (const place of places) {
      const item = items[place];
      if (item === undefined || !item.fits(character)) continue;
      reached.push(place + 1);
      if (item.repeated) reached.push(place);
    }
    if (reached.length === 0) return false;
    places = withSkips(items, reached);
  }
  return places.has(items.length);
}

/** What need not stand can be passed over. */
function withSkips(items: readonly Item[], reached: readonly number[]): ReadonlySet<number> {
  const places = new Set<number>();
  for (const first of reached) {
    for (let place = first; !places.has(place); place++) {
      places.add(place);
      if (items[place]?.needed !== false) break;
    }
  }
  return places;
}
