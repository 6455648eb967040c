import type { BusSender, EncodedFrame } from '@squall/core/bus';
import { type BusRig, describeBus } from '../../core/test/bus-conformance.ts';
import { LinkBusReceiver } from '../src/bus/link-bus-receiver.ts';
import { AgentHub } from '../src/hub/hub.ts';
import type { ReservationListener } from '../src/hub/session.ts';
import { silentLogger } from '../src/logger.ts';
import { systemTime } from '../src/time-source.ts';
import { FakeAgent } from './fake-agent.ts';

const RUN = 'run-1';
const EPOCH = 1;

const deaf: ReservationListener = {
  message: () => {},
  linkDown: () => {},
  linkUp: () => {},
  silent: () => {},
  lost: () => {},
  health: () => {},
  warning: () => {},
};

/** The receiver behind a real hub; at the other end of the line the least that keeps the promises. */
class LinkRig implements BusRig, BusSender {
  readonly agent: string;
  readonly run = RUN;
  readonly epoch = EPOCH;
  readonly sender = this;
  readonly receiver: LinkBusReceiver;
  readonly #hub: AgentHub;
  readonly #fake: FakeAgent;
  readonly #listeners: ((seq: number) => void)[] = [];
  #losing = false;
  #copies = 1;
  #closed = false;
  #probes = 0;

  constructor(hub: AgentHub, fake: FakeAgent) {
    this.#hub = hub;
    this.#fake = fake;
    this.agent = fake.id;
    this.receiver = new LinkBusReceiver(hub);
    fake.onMessage = (message) => {
      if (message.type !== 'frame_ack' || this.#losing) return;
      for (const listener of this.#listeners) listener(message.seq);
    };
  }

  send(frames: readonly EncodedFrame[]): Promise<number> {
    if (this.#closed || !this.#fake.open) return Promise.reject(new Error('no link'));
    for (const frame of frames) {
      for (let copy = 0; copy < this.#copies; copy++) this.#fake.sayBytes(frame.bytes);
    }
    return Promise.resolve(frames.at(-1)?.seqTo ?? 0);
  }

  onAcknowledged(listener: (seq: number) => void): void {
    this.#listeners.push(listener);
  }

  async cut(): Promise<void> {
    this.#fake.kill();
    await this.#fake.closed();
  }

  async restore(): Promise<void> {
    await this.#fake.join({ run: RUN, epoch: EPOCH });
  }

  loseAcknowledgements(on: boolean): void {
    this.#losing = on;
  }

  duplicate(on: boolean): void {
    this.#copies = on ? 2 : 1;
  }

  /** The line keeps its order, so an answer shows that everything before the question has arrived. */
  async quiet(): Promise<void> {
    if (!this.#fake.open) return;
    const agentSentUs = ++this.#probes;
    this.#fake.say({ type: 'clock_probe', agentSentUs });
    await this.#fake.next('clock_answer', (answer) => answer.agentSentUs === agentSentUs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#fake.kill();
    await this.receiver.close();
    await this.#hub.close();
  }
}

async function makeRig(): Promise<LinkRig> {
  const hub = await AgentHub.open({
    host: '127.0.0.1',
    port: 0,
    token: null,
    time: systemTime,
    logger: silentLogger,
  });
  const fake = await new FakeAgent({ url: `ws://127.0.0.1:${hub.port}`, id: 'agent-1' }).join();
  hub.session('agent-1')?.reserve({ run: RUN, epoch: EPOCH, graceUs: 60e6, listener: deaf });
  return new LinkRig(hub, fake);
}

describeBus('the link bus, seen from the controller,', makeRig);
