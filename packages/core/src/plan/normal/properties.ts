import type { MessageProperties, UserProperty } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { MessagePropertiesFile } from '../schema/messages.ts';
import type { NormalContext } from './context.ts';

type UserPropertiesFile = MessagePropertiesFile['userProperties'];

/** Null where none is given. */
export function normaliseProperties(
  properties: MessagePropertiesFile | undefined,
): MessageProperties | null {
  if (properties === undefined) return null;
  const { contentType, responseTopic, correlationData, payloadFormat } = properties;
  return {
    contentType: contentType ?? null,
    responseTopic: responseTopic ?? null,
    correlationData: correlationData ?? null,
    payloadFormat: payloadFormat === undefined ? null : payloadFormat === 'text' ? 1 : 0,
    userProperties: normaliseUserProperties(properties.userProperties),
  };
}

/** In the order of the file, which the broker keeps [MQTT-3.3.2-18]. */
export function normaliseUserProperties(properties: UserPropertiesFile): UserProperty[] {
  return Object.entries(properties).flatMap(([name, values]) =>
    (typeof values === 'string' ? [values] : values).map((value) => ({
      name,
      value,
    })),
  );
}

/** A duration as whole seconds; null where it is not given. */
export function secondsOf(
  us: number | undefined,
  path: PlanPath,
  { findings }: NormalContext,
): number | null {
  if (us === undefined) return null;
  const seconds = us / 1_000_000;
  if (Number.isInteger(seconds)) return seconds;
  findings.error(path, `${String(path.at(-1))} is a whole number of seconds`, {
    hint: 'MQTT carries it in seconds',
  });
  return Math.ceil(seconds);
}
