// Requests with a stamped message each, to the webhook receiver and to a bare server of node:http in the
// same rounds: requests for a second of the server's CPU time.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { runHash, StampWriter } from '@squall/core/stamp';
import { cpuSeconds } from './process-figures.js';
import { median, spread } from './statistics.js';

const HOST = fileURLToPath(new URL('./hook-host.js', import.meta.url));
const ROUNDS = 3;
const CONNECTIONS = 16;
const PAYLOAD_BYTES = 200;
const LEAST_RATIO = 0.4;
const LOAD = { warmUpMs: 500, ms: 2_000 };

/** What rule engines send. */
const FORMS = {
  raw: (payload) => payload,
  json: (payload) => Buffer.from(jsonOf(payload)),
  'batch of 100': (_payload, next) =>
    Buffer.from(`[${Array.from({ length: 100 }, () => jsonOf(next())).join(',')}]`),
};

const jsonOf = (payload) =>
  JSON.stringify({
    topic: 'devices/1/up',
    qos: 1,
    clientid: 'device-1',
    payload: payload.toString('base64'),
  });

export async function webhook() {
  const figures = [];
  const goals = [];
  for (const form of Object.keys(FORMS)) {
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) {
      const pair = round % 2 === 0 ? ['bare', 'ours'] : ['ours', 'bare'];
      const of = {};
      for (const kind of pair) of[kind] = await measure(kind, form);
      rounds.push(of);
    }
    const ratios = rounds.map(({ ours, bare }) => ours / bare);
    const perCpu = (kind) =>
      spread(
        rounds.map((of) => of[kind]),
        0,
      );
    figures.push([`${form}: requests per CPU second`, `${perCpu('ours')}, bare ${perCpu('bare')}`]);
    if (form === 'batch of 100') {
      figures.push([
        `${form}: messages per CPU second`,
        spread(
          rounds.map(({ ours }) => ours * 100),
          0,
        ),
      ]);
      figures.push([`${form}: of the bare server's requests`, spread(ratios)]);
    } else {
      goals.push({
        text: `${form}: requests per CPU second, of a bare node:http server ≥ ${LEAST_RATIO}`,
        observed: spread(ratios),
        holds: median(ratios) >= LEAST_RATIO,
      });
    }
  }
  return { name: 'webhook', rounds: ROUNDS, figures, goals };
}

/** Requests for a CPU second of the server. */
async function measure(kind, form) {
  const child = fork(HOST, [kind], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    const [{ port }] = await once(child, 'message');
    const load = new Load(form);
    await load.connect(port);
    await load.run(LOAD.warmUpMs);
    const cpu = cpuSeconds(child.pid);
    const answered = load.answered;
    await load.run(LOAD.ms);
    const perCpu = (load.answered - answered) / (cpuSeconds(child.pid) - cpu);
    child.send('messages');
    const [{ messages }] = await once(child, 'message');
    const wanted = load.sent * (kind === 'ours' && form === 'batch of 100' ? 100 : 1);
    if (messages !== wanted) throw new Error(`${kind} counted ${messages} of ${wanted}`);
    load.close();
    return perCpu;
  } finally {
    child.kill();
  }
}

/** A request under way on each of a few connections, written and read as bare bytes. */
class Load {
  answered = 0;
  sent = 0;
  #form;
  #sockets = [];
  #running = false;
  #seq = 0;
  #writer = new StampWriter({ runHash: runHash('bench'), subject: 0, clockDomain: 1 });

  constructor(form) {
    this.#form = FORMS[form];
  }

  async connect(port) {
    for (let k = 0; k < CONNECTIONS; k++) {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.setNoDelay(true);
      // Answers have no body: one blank line ends each.
      socket.on('data', (bytes) => {
        if (!bytes.includes('\r\n\r\n')) throw new Error('an answer came in parts');
        this.answered += 1;
        if (this.#running) this.#send(socket);
      });
      this.#sockets.push(socket);
    }
  }

  async run(ms) {
    this.#running = true;
    for (const socket of this.#sockets) this.#send(socket);
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#running = false;
    while (this.answered < this.sent) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  close() {
    for (const socket of this.#sockets) socket.destroy();
  }

  #send(socket) {
    this.sent += 1;
    const body = this.#form(this.#next(), () => this.#next());
    socket.write(
      `POST /hook HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
  }

  #next() {
    const bytes = Buffer.alloc(PAYLOAD_BYTES);
    const writer = this.#writer;
    writer.publisher = this.#seq % 1_000;
    writer.seq = Math.floor(this.#seq / 1_000);
    this.#seq += 1;
    writer.timesUs.fill(1);
    writer.takeRest(bytes, 0, bytes.length);
    writer.write(bytes, 0);
    return bytes;
  }
}
