import type { WorkerLedger } from '@squall/core/ledger/worker';
import type { Group, MqttTarget, Plan } from '@squall/core/plan';
import type { MqttClients, MqttClientsOptions } from '@squall/mqtt';
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
  readonly target: MqttTarget;
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
  readonly createClients: (options: MqttClientsOptions) => MqttClients;
  readonly timeline: TimelineView;
  /** Something happened that the next tick should not wait for. */
  wake(): void;
}

/** What the parts of a group may know about where the run is. */
interface TimelineView {
  /** The current stage, 0 before the start. */
  currentStage(): number;
  /** A moment in µs on the run's timeline. */
  sinceStart(us: number): number;
}
