import { onTestFinished, expect, test } from 'vitest';
import { PageServer } from '../page-server.ts';
import { open, valuesOf } from '../reading.ts';

type Preset = 'emqx' | 'rocketmq-exporter';

async function readPreset(preset: Preset, lines: readonly string[]) {
  const server = await PageServer.start(`${lines.join('\n')}\n`);
  onTestFinished(() => server.stop());
  const source = { type: 'prometheus', headers: {}, series: {}, counters: [] } as const;
  return valuesOf(open({ ...source, url: server.url(), preset }));
}

test('EMQX 4.3: connections as its page has them, CPU as a share', async () => {
  const values = await readPreset('emqx', [
    '# TYPE emqx_connections_count gauge',
    'emqx_connections_count 2',
    'emqx_sessions_count 3',
    'emqx_topics_count 12',
    '# TYPE emqx_messages_received counter',
    'emqx_messages_received 20005',
    'emqx_messages_sent 0',
    'emqx_messages_dropped 20005',
    'emqx_delivery_dropped 0',
    'emqx_vm_cpu_use 57.5',
    'emqx_vm_cpu_idle 42.5',
    'emqx_vm_run_queue 1',
    'emqx_vm_used_memory 1.2e9',
  ]);
  expect(values).toEqual({
    connections: 2,
    sessions: 3,
    topics: 12,
    messages_in: 20_005,
    messages_out: 0,
    messages_dropped: 0,
    cpu_used: expect.closeTo(0.575, 9) as number,
    cpu_idle: 0.425,
    run_queue: 1,
    memory_used: 1.2e9,
  });
});

test('EMQX 5: open connections, and rules and actions of the other page', async () => {
  const stats = ['emqx_connections_count 9', 'emqx_live_connections_count 7'];
  expect(await readPreset('emqx', stats)).toEqual({ connections: 7 });
  const values = await readPreset('emqx', [
    'emqx_rule_matched{id="db"} 20000',
    'emqx_rule_matched{id="hook"} 5',
    'emqx_rule_actions_success{id="db"} 19000',
    'emqx_action_success{id="mysql:db"} 19000',
    'emqx_action_inflight{id="mysql:db"} 90',
    'emqx_action_dropped{id="mysql:db"} 4',
  ]);
  expect(values).toEqual({
    'rule.hits': 20_005,
    'rule.success': 19_000,
    'sink.success': 19_000,
    'sink.inflight': 90,
    'sink.dropped': 4,
  });
});

test('rocketmq-exporter: a comma behind the last label, brokers and topics summed', async () => {
  const values = await readPreset('rocketmq-exporter', [
    '# TYPE rocketmq_broker_tps gauge',
    'rocketmq_broker_tps{cluster="C",broker="broker-a",} 7.0',
    'rocketmq_broker_tps{cluster="C",broker="broker-b",} 5.5',
    '# TYPE rocketmq_producer_offset counter',
    'rocketmq_producer_offset{cluster="C",broker="broker-a",topic="t",} 3843787.0',
    'rocketmq_producer_offset{cluster="C",broker="broker-b",topic="t",} 1878633.0',
    'rocketmq_producer_message_size{cluster="C",broker="broker-a",topic="t",} 1642.0',
    'rocketmq_message_accumulation{cluster="C",broker="broker-a",topic="t",group="g",} 12.0',
  ]);
  expect(values).toEqual({
    put_rate: 12.5,
    stored: 5_722_420,
    produce_bytes: 1_642,
    lag: 12,
  });
});
