import type { Plan } from '@squall/core/plan';
import { describe, expect, it } from 'vitest';
import { withOwnSources } from '../../src/host/source-addresses.ts';
import { smallPlan } from '../main/plans.ts';

function planFrom(...sources: readonly (readonly string[])[]): Plan {
  const plan = smallPlan();
  const [group] = plan.groups;
  if (group === undefined) throw new Error('no group');
  return {
    ...plan,
    groups: sources.map((sourceAddresses, index) => ({
      ...group,
      name: `g${index}`,
      sourceAddresses,
    })),
  };
}

const sourcesOf = ({ groups }: Plan) => groups.map(({ sourceAddresses }) => sourceAddresses);

describe('source addresses', () => {
  it('are those that this host has, in the order of the plan', async () => {
    const { plan, problems } = await withOwnSources(
      planFrom(['127.0.0.9', '203.0.113.7', '127.0.0.2', '2001:db8::1'], []),
    );
    expect(problems).toEqual([]);
    expect(sourcesOf(plan)).toEqual([['127.0.0.9', '127.0.0.2'], []]);
  });

  it('that this host has none of are refused, with the command that adds one', async () => {
    const far = Array.from({ length: 7 }, (_, k) => `203.0.113.${k + 1}`);
    const { problems } = await withOwnSources(planFrom(far, ['127.0.0.2']));
    expect(problems).toEqual([
      'none of the sourceAddresses of group g0 is an address of this host (203.0.113.1, 203.0.113.2, ' +
        '203.0.113.3, 203.0.113.4, 203.0.113.5 and 2 more): give it one with `ip addr add 203.0.113.1 dev ' +
        '<interface>`, or name addresses that its agents have',
    ]);
  });

  it('change nothing where a plan names none', async () => {
    const plan = planFrom([]);
    expect(await withOwnSources(plan)).toEqual({ plan, problems: [] });
  });
});
