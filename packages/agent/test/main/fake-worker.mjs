// A worker as the agent's main process sees it, without any load. Its secrets say how it misbehaves:
// { "worker1": "crash" } concerns worker 1 alone.
const SLICE_MS = 50;

let init;
let behaviour = '';
let stages = 0;
let n = 0;
let total = 0;
let phase = 'main';
let sliceTimer;
let pages = 0;

const say = (message) => process.send(message);
const nowUs = () => Number(process.hrtime.bigint()) / 1000;

function slice(series) {
  say({
    type: 'slice',
    loopDelayP99Us: 100,
    slice: {
      stage: 0,
      phase,
      n,
      span: 1,
      fromUs: n * SLICE_MS * 1000,
      toUs: (n + 1) * SLICE_MS * 1000,
      series,
      examples: [],
    },
  });
  n++;
}

function ledgerPage(page) {
  const clock = { domain: 1, startUs: 0 };
  const rows = [init.worker, 0, 0, page, 1, 0];
  say({
    type: 'ledger',
    page: { worker: init.worker, page, last: false, clock, kind: 'pairs', rows },
  });
}

function tick() {
  const sent = init.worker + 1;
  total += sent;
  slice([
    { metric: 'sent', subject: 'g', stage: 0, value: sent },
    { metric: 'connections', subject: 'g', stage: 0, value: 1 },
  ]);
  if (behaviour === 'crash' && n === 4) throw new Error('the heap is on fire');
  if (behaviour === 'kill' && n === 4) process.kill(process.pid, 'SIGKILL');
  if (behaviour === 'silent' && n === 4) clearInterval(sliceTimer);
  if (behaviour === 'vanish' && n === 4) process.exit(0);
}

function start(atUs) {
  setTimeout(
    () => {
      say({ type: 'started', skewUs: nowUs() - atUs });
      sliceTimer = setInterval(tick, SLICE_MS);
      say({ type: 'stage_state', stage: 0, state: 'prologue_done', failed: { g: 1 } });
    },
    Math.max(0, (atUs - nowUs()) / 1000),
  );
}

function end() {
  phase = 'settle';
  n = 0;
  if (behaviour === 'never_drained') return;
  say({ type: 'stage_state', stage: stages - 1, state: 'drained', failed: {} });
}

const handlers = {
  init(message) {
    init = message;
    stages = message.plan.stages.length;
    behaviour = message.secrets[`worker${message.worker}`] ?? '';
    if (behaviour === 'refuse') say({ type: 'refused', reasons: ['no such broker'] });
    else if (behaviour === 'crash_early') throw new Error('cannot read the plan');
    else if (behaviour !== 'never_ready') say({ type: 'ready' });
  },
  advance({ stage, atUs }) {
    if (stage === 0) start(atUs);
    else if (stage >= stages) setTimeout(end, Math.max(0, (atUs - nowUs()) / 1000));
  },
  clock() {},
  stop({ mode }) {
    if (mode === 'hard') clearInterval(sliceTimer);
    end();
  },
  finish() {
    clearInterval(sliceTimer);
    if (behaviour === 'never_finished') return;
    slice([{ metric: 'planned', subject: 'g', stage: 0, value: total }]);
    handlers.next_page();
  },
  next_page() {
    if (pages < (behaviour === 'many_pages' ? 100 : 2)) {
      pages++;
      ledgerPage(pages - 1);
      return;
    }
    say({ type: 'finished', cpuSeconds: 0.5, rssBytesMax: 1_000_000 });
    process.disconnect();
  },
};

process.on('message', (message) => handlers[message.type](message));
process.on('disconnect', () => process.exit(0));
// One that ignores the gentle signal must be ended all the same.
process.on('SIGTERM', () => {});
say({ type: 'hello' });
