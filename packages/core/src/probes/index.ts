export { checkProbeThreshold, isProbeLine } from './check-line.ts';
export { type FigureInfo, type FigureUnit, figuresOf, HOST, ONLY_FIGURE } from './figures.ts';
export {
  type FigureRecord,
  ProbeBook,
  type ProbeBookState,
  type ProbeReading,
  type ProbeRecord,
} from './probe-book.ts';
export { PRESETS } from './presets.ts';
export { ProbeJudge, type ProbeJudgeState } from './probe-judge.ts';
export { type FigureReference, figureText, findFigure, isFigure } from './reference.ts';
export { parseSelector, type SeriesSelector } from './selector.ts';
