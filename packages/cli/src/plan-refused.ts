/** A plan with faults. The message is ready to print: every one of them, with place and hint. */
export class PlanRefused extends Error {
  override readonly name = 'PlanRefused';
}
