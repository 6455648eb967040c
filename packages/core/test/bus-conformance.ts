import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BusReceiver, type BusSender, type EncodedFrame, Outbox } from '@squall/core/bus';
import { decodeFrame, encodeFrame, type Frame, RunAggregate } from '@squall/core/metrics';

/**
 * The promises of `BusSender` and `BusReceiver`, as tests that every bus must pass:
 *
 *   describeBus('the link bus', () => makeRig());
 *
 * A rig is one agent's sender and the controller's receiver, joined by a way that can be disturbed.
 */
export interface BusRig {
  /** Under which agent the receiver knows the sender. */
  readonly agent: string;
  /** The run and the epoch that the sender's frames belong to. */
  readonly run: string;
  readonly epoch: number;
  readonly sender: BusSender;
  readonly receiver: BusReceiver;
  /** Set where a cut takes away what the bus had taken and the receiver may not have read. */
  readonly losesData?: boolean;
  /** Cuts the way: what is under way may be lost, and sending fails until `restore`. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** While on, the receiver's acknowledgements do not come back. */
  loseAcknowledgements(on: boolean): void;
  /** While on, frames arrive twice. */
  duplicate(on: boolean): void;
  /** Resolves when nothing is under way any more. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

/** Attempts in which everything must have arrived once nothing is disturbed any more. */
const MAX_ATTEMPTS = 20;

/** @param missing why the bus cannot be had here, or null. */
export function describeBus(
  name: string,
  makeRig: () => Promise<BusRig>,
  missing: () => string | null = () => null,
): void {
  describe(`${name} keeps the promises of a bus`, () => {
    let rig: BusRig;
    let controller: Controller;

    beforeEach(async ({ skip }) => {
      const reason = missing();
      if (reason !== null) skip(reason);
      rig = await makeRig();
      controller = new Controller(rig);
    });
    // What a skipped test never made need not be closed.
    afterEach(() => rig?.close());

    it('brings frames in order, unchanged, under the name of their agent', async () => {
      const batch = [1, 2, 3].map((seq) => encoded(rig, seq));
      expect(await rig.sender.send(batch)).toBe(3);
      await rig.quiet();
      expect(controller.arrived.map(({ bytes }) => bytes)).toEqual(batch.map(({ bytes }) => bytes));
      expect(new Set(controller.arrived.map(({ agent }) => agent))).toEqual(new Set([rig.agent]));
    });

    it('brings what is sent in several batches in order, too', async () => {
      for (let seq = 1; seq <= 5; seq++) {
        expect(await rig.sender.send([encoded(rig, seq)])).toBe(seq);
      }
      await rig.quiet();
      expect(controller.sequences()).toEqual([1, 2, 3, 4, 5]);
    });

    it('does not make the sender wait for the receiver', async () => {
      let inside = false;
      rig.receiver.onFrame(() => {
        inside = true;
      });
      const sent = rig.sender.send([encoded(rig, 1)]);
      expect(inside).toBe(false);
      await sent;
      await rig.quiet();
      expect(inside).toBe(true);
    });

    it('tells the sender of checkpoints, and of nothing before', async () => {
      const acknowledged: number[] = [];
      rig.sender.onAcknowledged((seq) => acknowledged.push(seq));
      await rig.sender.send([encoded(rig, 1), encoded(rig, 2)]);
      await rig.quiet();
      expect(acknowledged).toEqual([]);
      await rig.receiver.acknowledge(rig.agent, rig.epoch, 2);
      await rig.quiet();
      expect(acknowledged).toEqual([2]);
    });

    it('rejects while the way is cut, and takes the same frames once it is back', async () => {
      await rig.sender.send([encoded(rig, 1)]);
      await rig.quiet();
      await rig.cut();
      await expect(rig.sender.send([encoded(rig, 2)])).rejects.toThrow(/./);
      await rig.restore();
      const taken = await rig.sender.send([encoded(rig, 2)]);
      expect(taken).toBe(rig.losesData === true ? 0 : 2);
      // One that loses data says what it has lost, and takes nothing before that is there again.
      const again = rig.losesData === true ? [encoded(rig, 1), encoded(rig, 2)] : [];
      expect(again.length === 0 ? taken : await rig.sender.send(again)).toBe(2);
      await rig.quiet();
      expect(controller.sequences()).toEqual([1, 2]);
    });

    it('rejects after close', async () => {
      await rig.sender.close();
      await expect(rig.sender.send([encoded(rig, 1)])).rejects.toThrow(/./);
    });

    it('loses nothing and counts nothing twice, with an outbox before and an aggregate behind it', async () => {
      const agent = new Agent(rig);
      controller.checkpoints = true;
      for (let k = 0; k < 3; k++) agent.produce();
      await agent.pump();
      rig.loseAcknowledgements(true);
      for (let k = 0; k < 3; k++) agent.produce();
      await agent.pump();
      await rig.quiet();
      expect(agent.outbox.acknowledgedSeq).toBe(3);
      expect(agent.outbox.size).toBe(3);
      await rig.cut();
      agent.produce();
      await agent.pump();
      await rig.restore();
      rig.loseAcknowledgements(false);
      rig.duplicate(true);
      await agent.deliverAll();
      expect(controller.aggregate.counter({ metric: 'sent' })).toBe(agent.counted);
      expect(controller.aggregate.missing(rig.agent, agent.outbox.lastSeq)).toEqual([]);
    });

    it('comes to exact figures through any row of disturbances', async () => {
      const step = fc.constantFrom<Step>('produce', 'pump', 'cut', 'restore', 'deaf', 'double');
      await fc.assert(
        fc
          .asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
            const agent = new Agent(rig);
            controller.checkpoints = true;
            for (const one of steps) await disturb(one, { rig, agent });
            await disturb('restore', { rig, agent });
            rig.loseAcknowledgements(false);
            await agent.deliverAll();
            rig.duplicate(false);
            const { aggregate } = controller;
            expect(aggregate.counter({ metric: 'sent' })).toBe(agent.counted);
            expect(aggregate.missing(rig.agent, agent.outbox.lastSeq)).toEqual([]);
            expect(aggregate.conflicts).toBe(0);
            expect(rising(controller.firstArrivals())).toBe(true);
          })
          .afterEach(async () => {
            await rig.close();
            rig = await makeRig();
            controller = new Controller(rig);
          }),
        { numRuns: 12 },
      );
    });
  });
}

type Step = 'produce' | 'pump' | 'cut' | 'restore' | 'deaf' | 'double';

async function disturb(step: Step, { rig, agent }: { rig: BusRig; agent: Agent }): Promise<void> {
  switch (step) {
    case 'produce':
      return agent.produce();
    case 'pump':
      return agent.pump();
    case 'cut':
      agent.cut = true;
      return rig.cut();
    case 'restore':
      if (!agent.cut) return;
      agent.cut = false;
      await rig.restore();
      // As the agent does on a new link: what was written into the old one may never have arrived.
      return agent.outbox.rewind();
    case 'deaf':
      return rig.loseAcknowledgements(true);
    case 'double':
      return rig.duplicate(true);
  }
}

/** The controller as it treats a bus: decode, fold once, acknowledge what is complete. */
class Controller {
  readonly arrived: { readonly agent: string; readonly bytes: Uint8Array }[] = [];
  readonly aggregate: RunAggregate;
  checkpoints = false;

  constructor(rig: BusRig) {
    this.aggregate = new RunAggregate(rig.run);
    rig.receiver.onFrame((frame) => {
      // A receiver may reuse its buffer: what is kept is copied.
      this.arrived.push({ agent: frame.agent, bytes: new Uint8Array(frame.bytes) });
      this.aggregate.fold(decodeFrame(frame.bytes));
      if (!this.checkpoints) return;
      const seq = this.aggregate.contiguousSeq(rig.agent, rig.epoch);
      rig.receiver.acknowledge(rig.agent, rig.epoch, seq).catch(() => undefined);
    });
  }

  sequences(): number[] {
    return this.arrived.map(({ bytes }) => decodeFrame(bytes).seqFrom);
  }

  /** Sequences in the order in which they came for the first time. */
  firstArrivals(): number[] {
    return [...new Set(this.sequences())];
  }
}

/** The agent as it drives a bus: one batch at a time, stop at the first error. */
class Agent {
  readonly outbox = new Outbox();
  readonly #rig: BusRig;
  cut = false;
  counted = 0;

  constructor(rig: BusRig) {
    this.#rig = rig;
    rig.sender.onAcknowledged((seq) => this.outbox.acknowledge(seq));
  }

  produce(): void {
    const frame = frameOf(this.#rig, this.outbox.lastSeq + 1);
    this.counted += frame.seqFrom;
    this.outbox.append(frame);
  }

  async pump(): Promise<void> {
    for (let batch = this.outbox.takeBatch(); batch !== null; batch = this.outbox.takeBatch()) {
      try {
        this.outbox.taken(batch, await this.#rig.sender.send(batch));
      } catch {
        this.outbox.failed(batch);
        return;
      }
    }
    await this.#rig.quiet();
  }

  async deliverAll(): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS && !this.outbox.isEmpty; attempt++) {
      this.outbox.rewind();
      await this.pump();
      await this.#rig.quiet();
    }
    if (!this.outbox.isEmpty) throw new Error(`${this.outbox.size} frames never got through`);
  }
}

function frameOf(rig: BusRig, seq: number): Frame {
  const [fromUs, toUs] = [(seq - 1) * 1e6, seq * 1e6];
  const series = [{ metric: 'sent', subject: 'devices', stage: 0, qos: 1, value: seq }] as const;
  const slice = { stage: 0, phase: 'main', n: seq - 1, span: 1, fromUs, toUs } as const;
  const { run, agent, epoch } = rig;
  const slices = [{ ...slice, series, examples: [] }];
  return { run, agent, epoch, seqFrom: seq, seqTo: seq, slices };
}

function encoded(rig: BusRig, seq: number): EncodedFrame {
  return { seqFrom: seq, seqTo: seq, bytes: encodeFrame(frameOf(rig, seq)) };
}

function rising(list: readonly number[]): boolean {
  return list.every((seq, at) => at === 0 || seq > (list[at - 1] ?? 0));
}
