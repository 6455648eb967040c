import type { Group, MqttTarget, TlsSpec } from '@squall/core/plan';
import type { Template } from '@squall/core/template';
import { describe, expect, test } from 'vitest';
import { BrokerRoutes } from '../../src/worker/clients/broker-routes.ts';
import { type ClientOrder, clientOrder } from '../../src/worker/clients/client-order.ts';
import { PlanFiles } from '../../src/worker/plan-files.ts';
import { RenderContext } from '../../src/worker/publish/render-context.ts';
import { groupOf, planOf } from './fixture/plan.ts';

const CLIENTS = 12;
const HOSTS = ['a', 'b', 'c'];

interface Needs {
  readonly target?: Partial<MqttTarget>;
  readonly group?: Partial<Group>;
  readonly files?: Readonly<Record<string, string>>;
  readonly order?: ClientOrder;
}

/** Three addresses and twelve clients, unless a test says otherwise. */
function routesOf(needs: Needs = {}) {
  const { broker } = planOf({ groups: [], stages: [] }).targets;
  if (broker?.protocol !== 'mqtt') throw new Error('no MQTT target');
  const urls = HOSTS.map((host) => ({ scheme: 'mqtt' as const, host, port: 1883, path: '' }));
  const target = { ...broker, urls, ...needs.target };
  const group = groupOf({ clients: CLIENTS, ...needs.group });
  const order = needs.order ?? clientOrder({ first: 0, last: 11, clients: CLIENTS }, CLIENTS);
  const context = new RenderContext({
    group,
    target,
    shortRun: 'r1',
    secrets: { TOKEN: 'secret' },
    vars: {},
    seed: 1,
  });
  const render = (template: Template, position: number): string => {
    context.n = order.numbers[position] ?? 0;
    return template.render(context);
  };
  const files = new PlanFiles(needs.files ?? {});
  const routes = new BrokerRoutes({ group, target, order, files, render });
  /** By the client's index, from 0. */
  const positions = Array.from({ length: order.count }, (_, n) => order.numbers.indexOf(n));
  return { routes, positions };
}

const TLS: TlsSpec = {
  ca: null,
  cert: null,
  key: null,
  servername: 'broker.example',
  verify: true,
  minVersion: null,
  alpn: ['mqtt'],
  resume: true,
};
const secured = { scheme: 'mqtts' as const, host: 'a', port: 8883, path: '' };

describe('the way of a client to its broker', () => {
  test.each([
    ['round-robin', 'abcabcabcabc'],
    ['blocks', 'aaaabbbbcccc'],
    ['first', 'aaaaaaaaaaaa'],
  ] as const)('goes to the address that the spread gives it (%s)', (spread, expected) => {
    const { routes, positions } = routesOf({ target: { spread } });
    expect(positions.map((at) => routes.route(at).host).join('')).toBe(expected);
  });

  test('moves to the next address after each failed attempt where the spread is first', () => {
    const { routes } = routesOf({ target: { spread: 'first' } });
    const seen = [routes.url(3).host];
    for (let n = 0; n < 3; n += 1) {
      expect(routes.attemptFailed(3)).toBe(true);
      seen.push(routes.url(3).host);
    }
    expect(seen.join('')).toBe('abca');
    expect(routes.url(4).host).toBe('a');
  });

  test('stays where it is with any other spread, and with one address', () => {
    const spread = routesOf({ target: { spread: 'blocks' } }).routes;
    const [one] = [{ scheme: 'mqtt' as const, host: 'only', port: 1, path: '' }];
    const single = routesOf({ target: { spread: 'first', urls: [one] } }).routes;
    for (const routes of [spread, single]) {
      const before = routes.url(0).host;
      expect(routes.attemptFailed(0)).toBe(false);
      expect(routes.url(0).host).toBe(before);
    }
  });

  test('begins at source addresses by turns, evenly towards each broker address', () => {
    const sourceAddresses = ['127.0.0.2', '127.0.0.3'];
    const { routes, positions } = routesOf({ group: { sourceAddresses } });
    const pairs = new Map<string, number>();
    for (const position of positions) {
      const { host, localAddress } = routes.route(position);
      const pair = `${localAddress} ${host}`;
      pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
    }
    expect([...pairs.values()]).toEqual([2, 2, 2, 2, 2, 2]);
    expect(routesOf().routes.route(0).localAddress).toBeUndefined();
  });

  test('has TLS and WebSocket as the scheme of its address says', () => {
    const urls = (['mqtt', 'mqtts', 'ws', 'wss'] as const).map((scheme) => {
      return { scheme, host: scheme, port: 1, path: scheme.startsWith('ws') ? '/mqtt' : '' };
    });
    const ws = { headers: { Authorization: '{{env.TOKEN}}-{{n}}' }, subprotocol: 'mqtt' };
    const { routes, positions } = routesOf({ target: { urls, tls: TLS, ws } });
    const [plain, tls, socket, both] = positions.map((at) => routes.route(at));
    expect(plain).toMatchObject({ host: 'mqtt', tls: undefined, ws: undefined });
    expect(tls?.tls).toMatchObject({ servername: 'broker.example', verify: true, alpn: ['mqtt'] });
    expect(tls?.ws).toBeUndefined();
    expect(socket?.tls).toBeUndefined();
    expect(socket?.ws).toEqual({
      path: '/mqtt',
      headers: { Authorization: 'secret-3' },
      subprotocol: 'mqtt',
    });
    expect(both?.tls?.sessions).toBe(routes.tls?.sessions);
    expect(both?.ws?.headers).toEqual({ Authorization: 'secret-4' });
  });

  test('shares what is read of one pair of certificate and key', () => {
    const { routes } = routesOf({ target: { urls: [secured], tls: TLS } });
    expect(routes.route(0).tls?.context).toBe(routes.route(5).tls?.context);
    const { routes: others } = routesOf({
      target: { urls: [secured], tls: { ...TLS, resume: false } },
    });
    expect(others.route(0).tls?.sessions).toBeNull();
  });
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describe('before the start', () => {
  test('an authority that did not come with the plan is named', () => {
    const tls = { ...TLS, ca: 'ca.pem' };
    expect(() => routesOf({ target: { urls: [secured], tls } })).toThrow(
      /file ca.pem did not come/,
    );
  });

  test('an authority that is none is named', () => {
    const tls = { ...TLS, ca: 'ca.pem' };
    const { routes } = routesOf({
      target: { urls: [secured], tls },
      files: { 'ca.pem': base64('nothing') },
    });
    expect(() => routes.check()).toThrow(/no PEM certificate in .*\(ca\)/);
  });

  test('a certificate that one client alone lacks is named', () => {
    const tls = { ...TLS, cert: 'c/{{n}}.pem', key: 'c/{{n}}.key' };
    const files: Record<string, string> = {};
    for (let n = 1; n < CLIENTS; n += 1) {
      files[`c/${n}.pem`] = base64('x');
      files[`c/${n}.key`] = base64('x');
    }
    const { routes } = routesOf({ target: { urls: [secured], tls }, files });
    expect(() => routes.check()).toThrow('the file c/12.pem did not come with the plan');
    expect(() => routes.route(3)).toThrow(/no PEM certificate in .*\(cert\)/);
  });

  test('a worker without clients of the group asks for nothing', () => {
    const order = clientOrder({ first: 0, last: -1, clients: 0 }, CLIENTS);
    const tls = { ...TLS, cert: 'c/{{n}}.pem', key: 'c/{{n}}.key' };
    const { routes } = routesOf({ target: { urls: [secured], tls }, order });
    expect(() => routes.check()).not.toThrow();
  });
});
