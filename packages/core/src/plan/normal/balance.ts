import {
  isMetricName,
  METRICS,
  type MetricInfo,
  metricInfo,
  type MetricName,
} from '../../metrics/index.ts';
import { findFigure, isFigure } from '../../probes/reference.ts';
import { nearest } from '../../text/nearest.ts';
import type { BalanceEquation, BalanceSide, BalanceSpec } from '../balance-spec.ts';
import type { Plan } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { BalanceFile, PlanFile } from '../schema/plan-file.ts';
import type { NormalContext } from './context.ts';

type Known = Pick<Plan, 'groups' | 'probes'>;

/** The equations of `balance`, their sides found among groups, streams and probes. */
export function normaliseBalance(
  file: Pick<PlanFile, 'balance' | 'settle' | 'probes'>,
  plan: Known,
  context: NormalContext,
): BalanceSpec | null {
  const { balance } = file;
  if (balance === undefined) return null;
  if (balance.equal === undefined && balance.atLeast === undefined) {
    context.findings.error(['balance'], 'a balance needs equal or atLeast', {
      hint: 'such as equal: [devices.acked, rows]',
      atKey: true,
    });
  }
  const equations = (['equal', 'atLeast'] as const).flatMap((kind) =>
    equationOf(kind, balance, { file, plan, context }),
  );
  return {
    equations,
    maxUs: balance.settle?.max ?? file.settle.max,
    duplicates: balance.duplicates === 'allow',
  };
}

interface Scene {
  readonly file: Pick<PlanFile, 'probes'>;
  readonly plan: Known;
  readonly context: NormalContext;
}

function equationOf(
  kind: BalanceEquation['kind'],
  balance: BalanceFile,
  scene: Scene,
): BalanceEquation[] {
  const texts = balance[kind];
  if (texts === undefined) return [];
  const sides = texts.flatMap((text, index) => sideOf(text, ['balance', kind, index], scene) ?? []);
  return sides.length === texts.length ? [{ kind, sides }] : [];
}

function sideOf(text: string, path: PlanPath, scene: Scene): BalanceSide | null {
  const { plan, context, file } = scene;
  const found = findFigure(text, plan.probes);
  if (found !== null) {
    if (isFigure(found)) {
      return { kind: 'probe', text, probe: found.probe, figure: found.figure };
    }
    context.findings.error(path, found.message, { hint: found.hint });
    return null;
  }
  const head = text.split('.')[0] ?? '';
  // A probe that is wrong itself, or a group: that is told where it stands.
  if (Object.hasOwn(file.probes, head)) return null;
  const side = counterOf(text, plan);
  if (side !== null) return side;
  if (context.unsound?.has(head) === true) return null;
  context.findings.error(path, `"${text}" is no counter of a group, stream or probe`, {
    hint: hintFor(text, plan),
  });
  return null;
}

/** `devices.acked`, or `devices.telemetry.acked` for one stream. */
function counterOf(text: string, { groups }: Known): BalanceSide | null {
  const at = text.lastIndexOf('.');
  const metric = text.slice(at + 1);
  if (at < 0 || !isMetricName(metric) || !isCountable(metric)) return null;
  const owner = text.slice(0, at);
  for (const group of groups) {
    if (owner === group.name) return { kind: 'counter', text, subject: group.name, metric };
    const stream = [...group.publish, ...group.subscribe].find(
      ({ name }) => name !== null && owner === `${group.name}.${name}`,
    );
    if (stream !== undefined) return { kind: 'counter', text, subject: stream.subject, metric };
  }
  return null;
}

/** What the delivery ledger tells is known only after the sides were compared. */
function isCountable(metric: MetricName): boolean {
  const info = metricInfo(metric);
  return info.kind === 'counter' && info.late !== true;
}

function hintFor(text: string, { groups, probes }: Known): string {
  const counters = Object.entries<MetricInfo>(METRICS).flatMap(([name, { kind, late }]) =>
    kind === 'counter' && late !== true ? [name] : [],
  );
  const known = [
    ...groups.flatMap((group) => counters.map((name) => `${group.name}.${name}`)),
    ...probes.map((probe) => probe.name),
  ];
  const near = nearest(text, known);
  if (near !== null) return `did you mean ${near}?`;
  return `write GROUP.COUNTER, such as ${groups[0]?.name ?? 'devices'}.acked, or PROBE.FIGURE`;
}
