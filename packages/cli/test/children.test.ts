import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type ChildEnd, Children } from '../src/processes/children.ts';
import { onInterrupts } from '../src/processes/interrupts.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'squall-children-'));
const program = path.join(folder, 'child.cjs');
writeFileSync(
  program,
  `
  const [what] = process.argv.slice(2);
  process.send({ secret: process.env.SECRET ?? null, group: process.pid });
  if (what === 'fail') { console.error('first line'); console.error('the reason'); process.exit(3); }
  process.once('disconnect', () => process.exit(0));
  setInterval(() => undefined, 1000);
  `,
);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(children: Children, args: readonly string[], env: Record<string, string> = {}) {
  const messages: unknown[] = [];
  const spoken = new EventEmitter();
  const spoke = once(spoken, 'message');
  const ended = new Promise<ChildEnd>((resolve) => {
    children.start({
      name: 'child-1',
      args,
      env,
      onMessage: (message) => {
        messages.push(message);
        spoken.emit('message');
      },
      onEnd: resolve,
    });
  });
  return { messages, ended, spoke };
}

describe('child processes', () => {
  test('a child that ends by itself is told with how and its last words', async () => {
    const { ended } = start(new Children(program), ['fail']);
    expect(await ended).toMatchObject({
      name: 'child-1',
      asked: false,
      how: 'exit code 3',
      lastLines: ['first line', 'the reason'],
    });
  });

  test('a child that dies by a signal is told so', async () => {
    const children = new Children(program);
    const { ended, spoke, messages } = start(children, ['wait']);
    await spoke;
    process.kill((messages[0] as { group: number }).group, 'SIGKILL');
    expect(await ended).toMatchObject({ asked: false, how: 'signal SIGKILL' });
  });

  test('ending all waits until they are gone and marks them as asked', async () => {
    const children = new Children(program);
    const child = start(children, ['wait']);
    await child.spoke;
    await children.endAll();
    expect(await child.ended).toMatchObject({ asked: true });
  });

  test('secrets travel in the environment', async () => {
    const children = new Children(program);
    const child = start(children, ['wait'], { SECRET: 's3cret' });
    await child.spoke;
    expect(child.messages).toMatchObject([{ secret: 's3cret' }]);
    children.killAll();
    expect(await child.ended).toMatchObject({ asked: true, how: 'signal SIGKILL' });
  });
});

describe('interrupts', () => {
  test('each one goes a step further, and after that signals are nobody’s', () => {
    const steps: string[] = [];
    const before = process.listenerCount('SIGINT');
    const stop = onInterrupts({
      graceful: () => steps.push('graceful'),
      hard: () => steps.push('hard'),
      leave: () => steps.push('leave'),
    });
    process.emit('SIGINT');
    process.emit('SIGTERM');
    process.emit('SIGINT');
    stop();
    expect(steps).toEqual(['graceful', 'hard', 'leave']);
    expect(process.listenerCount('SIGINT')).toBe(before);
  });
});
