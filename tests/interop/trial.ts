import { connectAsync, type IPublishPacket } from 'mqtt';
import type { TestBroker } from '../fixtures/brokers/broker.ts';
import { until } from '../fixtures/process.ts';
import { reportOf, Workspace } from '../fixtures/squall.ts';
import {
  type Feature,
  type Outcome,
  type Peer,
  type Phases,
  prefixOf,
  type Version,
} from './feature.ts';

const PHASES: readonly (keyof Phases)[] = ['prepare', 'load', 'change', 'reload', 'wake'];
/** How long a phase without an end of its own lasts: a broker in Java may be slow at first. */
const PHASE = process.env['SQUALL_MATRIX'] === '1' ? '2s' : '1s';
const LOAD_STARTS = 'interop/load';
const PROTOCOL_LEVEL = { '3.1': 3, '3.1.1': 4, '5': 5 } as const;

/** A run that is over. */
export interface Trial {
  outcomeOf(feature: Feature): Outcome;
  /** Ends the clients of the library. */
  end(): Promise<void>;
}

/**
 * Tries features on a broker, all in one run, with a client of the `mqtt` library for each on the
 * other end. Gives what each check needs to judge.
 */
export async function tryFeatures(
  broker: TestBroker,
  version: Version,
  features: readonly Feature[],
): Promise<Trial> {
  const peers = new Map<Feature, Peer>();
  for (const feature of features) peers.set(feature, await connectPeer(broker, version, feature));
  const workspace = new Workspace();
  const end = async (): Promise<void> => {
    for (const { client } of peers.values()) await client.endAsync(true);
    workspace.dispose();
  };
  try {
    for (const [feature, peer] of peers) await feature.before?.(peer);
    const { begun } = await watchForLoad(broker, version);
    const file = workspace.plan(planOf(broker, version, features));
    const run = workspace.run([file, '--agents', '2']);
    const sending = begun.then(() => sendAll(peers));
    const report = reportOf(await run);
    await sending;
    return {
      outcomeOf: (feature) => ({ report, peer: peerOf(peers, feature) }),
      end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

async function sendAll(peers: ReadonlyMap<Feature, Peer>): Promise<void> {
  const sending: Promise<void>[] = [];
  for (const [feature, peer] of peers) {
    if (feature.duringLoad !== undefined) sending.push(feature.duringLoad(peer));
  }
  await Promise.all(sending);
}

function peerOf(peers: ReadonlyMap<Feature, Peer>, feature: Feature): Peer {
  const peer = peers.get(feature);
  if (peer === undefined) throw new Error(`${feature.id} was not tried`);
  return peer;
}

async function connectPeer(broker: TestBroker, version: Version, feature: Feature): Promise<Peer> {
  const client = await connectLibrary(broker, version, `peer-${feature.id}`);
  const packets: IPublishPacket[] = [];
  client.on('message', (_topic, _payload, packet) => packets.push(packet));
  // What the feature itself retains before the run is not a message of the run.
  const options = { qos: 2 } as const;
  await client.subscribeAsync(`${prefixOf(feature.id)}/#`, options).catch(() => undefined);
  return { client, packets };
}

function connectLibrary(broker: TestBroker, version: Version, clientId: string) {
  return connectAsync(`mqtt://127.0.0.1:${broker.port}`, {
    clientId,
    protocolVersion: PROTOCOL_LEVEL[version],
    ...(version === '3.1' ? { protocolId: 'MQIsdp' as const } : {}),
    connectTimeout: 5_000,
    reconnectPeriod: 0,
  });
}

/** `begun` is fulfilled when the first message of the load comes. */
async function watchForLoad(
  broker: TestBroker,
  version: Version,
): Promise<{ readonly begun: Promise<void> }> {
  const client = await connectLibrary(broker, version, 'peer-watch');
  let seen = false;
  client.on('message', () => {
    seen = true;
  });
  await client.subscribeAsync(LOAD_STARTS, { qos: 0 });
  return { begun: until('the load begins', () => seen, 60_000).finally(() => client.end(true)) };
}

/** One plan with the groups of all features and a stage for each phase. */
function planOf(
  broker: TestBroker,
  version: Version,
  features: readonly Feature[],
): Readonly<Record<string, unknown>> {
  const groups: Record<string, object> = {
    herald: {
      target: 'broker',
      clients: 1,
      publish: { topic: LOAD_STARTS, payload: { text: 'now' }, rate: '5/s', count: 5 },
    },
  };
  for (const feature of features) Object.assign(groups, feature.groups(version));
  for (const [index, name] of Object.keys(groups).entries()) {
    // MQTT 3.1 allows 23 characters.
    groups[name] = { clientId: `g${index}-{{n}}`, ...groups[name] };
  }
  const stages = PHASES.map((phase) => {
    const run: Record<string, unknown> = phase === 'load' ? { herald: 'publish' } : {};
    for (const feature of features) Object.assign(run, feature.phases[phase]);
    return phase === 'prepare' ? { name: phase, run } : { name: phase, run, for: PHASE };
  });
  const { webSocketPort } = broker;
  const webSocket = { protocol: 'mqtt', version, urls: [`ws://127.0.0.1:${webSocketPort}/mqtt`] };
  return {
    squall: 1,
    name: `interop-${version}`,
    targets: {
      broker: { protocol: 'mqtt', version, urls: [`mqtt://127.0.0.1:${broker.port}`] },
      ...(webSocketPort === null ? {} : { 'web-socket': webSocket }),
    },
    groups,
    stages,
    drain: '2s',
    settle: { quiet: '1s', max: '5s' },
  };
}
