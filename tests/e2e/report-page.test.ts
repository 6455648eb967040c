import { readFileSync } from 'node:fs';
import path from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { browserTest as test, openFile } from '../fixtures/browser.ts';
import { squall } from '../fixtures/squall.ts';

/** A name that tries to end the script, to be markup, and to turn around what stands behind it. */
const NAME = 'gate </script><img src=x onerror=alert(1)> \u202Egnp.exe';
const PHONE = { width: 375, height: 720 };
const DESK = { width: 1_280, height: 900 };
/** A4 at 96 dots an inch, less its margins. */
const PAPER = { width: 688, height: 1_000 };
/** Where pictures of the pages go, for whoever wants to see them. */
const PICTURES = process.env['SQUALL_SCREENSHOTS'];

function planAt(url: string) {
  const target = 'broker';
  return {
    squall: 1,
    name: NAME,
    targets: { broker: { protocol: 'mqtt', urls: [url] } },
    groups: {
      readers: { target, clients: 2, subscribe: { topic: 'page/#', qos: 1 } },
      devices: {
        target,
        clients: 20,
        publish: { topic: 'page/{{n}}', qos: 1, payload: '64B', every: '100ms' },
      },
    },
    stages: [
      { name: 'subscribe', run: { readers: 'subscribe' } },
      { name: 'warm-up', run: { devices: 'publish' }, for: '1s', warmup: true },
      { name: 'publish', run: { devices: 'publish' }, for: '3s' },
    ],
    thresholds: ['publish_time: p(99) < 1us over 1s in publish', 'publish_failed: count == 0'],
    settle: { quiet: '1s', max: '5s' },
  };
}

/** A run with a page, opened on a phone, a desk and paper: the page of one run serves all. */
describe('report.html', () => {
  test('tells a run that failed, in a browser', async ({ broker, browser, workspace }) => {
    const result = await workspace.run([workspace.plan(planAt(broker.url)), '--agents', '2']);
    const file = path.join(result.out, 'report.html');
    expect(result.code).toBe(99);
    expect(result.stdout).toContain(
      `page     ${file} (beside it report.md, report.csv, report.hlog)`,
    );

    const phone = await openFile(browser, file, { viewport: PHONE, locale: 'en-GB' });
    await picture(phone.page, 'phone');
    expect(await phone.page.locator('h1').textContent()).toBe(NAME);
    expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
    const word = phone.page.locator('#verdict strong');
    expect(await word.innerText()).toBe('fail');
    const place = await word.boundingBox();
    expect((place?.y ?? PHONE.height) + (place?.height ?? 0)).toBeLessThan(PHONE.height / 2);
    await phone.page.locator('button[data-set=zh]').click();
    expect(await word.innerText()).toBe('失败');
    expect(await phone.page.locator('.reasons').innerText()).toContain('不成立');
    expect(await phone.page.evaluate('document.documentElement.lang')).toBe('zh-Hans');
    expect(phone.complaints).toEqual([]);

    const desk = await openFile(browser, file, {
      viewport: DESK,
      locale: 'zh-CN',
      colorScheme: 'dark',
    });
    await picture(desk.page, 'desk-dark-zh');
    expect(await desk.page.locator('#verdict strong').innerText()).toBe('失败');
    await desk.page.locator('button[data-set=en]').click();
    await readsOffCharts(desk.page);
    expect(await faultsOf(desk.page)).toEqual([]);
    expect(desk.complaints).toEqual([]);

    const paper = await openFile(browser, file, { viewport: PAPER, locale: 'en-US' });
    expect(await faultsOf(paper.page)).toEqual([]);
    await paper.page.emulateMedia({ media: 'print' });
    await picture(paper.page, 'paper');
    expect(await paper.page.locator('.languages').isVisible()).toBe(false);
    expect(await cutOff(paper.page)).toEqual([]);
    expect((await paper.page.pdf({ format: 'A4' })).subarray(0, 5).toString()).toBe('%PDF-');

    await Promise.all(
      ['html', 'csv'].map(async (format) => {
        const drawn = await squall(['report', result.out, '--format', format]);
        expect(drawn.stdout).toBe(readFileSync(path.join(result.out, `report.${format}`), 'utf8'));
      }),
    );
    const nowhere = await squall(['report', path.join(result.out, 'other')]);
    expect(nowhere).toMatchObject({ code: 2 });
    expect(nowhere.stderr).toContain('give the folder of a local run');
  });
});

/** By pointer and by keys. */
async function readsOffCharts(page: Page): Promise<void> {
  const chart = page.locator('figure', { hasText: 'Load' }).first();
  const plot = chart.locator('.plot');
  await plot.scrollIntoViewIfNeeded();
  await plot.hover();
  expect(await chart.locator('.read').innerText()).toMatch(/devices sent [\d.]+\/s/);
  await plot.focus();
  await page.keyboard.press('Home');
  expect(await chart.locator('.read').innerText()).toMatch(/^0/);
  await page.keyboard.press('ArrowRight');
  expect(await chart.locator('.read').innerText()).toMatch(/^1 s/);
  expect(await chart.locator('.bands').innerText()).toContain('warm-up');
  await chart.locator('summary').click();
  expect(await chart.locator('tbody tr').count()).toBeGreaterThan(4);
}

/** What keeps people with an impairment out, by axe: WCAG 2.1 A and AA, contrasts included. */
async function faultsOf(page: Page): Promise<string[]> {
  // The page lets no script in, so axe comes through the debugger.
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as {
      axe: { run(options: object): Promise<AxeResult> };
    };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];
    const { violations } = await inPage.run({ runOnly: { type: 'tag', values: tags } });
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
  });
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: { readonly html: string }[];
  }[];
}

/** Tables that are wider than the paper: nobody can scroll there. */
function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('.wide')]
    .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1)
    .map((box) => box.innerText.slice(0, 80))`);
}

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await page.screenshot({ path: path.join(PICTURES, `${name}.png`), fullPage: name === 'paper' });
}
