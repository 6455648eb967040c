import { describe, expect, test } from 'vitest';
import type { AgentCommandOptions } from '../src/commands/agent.ts';
import type { SinkWebhookOptions } from '../src/commands/sink-webhook.ts';
import { type Actions, buildProgram } from '../src/program.ts';
import { hookLine, hookSummary } from '../src/terminal/hook-text.ts';

type Given = AgentCommandOptions | SinkWebhookOptions;

/** What the command line hands over, or what it complains of. */
async function parse(...argv: string[]): Promise<Given | string> {
  let given: Given | null = null;
  let complaint = '';
  const take = async (options: Given): Promise<void> => {
    given = options;
  };
  const actions = { sinkWebhook: take, agent: take } as unknown as Actions;
  const program = buildProgram('1', actions);
  const quiet = (command: typeof program): void => {
    command.exitOverride().configureOutput({
      writeErr: (text) => {
        complaint += text;
      },
    });
    command.commands.forEach(quiet);
  };
  quiet(program);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch {
    return complaint;
  }
  return given ?? complaint;
}

const sink = (...options: string[]) => parse('sink', 'webhook', ...options);

describe('squall sink webhook', () => {
  test('takes an address, and answers as it is told', async () => {
    const listen = { host: '127.0.0.1', port: 8_085 };
    expect(await sink('--listen', '127.0.0.1:8085')).toEqual({ listen, status: 200 });
    const options = ['--status', '204', '--delay', '5ms', '--error-share', '1%', '--json'];
    expect(await sink('--listen', '127.0.0.1:8085', '--body-limit', '64KiB', ...options)).toEqual({
      listen,
      status: 204,
      delay: 5_000,
      errorShare: 0.01,
      bodyLimit: 65_536,
      json: true,
    });
  });

  test.each([
    [[], /required option '--listen/],
    [['--listen', 'x'], /host:port/],
    [['--listen', 'h:1', '--status', '99'], /from 200 to 599/],
    [['--listen', 'h:1', '--error-share', '2'], /no unit/],
    [['--listen', 'h:1', '--error-share', '200%'], /at most 100%/],
    [['--listen', 'h:1', '--body-limit', '1GiB'], /from 1B to 64MiB/],
    [['--listen', 'h:1', '--delay', '5'], /units/],
  ] as const)('is told what is wrong: %j', async (options, message) => {
    expect(await sink(...options)).toMatch(message);
  });
});

test('an agent that observes has no workers to choose', async () => {
  const agent = ['agent', '--controller', 'ws://h:1', '--observe'];
  expect(await parse(...agent)).toMatchObject({ observe: true });
  expect(await parse(...agent, '--workers', '2')).toMatch(/cannot be used with option '--observe'/);
});

describe('what came to a hook, in words', () => {
  const times = { minUs: 1_000, meanUs: 2_000, p50Us: 2_000, p90Us: 3_000, p95Us: 3_500 };
  const stats = {
    requests: 1_200,
    refused: 12,
    bytes: 240_000,
    messages: 1_200,
    unique: 1_190,
    duplicated: 3,
    lost: 2,
    corrupted: 1,
    foreign: 6,
    untracked: 0,
    forgotten: 0,
    untimed: 4,
    badBodies: { 'not JSON': 5 },
    hookLatency: {
      ...times,
      count: 1_190,
      p99Us: 4_000,
      p999Us: 5_000,
      maxUs: 9_000,
      negative: 0,
      boundUs: 300,
    },
    hookHistogram: [],
  };

  test('is one line while it lasts', () => {
    expect(hookLine(stats, 100)).toBe(
      '1,200 requests (100/s) · 1,190 unique · 3 duplicated · 2 missing · 1 corrupted · 6 foreign · p50 2ms, p99 4ms',
    );
    const none = {
      ...stats,
      corrupted: 0,
      foreign: 0,
      hookLatency: { ...stats.hookLatency, count: 0 },
    };
    expect(hookLine(none, 0)).toBe(
      '1,200 requests (0/s) · 1,190 unique · 3 duplicated · 2 missing',
    );
  });

  test('is all of it at the end', () => {
    const text = hookSummary(stats).join('\n');
    expect(text).toMatch(/refused +12 /);
    expect(text).toMatch(/bad bodies +5 +not JSON/);
    expect(text).toMatch(/untimed +4 /);
    expect(text).toContain('due → here (± 300us): mean 2ms · p50 2ms · p95 3.5ms · p99 4ms');
  });
});
