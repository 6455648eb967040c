import { describe, expect, test } from 'vitest';
import { requiredSecrets } from '../../src/plan/index.ts';
import { redactPlan } from '../../src/report/index.ts';
import { accepted, complaints, planOf } from './plan-fixture.ts';

const sql = (query: string) =>
  planOf({ probes: { rows: { type: 'mysql', url: 'mysql://h/d', query } } });

describe('probes of a plan', () => {
  test.each([
    'SELECT COUNT(*) FROM t_mqtt_msg',
    "select count(*) from t where note = 'drop; table';",
    'SELECT SUM(`insert`) FROM t',
  ])('a single SELECT is taken: %s', (query) => {
    expect(accepted(sql(query)).probes[0]?.source).toMatchObject({ query });
  });

  test.each([
    ['DELETE FROM t', 'this is no SELECT'],
    ['SELECT 1; DROP TABLE t', 'this is more than one statement'],
    ['SELECT 1 INTO OUTFILE "x"', 'INTO is not for a probe'],
    ['SELECT COUNT(*) FROM t -- x', 'a query of a probe has no comments'],
    ['SELECT SLEEP(100)', 'SLEEP is not for a probe'],
    ['WITH x AS (DELETE FROM t RETURNING 1) SELECT COUNT(*) FROM x', 'this is no SELECT'],
    ['SELECT COUNT(*) FROM t FOR UPDATE', 'UPDATE is not for a probe'],
  ])('anything else is refused: %s', (query, message) => {
    expect(complaints(sql(query))).toEqual([`probes.rows.query: ${message}`]);
  });

  test.each([
    [
      { type: 'nginx', url: 'mysql://h' },
      'probes.p.url: this is no address for a probe of type nginx',
    ],
    [
      { type: 'nginx', url: 'http://h', query: 'x' },
      'probes.p.query: a probe of type nginx has no query',
    ],
    [{ type: 'webhook' }, 'probes.p: a probe of type webhook needs url or listen'],
    [
      { type: 'webhook', url: 'http://h', listen: 'h:1' },
      'probes.p: a probe of type webhook has either url or listen',
    ],
    [
      { type: 'webhook', url: 'mqtt://h' },
      'probes.p.url: this is no address for a probe of type webhook',
    ],
    [{ type: 'webhook', listen: ':80' }, 'probes.p.listen: ":80" is no address to listen on'],
    [{ type: 'webhook', listen: 'h:0' }, 'probes.p.listen: "h:0" is no address to listen on'],
    [{ type: 'host' }, 'probes.p: a probe of type host needs agent or labels'],
    [
      { type: 'host', agent: 'a', labels: { a: 'b' } },
      'probes.p: a probe of type host has either agent or labels',
    ],
    [
      { type: 'host', agent: 'a', url: 'http://h' },
      'probes.p.url: a probe of type host has no url',
    ],
    [
      { type: 'http', url: 'http://h', values: {} },
      'probes.p.values: at least one figure is needed',
    ],
    [
      { type: 'http', url: 'http://h', values: { a: 'stats' } },
      'probes.p.values.a: "stats" is no JSON pointer',
    ],
    [
      { type: 'nginx', url: 'http://{{n}}/' },
      'probes.p.url: only {{env.NAME}} can stand in the address of a probe',
    ],
    [
      { type: 'mysql', url: 'mysql://h/d?ssl=1', query: 'SELECT 1' },
      'probes.p.url: the address of a mysql probe has no "ssl=1"',
    ],
    [
      { type: 'postgres', url: 'postgres://h/d?tls=true', query: 'SELECT 1' },
      'probes.p.url: the address of a postgres probe has no "tls=true"',
    ],
  ])('%j is told', (probe, message) => {
    expect(complaints(planOf({ probes: { p: probe } }))).toEqual([message]);
  });

  test.each([
    { type: 'mysql', url: 'mariadb://u:{{env.P}}@h/d?tls=true', query: 'SELECT 1' },
    { type: 'postgres', url: 'postgres://h/d?sslmode=verify-full', query: 'SELECT 1' },
  ])('%j asks for TLS', (probe) => {
    expect(accepted(planOf({ probes: { p: probe } })).probes).toHaveLength(1);
  });

  test.each([
    [
      { type: 'webhook', url: 'http://u:{{env.P}}@h:8085' },
      { type: 'webhook', url: 'http://u:{{env.P}}@h:8085', listen: null },
    ],
    [
      { type: 'webhook', listen: '[::1]:8085' },
      { type: 'webhook', url: '', listen: { host: '::1', port: 8_085 } },
    ],
    [
      { type: 'host', labels: { role: 'broker' } },
      { type: 'host', agent: null, labels: { role: 'broker' } },
    ],
  ])('%j is read', (probe, source) => {
    expect(accepted(planOf({ probes: { p: probe } })).probes).toMatchObject([{ source }]);
  });

  test('a name that a group or a metric has cannot be told apart', () => {
    const nginx = { type: 'nginx', url: 'http://h/s' };
    expect(complaints(planOf({ probes: { devices: nginx, received: nginx } }))).toEqual([
      'probes.devices: devices is the name of a group, too',
      'probes.received: received is the name of a metric, too',
    ]);
  });

  test('secrets are asked for, and addresses show none', () => {
    const plan = accepted(
      planOf({
        probes: {
          rows: {
            type: 'mysql',
            url: 'mysql://u:{{env.DB_PASSWORD}}@h/d',
            query: 'SELECT 1',
          },
          api: {
            type: 'http',
            url: 'http://u:in-the-plan@h/x',
            headers: { authorization: 'Bearer {{env.TOKEN}}' },
            values: { a: '/a' },
          },
        },
      }),
    );
    expect(requiredSecrets(plan)).toEqual(['DB_PASSWORD', 'TOKEN']);
    const shown = JSON.stringify(redactPlan(plan));
    expect(shown).not.toContain('in-the-plan');
    expect(shown).not.toContain('Bearer');
  });
});

describe('the balance of a plan', () => {
  const probes = { rows: { type: 'mysql', url: 'mysql://h/d', query: 'SELECT 1' } };
  const balanceOf = (balance: object) => planOf({ probes, balance });

  test.each([
    [
      { equal: ['devices.ackd', 'rows'] },
      'balance.equal[0]: "devices.ackd" is no counter of a group, stream or probe',
    ],
    [
      { equal: ['devices.acked', 'row'] },
      'balance.equal[1]: "row" is no counter of a group, stream or probe',
    ],
    [
      { equal: ['devices.acked', 'rows.count'] },
      'balance.equal[1]: the probe rows has no figure "count"',
    ],
    [
      { equal: ['devices.lost', 'rows'] },
      'balance.equal[0]: "devices.lost" is no counter of a group, stream or probe',
    ],
    [{ duplicates: 'allow' }, 'balance: a balance needs equal or atLeast'],
  ])('%j is told', (balance, message) => {
    expect(complaints(balanceOf(balance))).toEqual([message]);
  });

  test('a mistyped counter is told with the nearest', () => {
    expect(() => accepted(balanceOf({ equal: ['devices.ackd', 'rows'] }))).toThrow(
      /did you mean devices\.acked\?/,
    );
  });
});
