import type { WorkerLedger } from '@squall/core/ledger/worker';
import type { Group, MqttTarget, Plan, RocketmqTarget, Target } from '@squall/core/plan';
import type { MqttClients, MqttClientsOptions } from '@squall/mqtt';
import type { RocketmqClient } from '@squall/rocketmq';
import type { ClientOrder } from '../clients/client-order.ts';
import type { PeerClocks } from '../clients/peer-clocks.ts';
import type { Moment } from '../clock.ts';
import type { Recorder } from '../measure/recorder.ts';
import type { PlanFiles } from '../plan-files.ts';
import type { RenderContext } from '../publish/render-context.ts';

/** What one group's parts in a worker are made with. */
export interface GroupServices {
  readonly plan: Plan;
  readonly group: Group;
  /** Index of the group in the plan. */
  readonly groupIndex: number;
  readonly target: Target;
  readonly order: ClientOrder;
  readonly context: RenderContext;
  readonly files: PlanFiles;
  readonly recorder: Recorder;
  readonly ledger: WorkerLedger;
  readonly moment: Moment;
  readonly runHash: number;
  readonly clockDomain: number;
  /** Clocks of other hosts. */
  readonly peers: PeerClocks;
  /** Stamp index of the group's first publish stream, among all streams of the plan. */
  readonly firstSubject: number;
  readonly timeline: TimelineView;
  /** Something happened that the next tick should not wait for. */
  wake(): void;
}

/** The same, of a group that talks to MQTT brokers. */
export interface MqttServices extends GroupServices {
  readonly target: MqttTarget;
  readonly createClients: (options: MqttClientsOptions) => MqttClients;
}

/** The same, of a group that talks to RocketMQ. */
export interface RocketmqServices extends GroupServices {
  readonly target: RocketmqTarget;
  /** Shared by all groups of a worker that have the target. */
  readonly client: RocketmqClient;
  /** Whether it books what the sockets of the client's senders carry: one group of the target does. */
  readonly booksWire: boolean;
}

/** What the parts of a group may know about where the run is. */
interface TimelineView {
  /** The current stage, 0 before the start. */
  currentStage(): number;
  /** A moment in µs on the run's timeline. */
  sinceStart(us: number): number;
}
