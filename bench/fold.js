// What one frame costs the controller: from its bytes to totals, time line, closed seconds and the
// judge's opinion, as the controller does it for each frame. The control parses the same JSON.
import { decodeFrame, encodeFrame, RunAggregate, WATERMARK_US } from '@squall/core/metrics';
import { readPlan } from '@squall/core/plan';
import { GeneratorWatch } from '@squall/core/report';
import { Judge } from '@squall/core/thresholds';
import { TimelineRecorder } from './controller-parts.js';
import { planText, SERIES_A_GROUP, slice } from './frames.js';
import { median, spread } from './statistics.js';

const ROUNDS = 15;
const AGENTS = ['agent-1', 'agent-2', 'agent-3', 'agent-4', 'agent-5'];
const SECONDS = 60;
/** Series of a frame, each twice the one before. */
const SIZES = [10, 20, 40, 80];
const JUDGED_SIZE = 20;
const MOST_MS = 1;
/**
 * 2 is linear, 4 quadratic. A part of the rest is garbage collection, which takes a fifth of the time
 * at 20 series and a quarter at 160.
 */
const MOST_A_DOUBLING = 2.3;
const HOUR_S = 3600;
/** Time lines of the controller are put away every few seconds. */
const KEPT_EVERY_S = 5;
const SECOND_US = 1_000_000;

const { plan } = readPlan(planText(Math.max(...SIZES) / SERIES_A_GROUP, AGENTS.length));

export function fold() {
  const frames = new Map(SIZES.map((size) => [size, framesOf(size, 0)]));
  const cost = new Map(SIZES.map((size) => [size, []]));
  const parsing = new Map(SIZES.map((size) => [size, []]));
  // The first round is for the optimising compiler.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const size of SIZES) {
      const folded = cpuUsOf(frames.get(size), folderOf());
      const parsed = cpuUsOf(frames.get(size), (bytes) =>
        JSON.parse(new TextDecoder().decode(bytes)),
      );
      if (round === 0) continue;
      cost.get(size).push(folded);
      parsing.get(size).push(parsed);
    }
  }
  return report(cost, parsing, afterAnHour());
}

function framesOf(size, fromSecond) {
  const frames = [];
  for (let second = fromSecond; second < fromSecond + SECONDS; second++) {
    for (const agent of AGENTS) frames.push(frameOf(agent, size, second));
  }
  return frames;
}

function frameOf(agent, size, second) {
  const variant = second * AGENTS.length + AGENTS.indexOf(agent);
  const groups = size / SERIES_A_GROUP;
  const slices = [slice({ groups, n: second, fromUs: second * SECOND_US, variant })];
  const seq = second + 1;
  return encodeFrame({ run: 'bench', agent, epoch: 1, seqFrom: seq, seqTo: seq, slices });
}

/** All that a run does with a frame (`Measurements` and `LiveRun` of the controller). */
function folderOf() {
  const aggregate = new RunAggregate('bench');
  const judge = new Judge({ plan, agents: AGENTS });
  const generator = new GeneratorWatch();
  const timeline = new TimelineRecorder();
  aggregate.onSlice((agent, one) => {
    judge.add(agent, one);
    generator.add(agent, one);
    timeline.add(agent, one);
  });
  let keptS = 0;
  return (bytes) => {
    const frame = decodeFrame(bytes);
    aggregate.fold(frame);
    const nowUs = frame.slices[0].toUs;
    aggregate.closedUpTo(AGENTS, nowUs, WATERMARK_US);
    judge.advance(nowUs);
    if (nowUs < (keptS + KEPT_EVERY_S) * SECOND_US) return;
    keptS = nowUs / SECOND_US;
    timeline.changed().kept();
  };
}

/** CPU µs a frame, garbage collection in other threads included. */
function cpuUsOf(frames, take) {
  const before = process.cpuUsage();
  for (const bytes of frames) take(bytes);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / frames.length;
}

/** The same in a run that has gone on for an hour. */
function afterAnHour() {
  const take = folderOf();
  for (let second = 0; second < HOUR_S; second++) {
    for (const agent of AGENTS) take(frameOf(agent, JUDGED_SIZE, second));
  }
  return Array.from({ length: ROUNDS }, (_, round) =>
    cpuUsOf(framesOf(JUDGED_SIZE, HOUR_S + round * SECONDS), take),
  );
}

const ms = (us) => us.map((value) => value / 1000);

function report(cost, parsing, lateUs) {
  const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
  // Of medians: what disturbs one size of one round would count twice in a ratio of that round.
  const doublings = SIZES.slice(1).map((size, at) => {
    const half = SIZES[at];
    return { size, half, ratio: median(cost.get(size)) / median(cost.get(half)) };
  });
  const overParsing = rounds.map((k) => cost.get(JUDGED_SIZE)[k] / parsing.get(JUDGED_SIZE)[k]);
  return {
    name: 'fold',
    rounds: ROUNDS,
    figures: [
      ['bytes of a frame', String(frameOf(AGENTS[0], JUDGED_SIZE, 0).length)],
      ...SIZES.map((size) => [`${size} series, CPU ms a frame`, spread(ms(cost.get(size)), 3)]),
      [`${JUDGED_SIZE} series ÷ parsing the JSON alone`, spread(overParsing)],
    ],
    goals: [
      {
        text: `${JUDGED_SIZE} series, CPU ms a frame ≤ ${MOST_MS}`,
        observed: spread(ms(cost.get(JUDGED_SIZE)), 3),
        holds: median(cost.get(JUDGED_SIZE)) <= MOST_MS * 1000,
      },
      {
        text: `the same after an hour of the run ≤ ${MOST_MS}`,
        observed: spread(ms(lateUs), 3),
        holds: median(lateUs) <= MOST_MS * 1000,
      },
      ...doublings.map(({ size, half, ratio }) => ({
        text: `${size} series ÷ ${half} series ≤ ${MOST_A_DOUBLING}`,
        observed: ratio.toFixed(2),
        holds: ratio <= MOST_A_DOUBLING,
      })),
    ],
  };
}
