import { compileTemplate, type TemplatePart } from '../../template/index.ts';
import { encodeUtf8 } from '../../text/utf8.ts';
import type { Group, MqttTarget } from '../plan.ts';
import type { Findings } from '../problem.ts';

/** The longest client id that a server of MQTT 3.1 has to take [MQTT 3.1, section 3.1]. */
const BYTES_OF_3_1 = 23;
const UUID_BYTES = 36;

/** Most brokers take longer ids from clients of MQTT 3.1, too, so this is told and goes on. */
export function warnOfLongIds(
  group: Group,
  target: MqttTarget | undefined,
  findings: Findings,
): void {
  if (target?.version !== '3.1') return;
  const { parts } = compileTemplate(group.clientId);
  const bytes = parts.reduce((sum, part) => sum + leastBytes(part, group), 0);
  if (bytes <= BYTES_OF_3_1) return;
  findings.warn(
    ['groups', group.name, 'clientId'],
    `client ids of ${bytes} bytes or more: a broker of MQTT 3.1 need not take more than ${BYTES_OF_3_1}`,
    'shorten it if the broker refuses them',
  );
}

/** What a part takes at least in the longest of the group's ids. */
function leastBytes(part: TemplatePart, group: Group): number {
  switch (part.kind) {
    case 'text':
      return encodeUtf8(part.text).length;
    case 'group':
      return encodeUtf8(group.name).length;
    case 'uuid':
      return UUID_BYTES;
    case 'index':
      return Math.max(part.width, part.of === 'n' ? String(group.clients).length : 1);
    case 'csv':
    case 'env':
    case 'now':
    case 'random':
    case 'run':
    case 'stamp':
    case 'var':
      return 1;
  }
}
