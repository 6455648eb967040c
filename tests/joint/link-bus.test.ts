import type { BusSender, EncodedFrame } from '@squall/core/bus';
import { CONTROL_PROTOCOL, type FromController } from '@squall/core/control';
import { gatherFacts } from '../../packages/agent/src/main/facts.ts';
import { LIMITS } from '../../packages/agent/src/main/limits.ts';
import { LinkBusSender } from '../../packages/agent/src/main/link-bus-sender.ts';
import { type Hello, Link, type LinkListener } from '../../packages/agent/src/main/link.ts';
import { SILENT } from '../../packages/agent/src/main/options.ts';
import { LinkBusReceiver } from '../../packages/controller/src/bus/link-bus-receiver.ts';
import { AgentHub } from '../../packages/controller/src/hub/hub.ts';
import type { ReservationListener } from '../../packages/controller/src/hub/session.ts';
import { silentLogger } from '../../packages/controller/src/logger.ts';
import { systemTime } from '../../packages/controller/src/time-source.ts';
import { type BusRig, describeBus } from '../../packages/core/test/bus-conformance.ts';
import { BreakableLine } from '../fixtures/breakable-line.ts';
import { until } from '../fixtures/process.ts';

const RUN = { run: 'run-1', epoch: 1 };
const QUICK = { ...LIMITS, reconnectMinUs: 2_000, reconnectMaxUs: 5_000 };

const nobody: ReservationListener = {
  message: () => {},
  linkDown: () => {},
  linkUp: () => {},
  silent: () => {},
  lost: () => {},
  health: () => {},
  warning: () => {},
};

/** Both real ends, over a real line that can be broken. */
class JointRig implements BusRig, LinkListener {
  readonly agent = 'agent-1';
  readonly run = RUN.run;
  readonly epoch = RUN.epoch;
  readonly sender: BusSender;
  readonly receiver: LinkBusReceiver;
  readonly #hub: AgentHub;
  readonly #line: BreakableLine;
  readonly #link: Link;
  readonly #end: LinkBusSender;
  readonly #facts = gatherFacts({ id: 'agent-1', workers: 1 });
  #deaf = false;
  #copies = 1;
  #answers = 0;
  #joined = false;

  static async make(): Promise<JointRig> {
    const hub = await AgentHub.open({
      host: '127.0.0.1',
      port: 0,
      token: null,
      time: systemTime,
      logger: silentLogger,
    });
    const rig = new JointRig(hub, await BreakableLine.to(hub.port));
    await until('the agent has joined', () => hub.session(rig.agent) !== undefined && rig.#joined);
    hub.session(rig.agent)?.reserve({ ...RUN, graceUs: 60e6, listener: nobody });
    return rig;
  }

  private constructor(hub: AgentHub, line: BreakableLine) {
    this.#hub = hub;
    this.#line = line;
    this.receiver = new LinkBusReceiver(hub);
    this.#link = new Link({
      url: `ws://127.0.0.1:${line.port}`,
      listener: this,
      logger: SILENT,
      limits: QUICK,
    });
    const end = new LinkBusSender(this.#link);
    this.#end = end;
    this.sender = {
      send: async (frames: readonly EncodedFrame[]) => {
        for (let copy = 1; copy < this.#copies; copy++) await end.send(frames);
        return end.send(frames);
      },
      onAcknowledged: (listener) => end.onAcknowledged(listener),
      close: () => end.close(),
    };
    this.#link.start();
  }

  hello(): Hello {
    return {
      type: 'hello',
      protocol: CONTROL_PROTOCOL,
      token: '',
      agent: this.#facts,
      resume: this.#joined ? RUN : null,
    };
  }

  up(): void {
    this.#joined = true;
  }

  message(message: FromController): void {
    if (message.type === 'clock_answer') this.#answers++;
    if (message.type === 'frame_ack' && !this.#deaf) this.#end.acknowledged(message.seq);
  }

  rejected(): void {}

  down(): void {}

  async cut(): Promise<void> {
    this.#line.break();
    await until('both ends have seen the cut', () => {
      return !this.#link.isUp && this.#hub.session(this.agent)?.connected === false;
    });
  }

  async restore(): Promise<void> {
    this.#line.mend();
    await until('the link is up again', () => this.#link.isUp);
  }

  loseAcknowledgements(on: boolean): void {
    this.#deaf = on;
  }

  duplicate(on: boolean): void {
    this.#copies = on ? 2 : 1;
  }

  /** The line keeps its order, so an answer shows that everything before the question has arrived. */
  async quiet(): Promise<void> {
    const before = this.#answers;
    if (!this.#link.send({ type: 'clock_probe', agentSentUs: 0 })) return;
    await until('an answer', () => this.#answers > before || !this.#link.isUp);
  }

  async close(): Promise<void> {
    this.#link.close();
    await this.receiver.close();
    await this.#hub.close();
    await this.#line.close();
  }
}

describeBus('the link bus, from end to end,', () => JointRig.make());
