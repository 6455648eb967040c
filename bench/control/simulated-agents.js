// Agents of the fleet benchmark: each with a link of its own, they speak the control protocol and
// send a frame a second. There are no workers and no broker; what they report is made up.
//
//   node simulated-agents.js URL AGENTS GROUPS
//
// Prints "connected" when all of them send frames. A line on standard input is answered by
// {"sent":N,"acked":N}: frames of all agents, handed over and acknowledged; end of input ends it.
import { answerMarks } from './marks.js';
import { CONTROL_PROTOCOL } from '@squall/core/control';
import { encodeFrame } from '@squall/core/metrics';
import { WebSocket } from 'ws';
import { slice } from '../frames.js';
import { monotonicUs } from '../worker-host.js';

const [url, agentCount, groupCount] = process.argv.slice(2);
const groups = Number(groupCount);
const SECOND_US = 1_000_000;
/** As agents do it in a run: each second a heartbeat and a burst of probes, with what they gave. */
const EACH_MS = 1000;
const PROBES = 4;
/** Most frames that an agent of this benchmark may have unacknowledged. */
const MAX_UNACKED = 120;

class SimulatedAgent {
  #socket;
  #id;
  #index;
  #run = null;
  #startUs = 0;
  #unacked = new Map();
  sent = 0;
  acked = 0;

  constructor(index) {
    this.#index = index;
    this.#id = `agent-${String(index).padStart(3, '0')}`;
  }

  async join() {
    this.#socket = new WebSocket(url, { perMessageDeflate: false });
    await new Promise((resolve, reject) =>
      this.#socket.once('open', resolve).once('error', reject),
    );
    this.#socket.on('message', (data) => this.#obey(JSON.parse(data)));
    this.#socket.on('close', (code, reason) => {
      throw new Error(`the link of ${this.#id} was closed: ${code} ${reason}`);
    });
    this.#say({
      type: 'hello',
      protocol: CONTROL_PROTOCOL,
      token: process.env.SQUALL_TOKEN ?? '',
      agent: this.#facts(),
      resume: null,
    });
    setInterval(() => this.#beat(), EACH_MS);
  }

  /** Second `n` of the last stage, whose clock started at `clockUs`. */
  report(n, clockUs) {
    if (this.#run === null) return;
    if (this.#unacked.size >= MAX_UNACKED) throw new Error(`${this.#id} gets no acknowledgements`);
    const fromUs = clockUs - this.#startUs + n * SECOND_US;
    const slices = [slice({ groups, n, fromUs, variant: this.#index * 100_000 + n })];
    const seq = ++this.sent;
    const bytes = encodeFrame({ ...this.#run, agent: this.#id, seqFrom: seq, seqTo: seq, slices });
    this.#unacked.set(seq, bytes);
    this.#socket.send(bytes, { binary: true });
  }

  #obey(message) {
    switch (message.type) {
      case 'assign':
        this.#run = { run: message.run, epoch: message.epoch };
        this.#say({ type: 'ready', ...this.#run });
        return;
      case 'advance':
        if (message.stage === 0) this.#connectStage(message.at);
        else if (message.stage === 1) startReports(message.at);
        return;
      case 'frame_ack':
        for (const seq of this.#unacked.keys()) if (seq <= message.seq) this.#unacked.delete(seq);
        this.acked = message.seq;
    }
  }

  #connectStage(atUs) {
    this.#startUs = atUs;
    at(atUs, () => {
      this.#say({ type: 'started', ...this.#run, skewUs: 1000 });
      this.#say({ type: 'stage_state', ...this.#run, stage: 0, state: 'complete', failed: {} });
    });
  }

  #beat() {
    const health = { cpuSeconds: 1, rssBytes: 1e8, loopDelayP99Us: 1000, outboxFrames: 0 };
    this.#say({ type: 'heartbeat', health });
    for (let probe = 0; probe < PROBES; probe++) {
      this.#say({ type: 'clock_probe', agentSentUs: monotonicUs() });
    }
    const agentUs = Number(process.hrtime.bigint()) / 1_000;
    this.#say({ type: 'clock_report', agentUs, offsetUs: 0, boundUs: 50, rttUs: 100 });
  }

  #say(message) {
    this.#socket.send(JSON.stringify(message));
  }

  #facts() {
    return {
      id: this.#id,
      host: `host-${this.#index}`,
      pid: 1000 + this.#index,
      version: '0.1.0',
      cores: 2,
      workers: 1,
      memoryBytes: 2 ** 30,
      descriptorLimit: 65_536,
      descriptorsFree: 65_000,
      ports: 28_000,
      clockDomain: 'simulated',
      labels: {},
    };
  }
}

const agents = Array.from({ length: Number(agentCount) }, (_, index) => new SimulatedAgent(index));
let reporting = false;

/** All agents cut their seconds at the same moments, so their frames come in one crowd. */
function startReports(clockUs) {
  if (reporting) return;
  reporting = true;
  const cut = (n) =>
    at(clockUs + (n + 1) * SECOND_US, () => {
      for (const agent of agents) agent.report(n, clockUs);
      if (n === 0) process.stdout.write('connected\n');
      cut(n + 1);
    });
  cut(0);
}

function at(momentUs, action) {
  setTimeout(() => action(), Math.max(0, (momentUs - monotonicUs()) / 1000));
}

for (const agent of agents) await agent.join();

const total = (figure) => agents.reduce((sum, agent) => sum + agent[figure], 0);
answerMarks(() => ({ sent: total('sent'), acked: total('acked') }));
