// Slices as workers report them, for benchmarks of what comes after the workers: same series, same
// shape, times drawn from a log-normal distribution by a seed.
import { Histogram } from '@squall/core/metrics';

/** Series of one group in a slice. */
export const SERIES_A_GROUP = 10;
/** Messages of a group and agent in a second: each fills a bucket of its own as long as it is fast. */
const MESSAGES = 500;
const MEDIAN_US = 2000;
const SIGMA = 0.6;
/** Different histograms that are drawn from. */
const VARIETY = 64;

const COUNTERS = ['scheduled', 'sent', 'acked', 'published', 'bytes_sent'];
const GAUGES = ['connections', 'inflight'];
const TIMES = ['lateness', 'service_time', 'publish_time'];

const histograms = histogramsOf(VARIETY);

/** Plan text for `agents`, with `groups` publishing groups and thresholds of each sort. */
export function planText(groups, agents) {
  const names = Array.from({ length: groups }, (_, index) => groupName(index));
  const each = (text) => names.map(text).join('\n');
  return `
squall: 1
name: frames
targets: { broker: { protocol: mqtt, urls: ["mqtt://127.0.0.1:1883"] } }
groups:
${each((name) => `  ${name}: { target: broker, clients: 1000, publish: { topic: "${name}/{{n}}", qos: 1, payload: 200B, every: 2s } }`)}
stages:
  - { name: connect, run: { ${names.map((name) => `${name}: connect`).join(', ')} } }
  - { name: publish, run: { ${names.map((name) => `${name}: publish`).join(', ')} }, for: 10h }
limits: { maxDuration: 20h, agents: { count: ${agents} } }
thresholds:
  - "connect_failed: count == 0"
  - "publish_failed: share < 0.1%"
  - "published: rate > 1/s over 10s in publish"
  - "publish_time: p(99) < 10s over 5s in publish"
  - "publish_time: p(99.9) < 20s in publish"
`;
}

/** Second `n` of stage 1, as one agent saw it. `variant` tells agents and seconds apart. */
export function slice({ groups, n, fromUs, variant }) {
  const series = [];
  for (let group = 0; group < groups; group++) {
    const key = { subject: groupName(group), stage: 1 };
    const draw = mulberry32(variant * groups + group);
    const value = () => MESSAGES + Math.floor(draw() * 50);
    for (const metric of GAUGES) series.push({ metric, ...key, value: value() });
    for (const metric of COUNTERS) series.push({ metric, ...key, qos: 1, value: value() });
    for (const metric of TIMES) {
      const histogram = histograms[Math.floor(draw() * VARIETY)];
      series.push({ metric, ...key, qos: 1, histogram });
    }
  }
  const toUs = fromUs + 1_000_000;
  return { stage: 1, phase: 'main', n, span: 1, fromUs, toUs, series, examples: [] };
}

function groupName(index) {
  return `group-${index}`;
}

function histogramsOf(count) {
  const random = mulberry32(4711);
  return Array.from({ length: count }, () => {
    const histogram = new Histogram();
    for (let i = 0; i < MESSAGES; i++)
      histogram.record(MEDIAN_US * Math.exp(SIGMA * normal(random)));
    return histogram.toSparse();
  });
}

/** A standard normal number, by Box and Muller. */
function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Numbers in [0, 1) from a seed: the generator known by this name. */
function mulberry32(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
