import { compileTemplate } from '../../template/index.ts';
import type { Activity, DropSpec } from '../plan.ts';
import type { ActivityFile } from '../schema/stages.ts';
import type { ActivityPlace } from './activities.ts';

const WORDS = ['connect', 'wake', 'disconnect', 'sleep', 'takeover', 'churn'] as const;
type Word = (typeof WORDS)[number];

export function isConnectionWord(word: string): word is Word {
  return (WORDS as readonly string[]).includes(word);
}

type FileOf<Key extends Word> = NonNullable<ActivityFile[Key]>;

/** What a stage does with the connections of a group; `file` holds the word, or is empty. */
export function normaliseConnection(
  word: Word,
  file: Partial<Pick<ActivityFile, Word>>,
  place: ActivityPlace,
): Activity[] {
  switch (word) {
    case 'wake':
      checkKept(word, place);
      return [connect(file.wake ?? {}, place)];
    case 'connect':
      return [connect(file.connect ?? {}, place)];
    case 'disconnect':
      return [disconnect(file.disconnect ?? { by: 'disconnect' }, place)];
    case 'sleep':
      checkKept(word, place);
      return [sleep(file.sleep ?? {}, place)];
    case 'takeover':
      return [takeover(file.takeover ?? {}, place)];
    case 'churn':
      return file.churn === undefined ? withoutRate(place) : [churn(file.churn, place)];
  }
}

function connect(file: FileOf<'connect'>, { group, path, context }: ActivityPlace): Activity {
  const { rate, over } = file;
  if (rate !== undefined && over !== undefined) {
    context.findings.error([...path, 'over'], 'rate and over cannot both be given', {
      atKey: true,
    });
  }
  if (over !== undefined) return { kind: 'connect', ratePerS: (group.clients / over) * 1_000_000 };
  if (rate === undefined) return { kind: 'connect' };
  return { kind: 'connect', ratePerS: context.scaler.rate([...path, 'rate'], rate) };
}

function disconnect(file: FileOf<'disconnect'>, place: ActivityPlace): Activity {
  const { share, rate, by, reconnect } = file;
  const isPlain =
    share === undefined && rate === undefined && reconnect === undefined && by !== 'reset';
  if (isPlain) return { kind: 'disconnect' };
  const back = backOf(reconnect, place);
  return {
    kind: 'disconnect',
    drop: {
      share: shareOf(share, place),
      ratePerS: dropRate(rate, back === null, place),
      abrupt: by === 'reset',
      keep: back !== null && keepsSession(place),
      back,
    },
  };
}

function backOf(
  reconnect: FileOf<'disconnect'>['reconnect'],
  { path, context }: ActivityPlace,
): DropSpec['back'] {
  if (reconnect === undefined) return null;
  const at = [...path, 'reconnect'];
  return typeof reconnect === 'number'
    ? { ratePerS: context.scaler.rate(at, reconnect), afterUs: 0 }
    : {
        ratePerS: context.scaler.rate([...at, 'rate'], reconnect.rate),
        afterUs: reconnect.after,
      };
}

function dropRate(
  rate: number | 'max' | undefined,
  isPaced: boolean,
  { group, path, context }: ActivityPlace,
): number | null {
  if (rate === 'max') return null;
  if (rate !== undefined) return context.scaler.rate([...path, 'rate'], rate);
  return isPaced ? group.connect.ratePerS : null;
}

function sleep({ share, rate }: FileOf<'sleep'>, place: ActivityPlace): Activity {
  return {
    kind: 'disconnect',
    drop: {
      share: shareOf(share, place),
      ratePerS: dropRate(rate, true, place),
      abrupt: false,
      keep: true,
      back: null,
    },
  };
}

function takeover({ share, rate }: FileOf<'takeover'>, place: ActivityPlace): Activity {
  const { group, path, context } = place;
  if (group.clientId === '' || compileTemplate(group.clientId).perMessage) {
    context.findings.error(
      path,
      `${group.name} has no client ids that stay the same, to connect by again`,
      {
        hint: 'write clientId: "{{run}}-{{n}}" or leave it out',
      },
    );
  }
  return {
    kind: 'takeover',
    share: shareOf(share, place),
    ratePerS:
      rate === undefined ? group.connect.ratePerS : context.scaler.rate([...path, 'rate'], rate),
  };
}

function churn({ rate, stay }: FileOf<'churn'>, { group, path, context }: ActivityPlace): Activity {
  const ratePerS = context.scaler.rate([...path, 'rate'], rate);
  const needed = Math.ceil((ratePerS * stay) / 1_000_000);
  if (needed > group.clients) {
    context.findings.error(
      path,
      `${group.name} has ${group.clients} clients, and this churn keeps ${needed} connected at a time`,
      {
        hint: 'a client can only come again when it has left: lower rate or stay, or take more clients',
      },
    );
  }
  return { kind: 'churn', ratePerS, stayUs: stay };
}

function withoutRate({ path, context }: ActivityPlace): Activity[] {
  context.findings.error(path, 'churn needs a rate and a time to stay', {
    hint: 'write churn: { rate: 100/s, stay: 5s }',
  });
  return [];
}

function shareOf(share: number | undefined, { path, context }: ActivityPlace): number {
  if (share === 0) context.findings.error([...path, 'share'], 'a share of 0% is nobody');
  return share ?? 1;
}

function keepsSession({ group }: ActivityPlace): boolean {
  return !group.connect.cleanStart && group.connect.sessionExpiryS !== 0;
}

/** Sleeping clients leave their session on the broker. */
function checkKept(word: 'sleep' | 'wake', place: ActivityPlace): void {
  const { group, path, context } = place;
  if (keepsSession(place)) return;
  const isClean = group.connect.cleanStart;
  const why = isClean ? 'cleanStart: true' : 'sessionExpiry: 0s';
  const kept = isClean ? 'cleanStart: false' : 'sessionExpiry: 1h';
  context.findings.error(
    path,
    `${word} needs sessions that are kept, and ${group.name} has ${why}`,
    {
      hint: `write connect: { ${kept} }, or disconnect and connect in place of sleep and wake`,
    },
  );
}
