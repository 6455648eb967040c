import { SquallError } from '../../errors/index.ts';

/** A page names something that the run's plan does not have. */
export function outOfPlan(what: string, number: number): SquallError {
  return new SquallError(
    'SQ_FRAME',
    `a ledger page names ${what} ${number}, which the plan has not`,
    {
      path: 'pages[].rows',
      hint: 'agents and controller must be of the same version',
    },
  );
}
