export {
  connectSchedule,
  dueUs,
  locateDue,
  messagesBefore,
  type Schedule,
  scheduleOf,
  ticksBefore,
} from './due-time.ts';
export { MAX_CLIENTS, rankMultiplier, rankOf } from './permutation.ts';
export { peakPerS, rateProfile } from './pace-profile.ts';
export type { Spacing } from './shaped-times.ts';
export { streamTopics } from './stream-topics.ts';
export {
  connectRampUs,
  connectRate,
  type StageNeeds,
  stageNeeds,
  streamKey,
} from './prologue.ts';
export { churnTurns, type StreamLoad, streamLoad, targetPerS } from './planned-load.ts';
export { spacingOf } from './spacing.ts';
export { TopicRound } from './topic-round.ts';
