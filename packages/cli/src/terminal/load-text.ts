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
    case 'publish': {
      const { messages, peakPerS } = streamLoad(stage, group, activity);
      const { subject } = group.publish[activity.stream] ?? { subject: group.name };
      const { kind } = activity.pace;
      const shape = kind === 'every' || kind === 'rate' || kind === 'max' ? '' : `, ${kind}`;
      const rate = peakPerS === null ? 'as fast as it goes' : formatRate(peakPerS);
      const isPeak = shape !== '' && peakPerS !== null;
      const count = messages === null ? '–' : formatCount(messages);
      return [['', subject, `publishes${shape}`, count, isPeak ? `up to ${rate}` : rate]];
    }
    case 'churn': {
      const turns = churnTurns(stage, group, activity.ratePerS);
      const many = turns === null ? 'clients' : `${formatCount(turns)} times clients`;
      const stay = formatDuration(activity.stayUs);
      const what = `${many} connect, stay ${stay} and go`;
      return [['', group.name, what, '', formatRate(activity.ratePerS)]];
    }
    case 'takeover': {
      const what = `${formatShare(activity.share)} of the clients connect once more`;
      return [['', group.name, what, '', formatRate(activity.ratePerS)]];
    }
    case 'disconnect':
      return [dropRow(activity, group)];
    case 'subscribe':
    case 'unsubscribe':
      return [
        ['', group.subscribe[activity.entry]?.subject ?? group.name, `${activity.kind}s`, '', ''],
      ];
    case 'respond':
      return [['', group.respond[activity.entry]?.subject ?? group.name, 'answers', '', '']];
    case 'connect':
    case 'idle':
      return [];
  }
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
