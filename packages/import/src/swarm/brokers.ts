import type { DraftMap } from '../plan/draft.ts';
import { inert } from '../plan/draft.ts';
import type { XmlElement } from '../xml/parse-xml.ts';
import { childText, type Scenario } from './scenario.ts';

/** The addresses that a connect uses: those that it names, else all, by turns. */
export function brokersOf(connect: XmlElement, scenario: Scenario): DraftMap {
  const all = scenario.block('brokers');
  const named = (connect.attributes['broker'] ?? '').split(/\s+/).filter(Boolean);
  const chosen =
    named.length === 0
      ? all
      : all.filter(({ attributes }) => named.includes(attributes['id'] ?? ''));
  const urls = chosen.map((broker) => urlOf(broker, scenario));
  if (urls.length === 0) {
    scenario.lose(connect, 'it names no broker that is there; mqtt://127.0.0.1:1883 is taken');
    return { urls: ['mqtt://127.0.0.1:1883'] };
  }
  const tls = urls.some((url) => /^(mqtts|wss):/.test(url)) ? {} : undefined;
  return {
    urls,
    ...(urls.length > 1 ? { spread: 'round-robin' } : {}),
    ...(tls === undefined ? {} : { tls }),
  };
}

function urlOf(broker: XmlElement, scenario: Scenario): string {
  const tls = childText(broker, 'transport').toUpperCase() === 'TLS';
  const web = broker.name === 'websocket-broker';
  const address = inert(childText(broker, 'address')) || '127.0.0.1';
  const port = scenario.number(broker, childText(broker, 'port'), tls ? 8_883 : 1_883);
  if (!web) return `${tls ? 'mqtts' : 'mqtt'}://${address}:${port}`;
  const path = inert(childText(broker, 'path')) || '/mqtt';
  return `${tls ? 'wss' : 'ws'}://${address}:${port}${path.startsWith('/') ? '' : '/'}${path}`;
}
