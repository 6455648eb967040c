export {
  connectSchedule,
  dueUs,
  messagesBefore,
  type Schedule,
  scheduleOf,
  ticksBefore,
} from './due-time.ts';
export { MAX_CLIENTS, rankMultiplier, rankOf } from './permutation.ts';
export { type StageNeeds, stageNeeds, streamKey } from './prologue.ts';
