import { describe, expect, test } from 'vitest';
import type { MqttTarget } from '../../src/plan/index.ts';
import { accepted, planOf, refused } from './plan-fixture.ts';

const broker = (target: object) => planOf({ targets: { broker: { protocol: 'mqtt', ...target } } });

function targetOf(target: object): MqttTarget {
  const found = accepted(broker(target)).targets['broker'];
  if (found?.protocol !== 'mqtt') throw new Error('no MQTT target');
  return found;
}

describe('addresses', () => {
  test.each([
    ['mqtt://h', { scheme: 'mqtt', host: 'h', port: 1883, path: '' }],
    ['mqtt://h:1/', { scheme: 'mqtt', host: 'h', port: 1, path: '' }],
    ['mqtts://h', { scheme: 'mqtts', host: 'h', port: 8883, path: '' }],
    ['ws://h', { scheme: 'ws', host: 'h', port: 80, path: '/mqtt' }],
    ['ws://h:8083/', { scheme: 'ws', host: 'h', port: 8083, path: '/' }],
    ['wss://h/a/b?c=d', { scheme: 'wss', host: 'h', port: 443, path: '/a/b?c=d' }],
    ['WSS://[::1]:8084/mqtt', { scheme: 'wss', host: '::1', port: 8084, path: '/mqtt' }],
  ])('%s is taken apart', (url, parts) => {
    expect(targetOf({ urls: [url] }).urls).toEqual([parts]);
  });

  test.each([
    ['mqtt://h/mqtt', 'an address of MQTT has no path'],
    ['mqtts://h?x', 'an address of MQTT has no path'],
    ['ws://h/a b', 'is no path of a WebSocket'],
    ['ws://h#x', 'is no path of a WebSocket'],
    ['wss://u@h', 'cannot hold a user name'],
    ['http://h', 'http:// is not an address of MQTT'],
    ['ws://h:0/', 'there is no port 0'],
    ['ws:///x', 'is not host:port'],
  ])('%s is refused', (url, message) => {
    expect(refused(broker({ urls: [url] })).map((problem) => problem.message)).toEqual([
      expect.stringContaining(message),
    ]);
  });
});

describe('TLS of a target', () => {
  test('verifies and resumes unless it is told not to', () => {
    expect(targetOf({ urls: ['mqtts://h'] }).tls).toEqual({
      ca: null,
      cert: null,
      key: null,
      servername: null,
      verify: true,
      minVersion: null,
      alpn: [],
      resume: true,
    });
  });

  test('has all that it can be told', () => {
    const tls = {
      ca: 'ca.pem',
      cert: 'certs/{{n}}.pem',
      key: 'certs/{{n}}.key',
      servername: 'broker.example',
      verify: false,
      minVersion: 'TLSv1.3',
      alpn: ['mqtt'],
      resume: false,
    };
    expect(targetOf({ urls: ['wss://h'], tls }).tls).toEqual(tls);
  });

  test.each([
    [{ urls: ['mqtt://h'], tls: {} }, 'none of the addresses has TLS'],
    [{ urls: ['mqtts://h'], tls: { cert: 'a' } }, 'a client certificate needs both cert and key'],
    [{ urls: ['mqtts://h'], tls: { key: 'a' } }, 'a client certificate needs both cert and key'],
    [{ urls: ['mqtts://h'], tls: { minVersion: 'TLSv1' } }, '"TLSv1" is not one of'],
  ])('%j is refused', (target, message) => {
    expect(refused(broker(target)).map((problem) => problem.message)).toEqual([
      expect.stringContaining(message),
    ]);
  });
});

describe('WebSocket of a target', () => {
  test('has headers, which are templates', () => {
    const ws = { headers: { Authorization: 'Bearer {{env.TOKEN}}-{{n}}' } };
    expect(targetOf({ urls: ['ws://h'], ws }).ws).toEqual({ ...ws, subprotocol: 'mqtt' });
    expect(targetOf({ urls: ['mqtt://h'] }).ws).toBeNull();
  });

  test.each([
    [{ urls: ['mqtt://h'], ws: {} }, 'none of the addresses is a WebSocket'],
    [{ urls: ['ws://h'], ws: { headers: { 'a b': 'c' } } }, '"a b" is no name of a header'],
    [{ urls: ['ws://h'], ws: { headers: { Upgrade: 'c' } } }, 'belongs to the upgrade itself'],
    [{ urls: ['ws://h'], ws: { headers: { A: '{{seq}}' } } }, '{{seq}} cannot stand here'],
  ])('%j is refused', (target, message) => {
    expect(refused(broker(target)).map((problem) => problem.message)).toEqual([
      expect.stringContaining(message),
    ]);
  });
});
