import { describe, expect, it } from 'vitest';
import { imported } from './fixture/read-back.ts';

function scenario(stages: string, group = '<mqttVersion>5</mqttVersion>'): string {
  return `<?xml version="1.0"?>
<scenario>
  <brokers><broker id="b1"><address>192.0.2.1</address><port>1883</port></broker></brokers>
  <clientGroups>
    <clientGroup id="devices"><clientIdPattern>device-[0-9]{4}</clientIdPattern><count>100</count>${group}</clientGroup>
    <clientGroup id="readers"><clientIdPattern>reader-[0-9]{2}</clientIdPattern><count>2</count></clientGroup>
  </clientGroups>
  <topicGroups><topicGroup id="t"><topicNamePattern>up/[0-9]{4}</topicNamePattern><count>100</count></topicGroup></topicGroups>
  <subscriptions><subscription id="s"><topicFilter>$share/g/up/#</topicFilter></subscription>
    <subscription id="w"><topicGroup>t</topicGroup><wildCard>true</wildCard></subscription></subscriptions>
  <stages>${stages}</stages>
</scenario>`;
}

const CONNECT = `<stage id="s1"><lifeCycle id="l1" clientGroup="devices"><rampUp duration="10s"/><connect keepAlive="30s"/></lifeCycle>
  <lifeCycle id="l2" clientGroup="readers"><connect/><subscribe to="s w"/></lifeCycle></stage>`;
const PUBLISH = `<stage id="s2"><lifeCycle id="l3" clientGroup="devices"><publish topicGroup="t" message="hi" rate="1/2s" count="5" qos="1"/><disconnect/></lifeCycle></stage>`;

describe('a scenario of HiveMQ Swarm', () => {
  it('keeps its stages, groups, patterns and paces', () => {
    const { text, plan, lostCount } = imported(scenario(CONNECT + PUBLISH));
    expect(lostCount).toBe(0);
    expect(plan.groups.map(({ name, clients }) => [name, clients])).toEqual([
      ['devices', 100],
      ['readers', 2],
    ]);
    expect(plan.stages.map(({ name }) => name)).toEqual(['s1', 's1-2', 's2', 's2-2']);
    expect(text).toContain('clientId: device-{{n - 1:04}}');
    expect(text).toContain('topic: up/{{n - 1:04}}');
    expect(text).toContain('every: 2000000us');
    expect(text).toContain('count: 500');
    expect(text).toContain('qos: 2');
    expect(text).toContain('topic: up/+');
    expect(text).toContain('over: 10000ms');
  });

  it('of the oldest dialect', () => {
    const old = CONNECT.replace('to="s w"', 'subscription="s"');
    const { plan } = imported(scenario(old, '<mqtt><version>3</version></mqtt>'));
    expect(plan.stages).toHaveLength(2);
  });

  it('of the newest: delays, receive, websocket, methods that are not there', () => {
    const stages = `<stage id="a"><lifeCycle id="x" clientGroup="readers"><delay duration="2s" spread="linear"/><connect><will topicGroup="t"/></connect>
      <subscribe to="s"/><receive from="s" count="3"/><delay duration="5s"/><disconnect method="close-tcp-socket"/></lifeCycle></stage>`;
    const web = scenario(stages)
      .replaceAll('broker id="b1"', 'websocket-broker id="b1"')
      .replace('</broker>', '</websocket-broker>');
    const { text, lost } = imported(web);
    expect(text).toContain('ws://192.0.2.1:1883/mqtt');
    expect(text).toContain('until: readers.received >= 6');
    expect(text).toContain('for: 5000ms');
    expect(lost.map(({ why }) => why).toSorted()).toEqual([
      'method close-tcp-socket: a DISCONNECT is sent',
      'will',
    ]);
  });

  it('names generators, unknown commands and patterns by line', () => {
    const stages = `<stage id="a"><lifeCycle id="x" clientGroup="devices"><connect securityProvider="mine"/><publish topicGroup="t" payloadGeneratorType="Mine" message="f.json" count="1"/><fly/></lifeCycle></stage>`;
    const { lost } = imported(scenario(stages).replace('device-[0-9]{4}', '(a|b)[0-9]+'));
    expect(lost.map(({ what }) => what)).toEqual(
      expect.arrayContaining(['connect', 'publish', 'fly', 'clientGroup "devices"']),
    );
    expect(lost.every(({ line }) => line > 1)).toBe(true);
  });
});
