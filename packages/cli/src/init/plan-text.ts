import type { InitAnswers } from './questions.ts';

/** A plan with a word about each part, for whoever has never seen one. */
export function planText(answers: InitAnswers): string {
  const isMqtt = answers.protocol === 'mqtt';
  return [
    '# Made by `squall init`. Check it with `squall check`, run it with `squall run`.',
    '# Every key there is: docs/reference/plan.md',
    'squall: 1',
    'name: first-plan',
    'vars:',
    `  broker: ${JSON.stringify(answers.broker)}      # or another: --var broker=…`,
    'targets:',
    isMqtt
      ? '  broker: { protocol: mqtt, urls: ["{{broker}}"] }'
      : '  broker: { protocol: rocketmq, nameServers: ["{{broker}}"], create: { queues: 8 } }',
    'groups:',
    '  # Who sends. {{n}} is the number of a client, from 1.',
    '  devices:',
    '    target: broker',
    `    clients: ${answers.clients}`,
    ...(isMqtt ? mqttGroups(answers) : rocketmqGroups(answers)),
    'stages:',
    ...stages(answers, isMqtt),
    'thresholds:',
    '  - "publish_failed: count == 0"',
    ...(isMqtt && answers.qos === '0' ? [] : ['  - "publish_time: p(99) < 1s"']),
    ...(answers.verify === 'yes' ? ['  - "lost: count == 0"'] : []),
    '',
  ].join('\n');
}

function mqttGroups({ qos, payload, every, verify }: InitAnswers): string[] {
  return [
    '    connect: { rate: 500/s }',
    `    publish: { topic: "devices/{{n}}/up", qos: ${qos}, payload: ${payload}, every: ${every} }`,
    ...readers(verify, `subscribe: { topic: "devices/+/up", qos: ${qos} }`),
  ];
}

function rocketmqGroups({ payload, every, verify }: InitAnswers): string[] {
  return [
    `    publish: { topic: squall-first, payload: ${payload}, every: ${every} }`,
    ...readers(verify, 'consume: { topic: squall-first, group: squall-readers }'),
  ];
}

function readers(verify: string, receives: string): string[] {
  if (verify !== 'yes') return [];
  return [
    '  # Who receives, and notices what does not come.',
    '  readers:',
    '    target: broker',
    '    clients: 1',
    `    ${receives}`,
  ];
}

function stages({ for: length, verify }: InitAnswers, isMqtt: boolean): string[] {
  const activity = isMqtt ? 'subscribe' : 'consume';
  const all = verify === 'yes' ? `devices: publish, readers: ${activity}` : 'devices: publish';
  return [`  - { name: load, run: { ${all} }, for: ${length} }`];
}
