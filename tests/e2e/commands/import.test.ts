import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brokerTest } from '../../fixtures/broker-test.ts';
import { reportOf, squall } from '../../fixtures/squall.ts';

/** Ten devices, a message each 100 ms, for two seconds; a script that cannot come along. */
function devices(port: number): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testclass="TestPlan" testname="devices"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="devices">
  <intProp name="ThreadGroup.num_threads">10</intProp><intProp name="ThreadGroup.ramp_time">1</intProp>
  <boolProp name="ThreadGroup.scheduler">true</boolProp><longProp name="ThreadGroup.duration">2</longProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
    <stringProp name="LoopController.loops">-1</stringProp></elementProp>
</ThreadGroup><hashTree>
<OnceOnlyController testclass="OnceOnlyController" testname="once"/><hashTree>
  <net.xmeter.samplers.ConnectSampler testclass="net.xmeter.samplers.ConnectSampler" testname="in">
    <stringProp name="mqtt.server">127.0.0.1</stringProp><stringProp name="mqtt.port">${port}</stringProp>
    <stringProp name="mqtt.version">3.1.1</stringProp>
  </net.xmeter.samplers.ConnectSampler><hashTree/></hashTree>
<ConstantTimer testclass="ConstantTimer" testname="pause">
  <stringProp name="ConstantTimer.delay">100</stringProp></ConstantTimer><hashTree/>
<net.xmeter.samplers.PubSampler testclass="net.xmeter.samplers.PubSampler" testname="up">
  <stringProp name="mqtt.topic_name">up/\${__threadNum}</stringProp><stringProp name="mqtt.qos_level">1</stringProp>
  <stringProp name="mqtt.message_type">String</stringProp>
  <stringProp name="mqtt.message_to_sent">hello</stringProp>
</net.xmeter.samplers.PubSampler><hashTree/>
<JSR223PostProcessor testclass="JSR223PostProcessor" testname="code"/><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
`;
}

brokerTest.concurrent(
  'a JMeter plan is imported, checked and run: what it said is what the broker gets',
  async ({ broker, workspace, expect }) => {
    const [old, plan] = ['devices.jmx', 'devices.yaml'].map((name) =>
      path.join(workspace.folder, name),
    );
    if (old === undefined || plan === undefined) throw new Error('no files');
    writeFileSync(old, devices(broker.port));
    const imported = await squall(['import', old, '--out', plan]);
    expect(imported.stderr).toContain('JSR223PostProcessor "code": code is never imported');
    expect(imported.stderr).toContain('1 not carried over · 1 changed');
    expect(imported.code).toBe(112);
    expect(readFileSync(plan, 'utf8')).toMatch(/^# +line \d+: JSR223PostProcessor/m);
    expect((await squall(['import', old, '--out', plan])).code).toBe(2);

    expect((await squall(['check', plan])).code).toBe(0);
    const result = await workspace.run([plan]);
    expect(result.code).toBe(0);
    expect(reportOf(result).groups['devices']?.counters).toMatchObject({
      connected: 10,
      acked: 200,
    });
    expect(await broker.publishesReceived(200)).toBe(200);
  },
);

brokerTest.concurrent(
  'what is no plan is refused by name, however large it is',
  async ({ workspace, expect }) => {
    const file = path.join(workspace.folder, 'large.jmx');
    writeFileSync(file, 'no XML at all');
    const wrong = await squall(['import', file]);
    expect(wrong.stderr).toContain('line 1');
    expect(wrong.code).toBe(104);
    truncateSync(file, 200_000_000);
    const large = await squall(['import', file]);
    expect(large.stderr).toContain('200000000 bytes');
    expect(large.code).toBe(104);
    expect((await squall(['import', path.join(workspace.folder, 'none.jmx')])).code).toBe(104);
  },
);
