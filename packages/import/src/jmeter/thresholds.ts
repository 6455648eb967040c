import { type DraftValue, noted } from '../plan/draft.ts';
import type { JmeterElement } from './element.ts';
import type { ImportedGroup } from './group.ts';
import type { Variables } from './variables.ts';

/** JMeter judges samples; a plan says what must hold. */
export function thresholdsOf(
  groups: readonly ImportedGroup[],
  elements: readonly JmeterElement[],
  variables: Variables,
): DraftValue[] {
  const stops = elements.some((group) =>
    group.text('ThreadGroup.on_sample_error').startsWith('stoptest'),
  );
  const how = stops ? ' over 1s, abort' : '';
  const why = stops
    ? 'the test was stopped by the first failed sample'
    : 'JMeter has no verdict; a plan has';
  const publishes = groups.some(({ streams }) => streams.length > 0);
  return [
    noted(`connect_failed: count == 0${how}`, why),
    ...(publishes ? [`publish_failed: count == 0${how}`] : []),
    ...groups.flatMap((group) => assertionsOf(group, variables)),
  ];
}

function assertionsOf(group: ImportedGroup, variables: Variables): DraftValue[] {
  return group.streams.flatMap(({ step, everyMs }) =>
    step.assertions.flatMap((assertion) => {
      if (!assertion.enabled) return [];
      if (assertion.kind === 'DurationAssertion') {
        const ms = variables.number(assertion.text('DurationAssertion.duration'), 0, assertion);
        if (ms <= 0) return [];
        const closed = everyMs === 0 || step.element.text('mqtt.qos_level', '0').trim() === '0';
        const metric = closed ? 'service_time' : 'publish_time';
        return [
          noted(
            `${metric}{group=${group.name}}: max < ${ms}ms`,
            `${assertion.what}, line ${assertion.line}`,
          ),
        ];
      }
      const strings = assertion.list('Asserion.test_strings').map(({ text }) => text.trim());
      // The failures of publishing are counted by themselves.
      if (assertion.kind === 'ResponseAssertion' && strings.every((text) => text === '200'))
        return [];
      variables.findings.lose(
        assertion.line,
        assertion.what,
        'answers are not compared with texts here',
      );
      return [];
    }),
  );
}
