// The controls (and made-up agents) of the benchmarks, each a process that answers marks on its standard input.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const CONNECT_DEADLINE_MS = 60_000;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Compiles a control in C; null where there is no C compiler (the bench then says so). */
export function compileControl(name) {
  mkdirSync(here('build'), { recursive: true });
  const binary = here(`build/${name}`);
  for (const compiler of ['cc', 'gcc', 'clang']) {
    const built = spawnSync(compiler, ['-O2', '-o', binary, here(`control/${name}.c`)]);
    if (built.status === 0) return binary;
  }
  return null;
}

export function compileEpollPublisher() {
  return compileControl('epoll-publisher');
}

export function startEpollPublisher(binary, load) {
  return startControl(binary, argumentsOf(load));
}

/** Subscribers of one publisher, in C. */
export function startEpollFanOut(binary, load) {
  const { host, port, subscribers, everyMs, payloadBytes, qos } = load;
  const args = [host, port, subscribers, everyMs, payloadBytes, qos];
  return startControl(binary, args.map(String));
}

export function startMqttJsPublisher(load) {
  return startControl(process.execPath, [
    here('control/mqttjs-publisher.js'),
    ...argumentsOf(load),
  ]);
}

/** The same clients as `startMqttJsClosedLoop`, in C. */
export function startEpollClosedLoop(binary, { host, port, clients, inflight, payloadBytes }) {
  return startControl(binary, [host, port, clients, inflight, payloadBytes].map(String));
}

/** MQTT.js clients that keep `inflight` messages under way each. */
export function startMqttJsClosedLoop({ host, port, clients, inflight, payloadBytes }) {
  return startControl(process.execPath, [
    here('control/mqttjs-closed-loop.js'),
    ...[host, port, clients, inflight, payloadBytes].map(String),
  ]);
}

/** Bare sockets in Node; `execArgv` are flags of the process (heap size, probe). */
export function startSocketPublisher(load, execArgv) {
  return startControl(process.execPath, [
    ...execArgv,
    here('control/socket-publisher.js'),
    ...argumentsOf(load),
  ]);
}

/** Bare TLS sockets in Node. */
export function startTlsPublisher(load) {
  return startControl(process.execPath, [here('control/tls-publisher.js'), ...argumentsOf(load)]);
}

/** Agents for the controller at `url`; their marks are frames sent and acknowledged. */
export function startSimulatedAgents({ url, agents, groups }) {
  return startControl(process.execPath, [
    here('control/simulated-agents.js'),
    url,
    String(agents),
    String(groups),
  ]);
}

function argumentsOf({ host, port, clients, everyMs, payloadBytes }) {
  return [host, port, clients, everyMs, payloadBytes].map(String);
}

/** Resolves when all its clients are connected. */
async function startControl(command, args) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), CONNECT_DEADLINE_MS);
    const { value, done } = await lines.next();
    clearTimeout(timer);
    if (done) throw new Error(`${command} ended before it answered`);
    return value;
  };
  if ((await next()) !== 'connected') throw new Error(`${command} did not connect`);
  return {
    pid: child.pid,
    /** The next line of its output, for what it prints when it is asked by a signal. */
    line: next,
    /** Messages acknowledged and CPU used up to now. */
    async mark() {
      child.stdin.write('\n');
      return JSON.parse(await next());
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await ended;
    },
  };
}
