export {
  type CleanOptions,
  cleanPlan,
  type CleanProgress,
  type GroupCleaned,
} from './clean-plan.ts';
