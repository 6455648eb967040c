import { RocketmqError } from '../codec/rocketmq-error.ts';

/** No broker of a route can be reached: most often the route names addresses that are not theirs. */
export function unreachable(topic: string, failures: ReadonlyMap<string, string>): RocketmqError {
  const each = [...failures].map(([address, reason]) => `${address} (${reason})`).join(', ');
  return new RocketmqError('CONNECT', `no broker of topic ${topic} can be reached: ${each}`, {
    hint: "the name server's route gives these addresses: if they are not the brokers' own as seen from here, set brokerIP1 in broker.conf",
  });
}
