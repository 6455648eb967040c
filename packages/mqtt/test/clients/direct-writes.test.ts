import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { directHandle } from '../../src/transport/direct-write.ts';
import { FakeBroker } from '../fixture/fake-broker.ts';
import { publishToSlowReader } from './slow-reader.ts';

describe('direct writes', () => {
  test('to a broker that does not read: unsent bytes are visible, intact, and their end is told', async () => {
    const result = await publishToSlowReader();
    expect(result.stuckBytes).toBeGreaterThan(64 * 1024);
    expect(result.stuckAfterwards).toBe(0);
    expect(result.received.equals(result.sent)).toBe(true);
    expect(result.drained).toBe(1);
  });

  test('are known on this Node after the first connection', async () => {
    await publishToSlowReader();
    const broker = await FakeBroker.start(() => undefined);
    const socket = connect(broker.port, '127.0.0.1');
    await new Promise((resolve) => {
      socket.once('connect', resolve);
    });
    expect(directHandle(socket)).not.toBeNull();
    socket.destroy();
    await broker.stop();
  });
});
