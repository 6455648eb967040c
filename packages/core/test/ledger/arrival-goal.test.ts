import { describe, expect, test } from 'vitest';
import { type GroupSketch, sketchPlan, type StageSketch } from './ledger-plans.ts';
import { type Message, type ReceiveOptions, Simulation } from './simulation.ts';

const AGENTS = [
  { agent: 'a', workers: 2 },
  { agent: 'b', workers: 1 },
];
const DEVICES: GroupSketch = { name: 'devices', clients: 3, publish: [{ topic: 'd/{{n}}/up' }] };
const STAGES: StageSketch[] = [
  { name: 'subscribe', run: { readers: ['subscribe'] } },
  { name: 'publish', run: { devices: ['publish'] } },
];
const AWAITED = 1;

/** A run whose arrivals are counted as workers count them for the controller. */
class Awaited extends Simulation {
  arrived = 0;

  static of(groups: readonly GroupSketch[], stages = STAGES): Awaited {
    return new Awaited(sketchPlan(groups, stages), AGENTS);
  }

  override receive(
    to: { readonly group: number; readonly client: number },
    bytes: Uint8Array,
    options: ReceiveOptions = {},
  ): number {
    const outcome = super.receive(to, bytes, options);
    if (outcome === AWAITED) this.arrived += 1;
    return outcome;
  }

  send(client = 0, stage = 1, stream = 0): Message {
    this.tick();
    return this.publish(stream, stage, client);
  }

  get awaited(): number | null {
    return this.goal(this.pages());
  }
}

function readersOf(topics: readonly string[], clients = 2): GroupSketch {
  return { name: 'readers', clients, subscribe: [{ topics }] };
}

function begun(readers = readersOf(['d/#']), groups = [DEVICES]): Awaited {
  const run = Awaited.of([...groups, readers]);
  for (let client = 0; client < readers.clients; client++) run.subscribe(groups.length, client);
  return run;
}

function deliver(run: Awaited, message: Message, clients = [0, 1]): void {
  for (const client of clients) run.receive({ group: 1, client }, message.bytes);
}

describe('the end of a run knows what it waits for', () => {
  test('all that was sent, at each subscriber that it matches: reached by the last arrival', () => {
    const run = begun();
    const messages = Array.from({ length: 9 }, (_, n) => run.send(n % 3));
    expect(run.awaited).toBe(18);
    for (const message of messages) deliver(run, message);
    expect(run.arrived).toBe(18);
  });

  test('a duplicate does not stand for a message that is still on its way', () => {
    const run = begun();
    const [first, second] = [run.send(), run.send()];
    deliver(run, first);
    deliver(run, first);
    deliver(run, first, [0]);
    deliver(run, second, [0]);
    expect([run.arrived, run.awaited]).toEqual([3, 4]);
    deliver(run, second, [1]);
    expect(run.arrived).toBe(4);
  });

  test('nor does one that is corrupted, foreign, or came to a client that is not entitled to it', () => {
    const run = begun(readersOf(['d/{{n}}/up']));
    const [mine, others] = [run.send(0), run.send(2)];
    const bytes = mine.bytes.slice();
    bytes[47] = (bytes[47] ?? 0) ^ 1;
    deliver(run, mine, [1]);
    run.receive({ group: 1, client: 0 }, bytes);
    run.receive({ group: 1, client: 0 }, new Uint8Array(48));
    deliver(run, others);
    expect([run.arrived, run.awaited]).toEqual([0, 1]);
    deliver(run, mine, [0]);
    expect(run.arrived).toBe(1);
  });

  test('overlapping filters are one arrival, and what came through several is not counted again', () => {
    const run = begun(readersOf(['d/#', 'd/+/up', 'd/1/up']));
    const message = run.send();
    for (let copy = 0; copy < 3; copy++) deliver(run, message);
    expect([run.arrived, run.awaited]).toEqual([2, 2]);
  });

  test('overlapping entries with identifiers are waited for one by one', () => {
    const readers: GroupSketch = {
      name: 'readers',
      clients: 1,
      subscribe: [
        { name: 'all', topics: ['d/#'], options: { identifier: 1 } },
        { name: 'one', topics: ['d/+/up'], options: { identifier: 2 } },
      ],
    };
    const run = begun(readers);
    const { bytes } = run.send();
    for (const entry of [0, 0, 1]) run.receive({ group: 1, client: 0 }, bytes, { entry });
    expect([run.arrived, run.awaited]).toEqual([2, 2]);
  });

  test('a client that does not hear itself is not waited for', () => {
    const peers: GroupSketch = {
      name: 'readers',
      clients: 3,
      publish: [{ topic: 'room' }],
      subscribe: [{ topics: ['room'], options: { noLocal: true } }],
    };
    const run = Awaited.of(
      [peers],
      [
        { name: 'subscribe', run: { readers: ['subscribe'] } },
        { name: 'publish', run: { readers: ['publish'] } },
      ],
    );
    for (let client = 0; client < 3; client++) run.subscribe(0, client);
    const message = run.send(1);
    for (let client = 0; client < 3; client++) run.receive({ group: 0, client }, message.bytes);
    expect([run.arrived, run.awaited]).toEqual([2, 2]);
  });

  test('a stage before the subscription is not waited for, and does not count', () => {
    const run = Awaited.of(
      [DEVICES, readersOf(['d/#'])],
      [
        { name: 'alone', run: { devices: ['publish'] } },
        { name: 'heard', run: { devices: ['publish'], readers: ['subscribe'] } },
      ],
    );
    const early = run.send(0, 0);
    run.tick();
    run.subscribe(1, 0);
    run.subscribe(1, 1);
    const later = run.send(0, 1);
    run.receive({ group: 1, client: 0 }, early.bytes, { retained: true });
    expect([run.arrived, run.awaited]).toEqual([0, 2]);
    deliver(run, later);
    expect(run.arrived).toBe(2);
  });
});

/** Beside its stream the group has one without stamps. */
function withBare(topic: string): GroupSketch {
  const bare = { name: 'bare', topic, verify: false };
  return { ...DEVICES, publish: [{ name: 'data', topic: 'd/{{n}}/up' }, bare] };
}

describe('where it cannot know, it waits as long as it is told to', () => {
  test('one worker has not said what its publishers sent', () => {
    const run = begun();
    run.send();
    const pages = run.pages();
    const edge = pages.find(({ page }) => page.kind === 'edge');
    expect(run.goal(pages.filter((page) => page !== edge))).toBeNull();
    expect(run.goal(pages)).toBe(2);
  });

  test('a message without acknowledgement is waited for as if it had one', () => {
    const run = begun();
    run.unresolved(run.send());
    expect(run.awaited).toBe(2);
  });

  test.for<[string, (run: Awaited) => void]>([
    ['a subscription was refused', (run) => run.refuse(1, 1, 0)],
    ['a subscription ended', (run) => run.end(1, 0)],
    [
      'a subscription ended and began anew',
      (run) => {
        run.end(1, 0);
        run.subscribe(1, 0);
      },
    ],
  ])('%s', ([, happens]) => {
    const run = begun();
    run.send();
    happens(run);
    expect(run.awaited).toBeNull();
  });

  test('a subscription began after the first message', () => {
    const run = Awaited.of([DEVICES, readersOf(['d/#'])]);
    run.subscribe(1, 0);
    run.send();
    run.tick();
    run.subscribe(1, 1);
    run.send();
    expect(run.awaited).toBeNull();
  });

  test('the moments of two hosts are too close to each other to tell', () => {
    const hosts = [
      { agent: 'a', workers: 1, domain: 1 },
      { agent: 'b', workers: 1, domain: 2 },
    ];
    const run = new Awaited(sketchPlan([DEVICES, readersOf(['d/#'])], STAGES), hosts);
    run.subscribe(1, 0);
    run.subscribe(1, 1);
    run.tick(500_000);
    run.send();
    expect(run.awaited).toBeNull();
  });

  test('messages without stamp come on matching topics; on others they do no harm', () => {
    for (const [topic, awaited] of [
      ['d/{{n}}/down', null],
      ['other/{{n}}', 1],
    ] as const) {
      const run = Awaited.of([withBare(topic), readersOf(['d/#'], 1)]);
      run.subscribe(1, 0);
      run.send();
      expect(run.awaited).toBe(awaited);
    }
  });

  test('subscriptions are shared: a duplicate at another member cannot be told in time', () => {
    const run = begun(readersOf(['$share/s/d/#']));
    run.send();
    expect(run.awaited).toBeNull();
  });
});
