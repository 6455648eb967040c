import type { BrokerState } from './broker-state.ts';

const CLUSTER = 'c';

/** The route of a topic over all brokers; null: it is not there (yet). */
export function routeBody(state: BrokerState, topic: string): Buffer | null {
  const { store, unrouted, autoCreate } = state;
  if (unrouted.has(topic)) return null;
  if (!store.has(topic)) {
    if (!autoCreate) return null;
    store.create(topic, state.queues);
  }
  const queues = store.queuesOf(topic);
  const route = {
    brokerDatas: state.brokers().map(({ name, address }) => brokerData(name, address)),
    queueDatas: state.brokers().map(({ name }) => ({
      brokerName: name,
      perm: state.permissions,
      readQueueNums: queues,
      writeQueueNums: queues,
    })),
    filterServerTable: {},
  };
  return Buffer.from(JSON.stringify(route));
}

/** The numbers of brokers have no quotes here, in every version. */
export function clusterBody(state: BrokerState): Buffer {
  const rows = state
    .brokers()
    .map(
      ({ name, address }) =>
        `"${name}":{"brokerAddrs":{0:"${address}"},"brokerName":"${name}","cluster":"${CLUSTER}"}`,
    );
  const names = JSON.stringify(state.brokers().map(({ name }) => name));
  return Buffer.from(
    `{"brokerAddrTable":{${rows.join(',')}},"clusterAddrTable":{"${CLUSTER}":${names}}}`,
  );
}

function brokerData(brokerName: string, address: string): object {
  return { brokerName, cluster: CLUSTER, brokerAddrs: { 0: address } };
}
