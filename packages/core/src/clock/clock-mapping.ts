import type { ClockEstimate } from './clock-estimator.ts';

/**
 * The mapping between an agent's clock and the controller's, fixed when a run starts. Later probes
 * only re-interpret measurements: were schedules moved by them, drift would move due times.
 */
export class ClockMapping {
  readonly offsetUs: number;
  readonly boundUs: number;

  constructor(estimate: ClockEstimate) {
    this.offsetUs = estimate.offsetUs;
    this.boundUs = estimate.boundUs;
  }

  toAgentUs(controllerUs: number): number {
    return controllerUs - this.offsetUs;
  }

  toControllerUs(agentUs: number): number {
    return agentUs + this.offsetUs;
  }
}
