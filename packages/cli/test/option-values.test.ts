import { InvalidArgumentError } from 'commander';
import { describe, expect, test } from 'vitest';
import {
  apiUrl,
  controllerUrl,
  durationUs,
  hostAndPort,
  keyValue,
  retention,
  scaleFactor,
  splitSize,
  wholeNumber,
} from '../src/option-values.ts';

describe('values of options', () => {
  test('key=value collects, keeps what follows the first =, and takes an empty value', () => {
    expect(keyValue('b=x=y', keyValue('a='))).toEqual({ a: '', b: 'x=y' });
    expect(() => keyValue('=x')).toThrow(InvalidArgumentError);
    expect(() => keyValue('x')).toThrow(/key=value/);
  });

  test('whole numbers stay in their range', () => {
    const parse = wholeNumber(1, 200);
    expect(parse('200')).toBe(200);
    for (const wrong of ['0', '201', '1.5', '-1', '1e2', '', 'many']) {
      expect(() => parse(wrong)).toThrow(/whole number from 1 to 200/);
    }
  });

  test('durations need a unit and cannot be nothing', () => {
    expect(durationUs('90s')).toBe(90_000_000);
    expect(() => durationUs('90')).toThrow(/ms/);
    expect(() => durationUs('0s')).toThrow(/longer than nothing/);
  });

  test('a scale is above 0', () => {
    expect(scaleFactor('0.01')).toBe(0.01);
    for (const wrong of ['0', '-1', 'x', '', 'Infinity']) {
      expect(() => scaleFactor(wrong)).toThrow(/scale/);
    }
  });

  test('host and port, IPv6 in brackets', () => {
    expect(hostAndPort('127.0.0.1:7000')).toEqual({ host: '127.0.0.1', port: 7000 });
    expect(hostAndPort('[::1]:0')).toEqual({ host: '::1', port: 0 });
    for (const wrong of ['7000', ':7000', '::1:7000', 'h:70000', 'h:']) {
      expect(() => hostAndPort(wrong)).toThrow(/host:port/);
    }
  });

  test('a split names agents and, if need be, workers', () => {
    expect(splitSize('5')).toEqual({ agents: 5, workers: 1 });
    expect(splitSize('5x2')).toEqual({ agents: 5, workers: 2 });
    for (const wrong of ['0', '5x0', 'x2', '5x', '']) expect(() => splitSize(wrong)).toThrow(/5x2/);
  });

  test('a controller has one address, for agents and for requests', () => {
    for (const text of ['ws://127.0.0.1:7000', 'http://127.0.0.1:7000']) {
      expect(controllerUrl(text)).toBe('ws://127.0.0.1:7000');
      expect(apiUrl(text)).toBe('http://127.0.0.1:7000');
    }
    expect(controllerUrl('https://x:1')).toBe('wss://x:1');
    expect(controllerUrl('wss://x:1')).toBe('wss://x:1');
    expect(apiUrl('wss://x:1')).toBe('https://x:1');
    for (const wrong of ['127.0.0.1:7000', 'ws://', 'wss://', 'ftp://x']) {
      expect(() => controllerUrl(wrong)).toThrow(/ws:\/\//);
    }
  });

  test('runs are kept for days, any other time, or for ever', () => {
    expect(retention('90d')).toBe(90 * 24 * 3_600_000_000);
    expect(retention('48h')).toBe(48 * 3_600_000_000);
    expect(retention('forever')).toBe('forever');
    for (const wrong of ['90', '0h', 'd', '-1d', 'always'])
      expect(() => retention(wrong)).toThrow(InvalidArgumentError);
  });
});
