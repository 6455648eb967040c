import type {
  Activity,
  Group,
  Plan,
  PublishStream,
  Qos,
  SubscribeEntry,
  SubscribeOptions,
} from '@squall/core/plan';

/** Normalised plans of the smallest kind, for what the ledger looks at. */
interface StreamSketch {
  readonly name?: string;
  readonly topic: PublishStream['topic'];
  readonly qos?: Qos;
  readonly verify?: boolean;
  readonly retain?: boolean;
  readonly expiryS?: number;
}

export interface EntrySketch {
  readonly name?: string;
  readonly topics: readonly string[];
  readonly qos?: Qos;
  readonly options?: Partial<SubscribeOptions>;
}

export interface GroupSketch {
  readonly name: string;
  readonly clients: number;
  readonly publish?: readonly StreamSketch[];
  readonly subscribe?: readonly EntrySketch[];
}

export interface StageSketch {
  readonly name: string;
  readonly warmup?: boolean;
  /** Group → what it does. */
  readonly run: Readonly<Record<string, readonly ('publish' | 'subscribe' | 'disconnect')[]>>;
}

export function sketchPlan(groups: readonly GroupSketch[], stages: readonly StageSketch[]): Plan {
  return {
    squall: 1,
    name: 'sketch',
    description: '',
    labels: {},
    files: {},
    vars: {},
    targets: {},
    groups: groups.map(groupOf),
    stages: stages.map(({ name, run, warmup = false }, index) => ({
      name,
      index,
      warmup,
      run: Object.entries(run).map(([group, kinds]) => {
        const at = groups.findIndex((each) => each.name === group);
        const spec = groups[at];
        const activities = kinds.flatMap((kind) => activitiesOf(kind, spec));
        return { group: at, activities };
      }),
      forUs: 1e6,
      until: null,
      deadlineUs: 1e9,
      onIncomplete: 'continue' as const,
    })),
    thresholds: [],
    limits: {} as Plan['limits'],
    settle: { quietUs: 1e6, maxUs: 1e6 },
    drainUs: 1e6,
    backlogUs: 1e6,
    probes: [],
    balance: null,
    cleanup: null,
  };
}

function activitiesOf(kind: string, spec: GroupSketch | undefined): Activity[] {
  if (kind === 'subscribe') {
    return (spec?.subscribe ?? []).map((_, entry) => ({ kind: 'subscribe' as const, entry }));
  }
  if (kind === 'publish') {
    return (spec?.publish ?? []).map((_, stream) => ({
      kind: 'publish' as const,
      stream,
      pace: { kind: 'every', everyUs: 1e6 } as const,
      inflight: 10,
    }));
  }
  return [{ kind: 'disconnect' as const }];
}

function groupOf({ name, clients, publish = [], subscribe = [] }: GroupSketch): Group {
  return {
    name,
    target: 'broker',
    clients,
    clientId: `${name}-{{n}}`,
    username: null,
    password: null,
    from: null,
    sourceAddresses: [],
    respond: [],
    connect: {} as Group['connect'],
    publish: publish.map(
      (stream): PublishStream => ({
        name: stream.name ?? null,
        subject: stream.name === undefined ? name : `${name}.${stream.name}`,
        topic: stream.topic,
        qos: stream.qos ?? 1,
        retain: stream.retain ?? false,
        payload: { kind: 'size', bytes: 48, fill: 'repeat' },
        pace: { kind: 'every', everyUs: 1e6 },
        arrivals: 'even',
        phase: 'even',
        inflight: 10,
        ackTimeoutUs: 1e6,
        count: null,
        verify: stream.verify ?? true,
        expiryS: stream.expiryS ?? null,
        topicAlias: null,
        properties: null,
        request: null,
      }),
    ),
    subscribe: subscribe.map(
      (entry): SubscribeEntry => ({
        name: entry.name ?? null,
        subject: entry.name === undefined ? name : `${name}.${entry.name}`,
        topics: entry.topics,
        qos: entry.qos ?? 1,
        share: null,
        options: {
          noLocal: false,
          retainAsPublished: false,
          retainHandling: 0,
          identifier: null,
          ...entry.options,
        },
      }),
    ),
  };
}
