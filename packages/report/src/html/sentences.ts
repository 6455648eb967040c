import { type Html, html, said } from './markup.ts';

/**
 * Sentences that reports are made of, in Chinese: the fixed words around what they tell. What is put
 * in (thresholds, names, figures) stays as it is. A sentence that is not here is shown in English.
 */
const SENTENCES: readonly (readonly [pattern: RegExp, chinese: string])[] = [
  [/^the threshold holds$/, '阈值成立'],
  [/^all (\d+) thresholds hold$/, '全部 $1 条阈值成立'],
  [/^the other threshold holds$/, '其余一条阈值成立'],
  [/^all (\d+) other thresholds hold$/, '其余 $1 条阈值全部成立'],
  [
    /^the plan has no thresholds: nothing but the generator was judged$/,
    '计划中没有阈值：只评判了负载发生器自身',
  ],
  [/^threshold "(.*)" holds: (.*)$/s, '阈值“$1”成立：$2'],
  [
    /^threshold "(.*)" does not hold: (.*), (\d+) of (\d+) windows did not hold(.*)$/s,
    '阈值“$1”不成立：$2，$4 个窗口中有 $3 个未达标$5',
  ],
  [/^threshold "(.*)" does not hold: (.*)$/s, '阈值“$1”不成立：$2'],
  [/^threshold "(.*)" has no data(.*)$/s, '阈值“$1”没有数据$2'],
  [/^threshold "(.*)" is inconclusive(.*)$/s, '阈值“$1”无法判定$2'],
  [
    /^Delivery was not verified: what was received is counted, but not what was lost\.$/,
    '没有核对投递：收到的已计数，丢失的未计数。',
  ],
  [
    /^the generator was not healthy, so its figures cannot be believed: (.*)$/s,
    '负载发生器不健康，其数据不可信：$1',
  ],
  [
    /^the generator was not quite healthy, which --strict does not accept: (.*)$/s,
    '负载发生器不够健康，--strict 不予接受：$1',
  ],
  [/^the generator was not quite healthy: (.*)$/s, '负载发生器不够健康：$1'],
  [/^the balance (.*) holds: (.*)$/s, '对账 $1 成立：$2'],
  [
    /^the balance (.*) does not hold: (.*); ([\d,.]+) less than the first(.*)$/s,
    '对账 $1 不成立：$2；比第一项少 $3$4',
  ],
  [
    /^the balance (.*) does not hold: (.*); ([\d,.]+) more than the first(.*)$/s,
    '对账 $1 不成立：$2；比第一项多 $3$4',
  ],
  [/^the balance (.*) is inconclusive: (.*)$/s, '对账 $1 无法判定：$2'],
  [
    /^the generator itself was late by up to (\S+) \(agent (.*)\) where threshold "(.*)" did not hold \((.*)\): this failure is explained by it, wholly or in part$/s,
    '阈值“$3”不成立时（$4），发生器自身最多滞后 $1（代理 $2）：此失败全部或部分由此造成',
  ],
  [
    /^nothing was tested with (.*): none of its clients could connect(.*)$/s,
    '$1 什么也没有测到：没有一个客户端连接成功$2',
  ],
  [
    /^nothing was tested with (.*): none of its messages was published(.*)$/s,
    '$1 什么也没有测到：没有一条消息发布成功$2',
  ],
  [
    /^nothing was tested with (.*): none of its subscriptions was granted(.*)$/s,
    '$1 什么也没有测到：没有一个订阅获准$2',
  ],
  [
    /^(.* → .*): ([\d,]+) of ([\d,]+) messages? lost at QoS (\d)(.*)$/s,
    '$1：QoS $4 的 $3 条消息丢失 $2 条$5',
  ],
  [/^(.* → .*): ([\d,]+) messages? duplicated at QoS 2(.*)$/s, '$1：QoS 2 的消息重复 $2 条$3'],
  [/^(.* → .*): ([\d,]+) messages? corrupted(.*)$/s, '$1：$2 条消息损坏$3'],
  [/^Probe (.*): (\d+) of (\d+) readings failed: (.*)\.$/s, '探针 $1：$3 次读数中 $2 次失败：$4。'],
  [/^and (\d+) more reasons$/, '还有 $1 条原因'],
  [/^the run ended as (\w+)$/, '运行以 $1 结束'],
];

/** A sentence of the report for readers of both languages. */
export function sentence(english: string): Html {
  for (const [pattern, chinese] of SENTENCES) {
    if (!pattern.test(english)) continue;
    return html`<span lang="en">${said(english)}</span><span lang="zh-Hans">${said(english.replace(pattern, chinese))}</span>`;
  }
  return html`<span class="always">${said(english)}</span>`;
}
