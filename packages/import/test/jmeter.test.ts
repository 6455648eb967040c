import { describe, expect, it } from 'vitest';
import {
  connect,
  disconnect,
  element,
  jmx,
  loop,
  properties,
  publish,
  runtimeVars,
  threadGroup,
  timer,
} from './fixture/jmx.ts';
import { imported } from './fixture/read-back.ts';

const TIMED = { loops: '-1', 'ThreadGroup.scheduler': true, 'ThreadGroup.duration': '60' };
const THREADS = { 'ThreadGroup.num_threads': '100', 'ThreadGroup.ramp_time': '10' };
const SECOND = 1_000_000;

/** A thread group of 100 for 60 s. */
function timed(...below: string[]): string {
  return jmx(threadGroup({ ...THREADS, ...TIMED }, below.join('')));
}

function own(name: string): string {
  return publish({ 'mqtt.server': '127.0.0.1', 'mqtt.client_id_prefix': name });
}

describe('a JMeter plan', () => {
  it('of devices that publish every two seconds: connect, then publish for the duration', () => {
    const once = element('OnceOnlyController', 'Once', {}, connect());
    const { plan, text, lostCount } = imported(timed(once, timer('2000'), publish()));
    expect(lostCount).toBe(0);
    expect(plan.groups).toMatchObject([{ name: 'devices', clients: 100 }]);
    expect(plan.stages.map(({ name }) => name)).toEqual(['connect', 'load']);
    expect(text).toContain('# PubSampler "Telemetry", line');
    expect(text).toContain('every: 2s');
    expect(text).toContain('for: 60s');
    expect(text).toContain('over: 10s');
  });

  it('without a timer is the closed loop that it was', () => {
    const { text } = imported(jmx(threadGroup({ loops: '5', ...THREADS }, connect() + publish())));
    expect(text).toContain('rate: max');
    expect(text).toContain('inflight: 1');
    expect(text).toContain('count: 500');
  });

  it('multiplies loops, and counts what is over all clients', () => {
    const { text } = imported(
      jmx(threadGroup({ ...THREADS, loops: '2' }, connect() + loop(3, timer('100') + publish()))),
    );
    expect(text).toContain('count: 600');
    expect(text).toContain('every: 100ms');
  });

  it('adds up the timers of a turn, and gives several samplers streams of their own', () => {
    const second = publish({ 'mqtt.topic_name': 'other' });
    const { plan, text } = imported(
      timed(connect(), loop(-1, `${timer('500')}${publish()}${second}`)),
    );
    expect(text.match(/every: 1s/g)).toHaveLength(2);
    expect(plan.groups).toHaveLength(1);
  });

  it('takes the duration for nothing while the scheduler is off', () => {
    const group = threadGroup(
      { loops: '3', 'ThreadGroup.duration': '60' },
      connect() + timer('10') + publish(),
    );
    const { text, changed } = imported(jmx(group));
    expect(text).not.toContain('for: 60s');
    expect(changed.map(({ why }) => why).join()).toContain('scheduler is off');
  });

  it('turns run-time variables of XMeter into vars that --var sets', () => {
    const vars = runtimeVars({ server: '192.0.2.1', threads: '50', every: '500', seconds: '30' });
    const group = threadGroup(
      { ...TIMED, 'ThreadGroup.num_threads': '${threads}', 'ThreadGroup.duration': '${seconds}' },
      element('OnceOnlyController', 'Once', {}, connect({ 'mqtt.server': '${server}' })) +
        timer('${every}') +
        publish(),
    );
    const usual = imported(jmx(vars + group));
    expect(usual.plan.groups[0]?.clients).toBe(50);
    const { plan } = imported(jmx(vars + group), { threads: '7', every: '250', seconds: '5' });
    expect(plan.groups[0]?.clients).toBe(7);
    expect(plan.stages[0]?.name).toBe('connect');
    expect(JSON.stringify(plan)).toContain(String(SECOND / 4));
    expect(JSON.stringify(plan)).toContain(String(5 * SECOND));
  });

  it('keeps no password, only the name of its place', () => {
    const vars = runtimeVars({ api_token: 'hunter3' }, 'User Defined Variables');
    const group = threadGroup(
      TIMED,
      connect({ 'mqtt.user_name': 'u', 'mqtt.password': 'hunter2' }) +
        timer('9') +
        publish({ 'mqtt.message_to_sent': 'token=${api_token}' }),
    );
    const { text, changed } = imported(jmx(vars + group));
    expect(`${text}${JSON.stringify(changed)}`).not.toMatch(/hunter/);
    expect(text).toContain('{{env.MQTT_PASSWORD}}');
    expect(text).toContain('token={{env.API_TOKEN}}');
  });

  it('makes churn of Connect and DisConnect in one loop', () => {
    const { text } = imported(timed(connect(), timer('1000'), disconnect));
    expect(text).toContain('rate: 50/s');
    expect(text).toContain('stay: 1s');
  });

  it('gives the Pub of 2017, which connects by itself, a group of its own', () => {
    const { plan } = imported(timed(timer('100'), own('a'), own('b')));
    expect(plan.groups).toHaveLength(2);
  });

  it('lets samplers of 2017 share a connection where they say so', () => {
    const sharing = publish({ 'mqtt.server': '127.0.0.1', 'mqtt.conn_share': true });
    expect(imported(timed(timer('100'), sharing, sharing)).plan.groups).toHaveLength(1);
  });

  it('makes background connections of the efficient pair', () => {
    const efficient = element('net.xmeter.samplers.EfficientConnectSampler', 'Many', {
      'mqtt.server': '127.0.0.1',
      'mqtt.conn_capacity': '20',
      'mqtt.sub_when_connected': true,
      'mqtt.topic_name': 'a/b,c/d',
      'mqtt.client_id_suffix': false,
    });
    const { plan, text } = imported(timed(efficient, timer('1000')));
    expect(plan.groups[0]?.clients).toBe(2_000);
    expect(text).toContain('-xmeter-suffix-{{n}}');
    expect(plan.stages.map(({ name }) => name)).toEqual(['connect', 'subscribe', 'load']);
  });

  it('subscribes, and stays as long as the samples took', () => {
    const sub = element('net.xmeter.samplers.SubSampler', 'Listen', {
      'mqtt.topic_name': 'a/#,$share/g/b',
      'mqtt.qos_level': '1',
      'mqtt.sample_condition_value': '2000',
    });
    const { text } = imported(jmx(threadGroup({ loops: '1' }, connect() + loop(5, sub))));
    expect(text).toContain('for: 10s');
    expect(text).toContain('- $share/g/b');
  });

  it('reads identities from a CSV data set', () => {
    const csv = element('CSVDataSet', 'Ids', {
      filename: '/home/me/devices.csv',
      variableNames: 'id,topic',
    });
    const { text, changed } = imported(
      timed(
        csv,
        connect({ 'mqtt.client_id_prefix': '${id}', 'mqtt.client_id_suffix': false }),
        timer('1'),
        publish({ 'mqtt.topic_name': '${topic}' }),
      ),
    );
    expect(text).toContain('from: devices.csv');
    expect(text).toContain('clientId: "{{csv.id}}"');
    expect(changed.map(({ why }) => why).join()).toContain('id,topic');
  });

  it('names by line what it cannot carry over, and leaves disabled elements out', () => {
    const script = element('JSR223Sampler', 'count', { script: 'vars.put("k", "1")' });
    const off = publish().replace('enabled="true"', 'enabled="false"');
    const { lost, text } = imported(
      timed(connect(), script, off, element('HTTPSamplerProxy', 'ask')),
    );
    expect(lost.map(({ what, why }) => `${what}: ${why}`)).toEqual([
      'JSR223Sampler "count": code is never imported; it sets k',
      'PubSampler "Telemetry": left out: disabled',
      'HTTPSamplerProxy "ask": has no counterpart here',
    ]);
    for (const { line } of lost) expect(text).toContain(`line ${line}: `);
  });

  it('names settings of forks that it does not know', () => {
    const fork = publish({ 'mqtt.topic_alias': '3', 'mqtt.response_topic': '' });
    const { lost } = imported(timed(connect(), timer('10'), fork));
    expect(lost.map(({ why }) => why)).toEqual(['the setting mqtt.topic_alias']);
  });

  it('shares a throughput timer out over the samplers in its scope', () => {
    const paced = element('ConstantThroughputTimer', 'pace', { throughput: '60', calcMode: '0' });
    const { text } = imported(
      timed(element('OnceOnlyController', 'o', {}, connect()), paced, publish(), publish()),
    );
    expect(text.match(/every: 2s/g)).toHaveLength(2);
  });

  it('runs groups of different lengths side by side, and set-up groups before them', () => {
    const groups = [
      threadGroup({ loops: '1' }, connect(), 'SetupThreadGroup'),
      threadGroup({ ...TIMED, 'ThreadGroup.delay': '20' }, connect() + timer('10') + publish()),
      threadGroup({ ...TIMED, 'ThreadGroup.duration': '30' }, connect() + timer('10') + publish()),
    ];
    const { plan } = imported(jmx(groups.join('')));
    const names = plan.stages.map(({ name }) => name);
    expect(names).toEqual(['setup-connect', 'setup-load', 'connect', 'load', 'load-2', 'load-3']);
    expect(plan.stages.slice(3).map(({ forUs }) => forUs)).toEqual(
      [20, 10, 50].map((s) => s * SECOND),
    );
  });

  it('gives each group ids of its own', () => {
    const group = threadGroup(TIMED, connect() + timer('10') + publish());
    const { text } = imported(jmx(group + group));
    expect(new Set(text.match(/clientId: .*/g)).size).toBe(2);
  });

  it('writes numbers of QoS and payload sizes as they were', () => {
    const random = {
      'mqtt.message_type': 'Random string with fixed length',
      'mqtt.message_type_fixed_length': '256',
    };
    const { text } = imported(
      timed(
        connect(),
        timer('10'),
        publish({ ...random, 'mqtt.add_timestamp': true, 'mqtt.qos_level': '2' }),
      ),
    );
    expect(text).toContain('payload: 280B');
    expect(text).toContain('qos: 2');
  });

  it('reads numbers that are typed, and doubles that keep their name inside', () => {
    const group = threadGroup(TIMED, connect() + timer('10') + publish()).replace(
      properties({ 'ThreadGroup.duration': '60' }),
      '<longProp name="ThreadGroup.duration">45</longProp>',
    );
    expect(imported(jmx(group)).text).toContain('for: 45s');
  });
});

function listen(topic: string): string {
  return element('net.xmeter.samplers.SubSampler', 'Listen', {
    'mqtt.topic_name': topic,
    'mqtt.sample_condition': 'number of received messages',
    'mqtt.sample_condition_value': '1',
  });
}

function talking(mine: string, other: string): string {
  return threadGroup(
    { 'ThreadGroup.num_threads': '2', 'ThreadGroup.ramp_time': '1', 'ThreadGroup.duration': '' },
    connect({ 'mqtt.client_id_prefix': mine }) +
      publish(
        { 'mqtt.topic_name': `${mine}\${__threadNum}`, 'mqtt.add_timestamp': true },
        timer('3000'),
      ) +
      listen(`${other}\${__threadNum}`) +
      disconnect +
      timer('300'),
  );
}

describe('two groups that talk to each other, once, as the first plans of the plugin do', () => {
  it('stay two groups, with both words each, a message a client', () => {
    const { plan, text, lostCount } = imported(
      jmx(talking('Dev_', 'Mob_') + talking('Mob_', 'Dev_')),
    );
    expect(lostCount).toBe(0);
    expect(
      plan.groups.map(({ publish: out, subscribe }) => [out.length, subscribe.length]),
    ).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect(text.match(/count: 2$/gm)).toHaveLength(2);
    expect(text).toContain('template: "{{now}}ts_sep_flaghello"');
    expect(plan.stages.map(({ name }) => name)).toEqual(['connect', 'subscribe', 'load']);
  });

  it('leave out the WorkBench of old files', () => {
    const bench = `</hashTree><WorkBench testclass="WorkBench" testname="WorkBench"/><hashTree>${publish()}</hashTree></hashTree></jmeterTestPlan>`;
    const text = jmx(talking('Dev_', 'Mob_')).replace(
      /<\/hashTree>\s*<\/hashTree>\s*<\/jmeterTestPlan>\s*$/,
      bench,
    );
    expect(text).toContain('WorkBench');
    expect(imported(text).lostCount).toBe(0);
  });
});
