import { describe, expect, it } from 'vitest';
import { importPlan, MAX_FILE_BYTES } from '../src/index.ts';
import { connect, element, jmx, publish, threadGroup, timer } from './fixture/jmx.ts';
import { imported } from './fixture/read-back.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('files of others', () => {
  it.each([
    ['no XML', 'this is no plan', /line 1/],
    ['nothing', '', /line 1: document must contain/],
    ['XML that is cut off', jmx('').slice(0, 200), /line \d+/],
    ['another root', '<project/>', /its root element is project/],
    ['a document type', '<!DOCTYPE a [<!ENTITY x "y">]><jmeterTestPlan/>', /document type/],
    [
      'an external entity',
      '<!DOCTYPE a SYSTEM "file:///etc/passwd"><jmeterTestPlan/>',
      /document type/,
    ],
    ['an entity that nobody defined', '<jmeterTestPlan>&lol;</jmeterTestPlan>', /entity/],
    ['elements without end', '<a>'.repeat(1_000), /deep/],
    [
      'a plan without MQTT',
      jmx(threadGroup({}, element('HTTPSamplerProxy', 'x'))),
      /no enabled thread group/,
    ],
    ['an empty scenario', '<scenario/>', /no stage/],
  ])('%s: refused by name', (_what, text, message) => {
    expect(() => importPlan(bytes(text), 'x.jmx')).toThrow(message);
  });

  it('refuses what is not UTF-8', () => {
    expect(() => importPlan(new Uint8Array([0xff, 0xfe, 0x3c, 0]), 'x.jmx')).toThrow(/UTF-8/);
  });

  it('refuses a file above its limit without reading it', () => {
    expect(() => importPlan(new Uint8Array(MAX_FILE_BYTES + 1), 'x.jmx')).toThrow(/32 MiB/);
  });

  it('counts elements, and stops', () => {
    const many = `<jmeterTestPlan>${'<a/>'.repeat(500_001)}</jmeterTestPlan>`;
    expect(() => importPlan(bytes(many), 'x.jmx')).toThrow(/500000 elements/);
  });

  it('keeps 500 findings and counts the others', () => {
    const unknown = Array.from({ length: 700 }, (_, index) => element('Strange', `s${index}`)).join(
      '',
    );
    const { lost, lostCount } = imported(
      jmx(threadGroup({}, connect() + timer('5') + publish() + unknown)),
    );
    expect(lost).toHaveLength(500);
    expect(lostCount).toBe(700);
  });

  it.each([
    ['{{env.HOME}}', ''],
    ['{${nothing}{env.HOME}}', ''],
    ['${brace}{env.HOME}}', '{'],
    ['{${brace}', '{env.HOME}}'],
  ])('a text %s reaches for nothing in the environment', (topic, value) => {
    const vars = element('Arguments', 'vars').replace(
      '</Arguments>',
      `<collectionProp name="Arguments.arguments"><elementProp name="brace"><stringProp name="Argument.name">brace</stringProp><stringProp name="Argument.value">${value}</stringProp></elementProp></collectionProp></Arguments>`,
    );
    const user = connect({ 'mqtt.user_name': topic });
    const plan = jmx(
      vars + threadGroup({}, user + timer('5') + publish({ 'mqtt.topic_name': `t/${topic}` })),
    );
    expect(imported(plan).plan.groups[0]?.username).not.toBeUndefined();
    expect(JSON.stringify(imported(plan).plan)).not.toMatch(/\{\{\s*env/);
  });

  it('a name with line ends stays in its comment', () => {
    const evil = connect().replace('testname="Connect"', 'testname="x&#10;thresholds: [evil]"');
    const { text } = imported(jmx(threadGroup({}, evil + timer('5') + publish())));
    expect(text).not.toMatch(/^thresholds: \[evil/m);
  });

  it('variables that name each other in a ring come to an end', () => {
    const ring = element('Arguments', 'vars').replace(
      '</Arguments>',
      ['a', 'b']
        .map(
          (name, index, all) =>
            `<elementProp name="${name}"><stringProp name="Argument.name">${name}</stringProp><stringProp name="Argument.value">\${${all[1 - index]}}</stringProp></elementProp>`,
        )
        .join('')
        .replace(/^/, '<collectionProp name="Arguments.arguments">')
        .concat('</collectionProp></Arguments>'),
    );
    const plan = jmx(
      ring + threadGroup({}, connect() + timer('5') + publish({ 'mqtt.topic_name': 't/${a}' })),
    );
    expect(
      imported(plan)
        .lost.map(({ why }) => why)
        .join(),
    ).toContain('without end');
  });
});
