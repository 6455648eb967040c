import { type Html, html } from './markup.ts';
import { stateWord } from './words.ts';

/** Signs beside the words, so that no state is told by colour alone. */
const SIGNS: Readonly<Record<string, readonly [sign: string, tone: Tone]>> = {
  pass: ['✓', 'good'],
  holds: ['✓', 'good'],
  valid: ['✓', 'good'],
  completed: ['✓', 'good'],
  fail: ['✕', 'bad'],
  broken: ['✕', 'bad'],
  invalid: ['✕', 'bad'],
  error: ['✕', 'bad'],
  lost: ['✕', 'bad'],
  refused: ['✕', 'bad'],
  aborted: ['■', 'bad'],
  cancelled: ['■', 'odd'],
  inconclusive: ['?', 'odd'],
  no_data: ['?', 'odd'],
  degraded: ['!', 'odd'],
  warn: ['!', 'odd'],
  note: ['i', 'mild'],
};

export type Tone = 'good' | 'bad' | 'odd' | 'mild';

export function toneOf(state: string): Tone {
  return SIGNS[state]?.[1] ?? 'mild';
}

export function signOf(state: string): string {
  return SIGNS[state]?.[0] ?? '·';
}

/** A state as a person sees it: sign, word, colour. */
export function badge(state: string): Html {
  return html`<span class="badge ${toneOf(state)}"><span aria-hidden="true">${signOf(state)}</span> ${stateWord(state)}</span>`;
}
