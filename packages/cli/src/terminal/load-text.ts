import type { Activity, Group, Plan, Stage } from '@squall/core/plan';
import { churnTurns, connectRate, stageNeeds, streamLoad } from '@squall/core/schedule';
import { formatCount, formatDuration, formatRate, formatShare } from '@squall/core/units';
import { textTable } from './text-table.ts';

type Row = readonly [string, string, string, string, string];

/** What a plan comes to: a line a stage and activity, with its messages and its highest rate. */
export function loadText(plan: Plan): string[] {
  const needs = stageNeeds(plan);
  const rows = plan.stages.flatMap((stage) => {
    const connects = needs[stage.index]?.connects ?? new Set<number>();
    const prologue = needs[stage.index]?.prologue === true;
    const lines = stage.run.flatMap((work): Row[] => {
      const group = plan.groups[work.group];
      if (group === undefined) return [];
      const first = connects.has(work.group)
        ? [connectRow(stage, group, { index: work.group, prologue })]
        : [];
      return [...first, ...work.activities.flatMap((each) => activityRow(each, stage, group))];
    });
    // The name of a stage, and its length, stand once.
    return lines.map(([, ...rest], k): Row => [k === 0 ? stageText(stage) : '', ...rest]);
  });
  return textTable([['stage', 'who', 'does', 'messages', 'rate'], ...rows]);
}

function stageText({ name, forUs }: Stage): string {
  return forUs === null ? name : `${name} (${formatDuration(forUs)})`;
}

function connectRow(
  stage: Stage,
  group: Group,
  { index, prologue }: { readonly index: number; readonly prologue: boolean },
): Row {
  const perS = connectRate(stage, index, group);
  const takes = formatDuration(Math.round((group.clients / perS) * 1_000_000));
  const first = prologue ? ' first' : '';
  const what = `${formatCount(group.clients)} clients connect${first}, in ${takes}`;
  return ['', group.name, what, '', formatRate(perS)];
}

function activityRow(activity: Activity, stage: Stage, group: Group): Row[] {
  switch (activity.kind) {
    case 'publish':
      return [publishRow(activity, stage, group)];
    case 'churn': {
      const turns = churnTurns(stage, group, activity.ratePerS);
      const many = turns === null ? 'clients' : `${formatCount(turns)} times clients`;
      const what = `${many} connect, stay ${formatDuration(activity.stayUs)} and go`;
      return [['', group.name, what, '', formatRate(activity.ratePerS)]];
    }
    case 'takeover': {
      const what = `${formatShare(activity.share)} of the clients connect once more`;
      return [['', group.name, what, '', formatRate(activity.ratePerS)]];
    }
    case 'disconnect':
      return [dropRow(activity, group)];
    case 'subscribe':
    case 'consume':
    case 'unsubscribe':
      return [plainRow(group.subscribe[activity.entry], `${activity.kind}s`)];
    case 'respond':
      return [plainRow(group.respond[activity.entry], 'answers')];
    case 'connect':
    case 'idle':
      return [];
  }
}

function plainRow(entry: { readonly subject: string } | undefined, what: string): Row {
  return ['', entry?.subject ?? '', what, '', ''];
}

type Publish = Extract<Activity, { kind: 'publish' }>;

function publishRow(activity: Publish, stage: Stage, group: Group): Row {
  const { messages, peakPerS } = streamLoad(stage, group, activity);
  const { kind } = activity.pace;
  const isShaped = kind === 'ramp' || kind === 'steps' || kind === 'spike';
  const what = isShaped ? `publishes, ${kind}` : 'publishes';
  const count = messages === null ? '–' : formatCount(messages);
  const [, who] = plainRow(group.publish[activity.stream], what);
  if (peakPerS === null) return ['', who, what, count, 'as fast as it goes'];
  const rate = formatRate(peakPerS);
  return ['', who, what, count, isShaped ? `up to ${rate}` : rate];
}

function dropRow({ drop }: Extract<Activity, { kind: 'disconnect' }>, group: Group): Row {
  if (drop === undefined) {
    return ['', group.name, 'all clients go', '', formatRate(group.connect.ratePerS)];
  }
  const { share, ratePerS, back, keep } = drop;
  const returns =
    back === null
      ? keep
        ? ', to wake again'
        : ''
      : `, and come back at ${formatRate(back.ratePerS)}`;
  const what = `${formatShare(share)} of the clients go${returns}`;
  return ['', group.name, what, '', ratePerS === null ? 'at once' : formatRate(ratePerS)];
}
