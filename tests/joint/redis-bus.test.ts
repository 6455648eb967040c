import { afterAll, beforeAll, describe } from 'vitest';
import { describeBus } from '../../packages/core/test/bus-conformance.ts';
import { BreakableLine } from '../fixtures/breakable-line.ts';
import { RedisServer, redisMissing } from '../fixtures/redis.ts';
import { type Disturbance, RedisRig } from '../fixtures/redis-rig.ts';

/** The suite of every bus, on a real server, with each way in which a server can be away. */
interface Scene {
  readonly url: string;
  readonly disturbance: Disturbance;
  dispose(): Promise<void>;
}

describeRedis('whose connections are broken', async () => {
  const server = await RedisServer.start();
  const line = await BreakableLine.to(server.port);
  return {
    url: `redis://127.0.0.1:${line.port}`,
    disturbance: { cut: async () => line.break(), restore: async () => line.mend() },
    dispose: async () => {
      await line.close();
      await server.dispose();
    },
  };
});

describeRedis('that is killed and restarted with its data', async () => {
  const server = await RedisServer.start({ durable: true });
  return {
    url: server.url,
    disturbance: { cut: () => server.kill(), restore: () => server.restart() },
    dispose: () => server.dispose(),
  };
});

describeRedis('that is killed and restarted empty', async () => {
  const server = await RedisServer.start();
  return {
    url: server.url,
    disturbance: { losesData: true, cut: () => server.kill(), restore: () => server.restart() },
    dispose: () => server.dispose(),
  };
});

describeRedis('that is frozen', async () => {
  const server = await RedisServer.start();
  return {
    url: server.url,
    disturbance: { cut: async () => server.freeze(), restore: async () => server.thaw() },
    dispose: () => server.dispose(),
  };
});

describeRedis('that takes no writes for a while', async () => {
  const server = await RedisServer.start();
  return {
    url: server.url,
    disturbance: {
      cut: async () => void (await server.command('CLIENT', 'PAUSE', 600_000, 'WRITE')),
      restore: async () => void (await server.command('CLIENT', 'UNPAUSE')),
    },
    dispose: () => server.dispose(),
  };
});

function describeRedis(what: string, open: () => Promise<Scene>): void {
  describe(`a Redis ${what}`, () => {
    let scene: Scene | undefined;
    beforeAll(async () => {
      if (redisMissing() === null) scene = await open();
    });
    afterAll(() => scene?.dispose());
    describeBus(
      'the Redis bus',
      () => {
        if (scene === undefined) throw new Error('there is no Redis');
        return RedisRig.make(scene);
      },
      redisMissing,
    );
  });
}
