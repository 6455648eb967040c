export { type GroupTrial, type TrialStep, tryPlan } from './try-plan.ts';
