type Paint = (text: string) => string;

/** Colours and weights of a terminal; each is the plain text where there is none to be. */
export interface Style {
  readonly colours: boolean;
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
}

/** SGR codes: [on, off] [ECMA-48, 8.3.117]. */
const SGR = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
} as const;

interface Destination {
  readonly isTTY?: boolean;
}

/**
 * Colours go to a terminal only, never where NO_COLOR is set to anything (no-color.org), nor to a
 * terminal that says it is dumb.
 */
export function styleFor(
  destination: Destination,
  environment: Readonly<Record<string, string | undefined>>,
): Style {
  const noColor = environment['NO_COLOR'] ?? '';
  const colours = destination.isTTY === true && noColor === '' && environment['TERM'] !== 'dumb';
  const paint = ([on, off]: readonly [number, number]) =>
    colours ? (text: string) => `\u001B[${on}m${text}\u001B[${off}m` : (text: string) => text;
  return {
    colours,
    bold: paint(SGR.bold),
    dim: paint(SGR.dim),
    red: paint(SGR.red),
    green: paint(SGR.green),
    yellow: paint(SGR.yellow),
  };
}
