/** Text, or what stands in `${…}`. */
export type Piece = { readonly text: string } | { readonly expression: string };

/** A function call in an expression. */
export interface Call {
  readonly name: string;
  readonly args: readonly string[];
}

/** Texts with and without `${…}` by turns; braces inside an expression may nest. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  while (from < text.length) {
    const start = text.indexOf('${', from);
    const end = start < 0 ? -1 : closingBrace(text, start + 2);
    if (end < 0) break;
    if (start > from) pieces.push({ text: text.slice(from, start) });
    pieces.push({ expression: text.slice(start + 2, end) });
    from = end + 1;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

function closingBrace(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return at;
  }
  return -1;
}

/** `__name(a,b)`; null for a variable. A backslash takes the meaning from comma, dollar and itself. */
export function callOf(expression: string): Call | null {
  const match = /^\s*(__\w+)\s*(?:\(([\s\S]*)\))?\s*$/.exec(expression);
  const name = match?.[1];
  if (name === undefined || name.startsWith('__jm__')) return null;
  return { name, args: argumentsOf(match?.[2] ?? '') };
}

function argumentsOf(text: string): string[] {
  const found: string[] = [];
  let current = '';
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '\\' && /[,$\\]/.test(text[at + 1] ?? '')) {
      current += text[++at] ?? '';
      continue;
    }
    if (char === '(' || char === '{') depth++;
    if (char === ')' || char === '}') depth--;
    if (char === ',' && depth === 0) {
      found.push(current);
      current = '';
    } else current += char;
  }
  found.push(current);
  return found;
}
