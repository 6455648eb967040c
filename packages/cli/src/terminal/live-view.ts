import type { Progress } from '@squall/controller';
import { progressBlock, progressLine } from './progress-text.ts';
import type { Style } from './style.ts';

/** Where there is no terminal, a line at most this often: every other report of a second. */
const LINE_EVERY_MS = 1_900;
const DEFAULT_COLUMNS = 80;
/** Select Graphic Rendition; the group keeps it in the result of `split`. */
const COLOUR_CODE = new RegExp(`(${String.fromCharCode(27)}\\[\\d+m)`);

/** What the view needs of a stream; `process.stdout` fits. */
interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface LiveViewOptions {
  readonly screen: Screen;
  readonly style: Style;
  /** Nothing but warnings. */
  readonly quiet: boolean;
  /** ms since the epoch. */
  readonly now: () => number;
}

/**
 * Shows a run while it goes on: on a terminal a block that is redrawn in place, elsewhere a line
 * every few seconds and at each change of stage, with the time in UTC.
 */
export class LiveView {
  readonly #options: LiveViewOptions;
  readonly #redraws: boolean;
  #drawn = 0;
  #lastLineAt = Number.NEGATIVE_INFINITY;
  #lastStage = '';
  #lastBlock: readonly string[] = [];

  constructor(options: LiveViewOptions) {
    this.#options = options;
    this.#redraws = options.screen.isTTY === true && !options.quiet;
  }

  progress(progress: Progress): void {
    if (this.#options.quiet) return;
    if (this.#redraws) this.#draw(progressBlock(progress, this.#options.style));
    else this.#line(progress);
  }

  /** A line that stays. */
  say(text: string): void {
    if (!this.#options.quiet) this.#above(text);
  }

  /** A line that stays, also when quiet. */
  warn(text: string): void {
    this.#above(`${this.#options.style.yellow('warning')}  ${text}`);
  }

  /** Takes the block away; what is written afterwards is the caller's. */
  end(): void {
    this.#erase();
    this.#lastBlock = [];
  }

  #line(progress: Progress): void {
    const now = this.#options.now();
    const stage = `${progress.stage?.index ?? -1} ${progress.phase}`;
    if (stage === this.#lastStage && now - this.#lastLineAt < LINE_EVERY_MS) return;
    this.#lastStage = stage;
    this.#lastLineAt = now;
    this.#options.screen.write(`${utc(now)}  ${progressLine(progress)}\n`);
  }

  #draw(block: readonly string[]): void {
    this.#erase();
    this.#lastBlock = block;
    const width = this.#options.screen.columns ?? DEFAULT_COLUMNS;
    for (const line of block) this.#options.screen.write(`${fit(line, width)}\n`);
    this.#drawn = block.length;
  }

  #erase(): void {
    // Up to the first line of the block, then clear to the end of the screen [ECMA-48, 8.3.22, 8.3.39].
    if (this.#drawn > 0) this.#options.screen.write(`\u001B[${this.#drawn}F\u001B[0J`);
    this.#drawn = 0;
  }

  #above(text: string): void {
    this.#erase();
    this.#options.screen.write(
      this.#redraws ? `${text}\n` : `${utc(this.#options.now())}  ${text}\n`,
    );
    if (this.#lastBlock.length > 0) this.#draw(this.#lastBlock);
  }
}

/** `2026-11-30T17:30:55Z` */
function utc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Cuts a line to the width, not counting colour codes: a wrapped line would spoil the redrawing. */
function fit(line: string, width: number): string {
  let shown = 0;
  let text = '';
  for (const part of line.split(COLOUR_CODE)) {
    if (part.startsWith('\u001B[')) {
      text += part;
      continue;
    }
    const kept = Array.from(part).slice(0, Math.max(0, width - 1 - shown));
    shown += kept.length;
    text += kept.join('');
  }
  return text;
}
