import type { FigureUnit } from '@squall/core/probes';
import { pageOf } from '../http/page.ts';
import { type Figure, type Probe, ProbeError, type Reading } from '../probe.ts';
import { pageLines } from './lines.ts';
import { type ExpositionSample, nameOf, parseSample } from './sample.ts';

/** What is added up of a page; rates come from two pages. */
interface Page {
  readonly atMs: number;
  readonly cpu: Map<string, number>;
  readonly cores: Set<string>;
  readonly sums: Map<string, number>;
}

/** Read as they are. */
const SINGLE = new Set([
  'node_load1',
  'node_memory_MemTotal_bytes',
  'node_memory_MemAvailable_bytes',
  'node_time_seconds',
]);
/** What is no card of the host: its traffic is counted by one, or never leaves the host. */
const NO_CARD = /^(?:lo$|docker|veth|br-|virbr|cni|flannel|cali|ifb|tun|tap|bond|team|.*\.\d+$)/;
const NO_DISK = /^(?:loop|ram|dm-|md|sr|fd)/;
/** Counters, with their figure and the devices that are left out. */
const FLOWS = new Map<string, readonly [figure: string, leftOut: RegExp]>([
  ['node_network_receive_bytes_total', ['net_in', NO_CARD]],
  ['node_network_transmit_bytes_total', ['net_out', NO_CARD]],
  ['node_disk_read_bytes_total', ['disk_read', NO_DISK]],
  ['node_disk_written_bytes_total', ['disk_written', NO_DISK]],
]);

/**
 * The figures of a host by its node_exporter: shares of its CPU time, load, memory, network without the
 * loopback, disks. Shares and rates are those since the reading before, so the first one has none.
 */
export class NodeProbe implements Probe {
  readonly #page: ReturnType<typeof pageOf>;
  #before: Page | null = null;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.#page = pageOf(url, headers);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const page = await this.#readPage(signal);
    const figures = new Map<string, Figure>();
    addNow(page, figures);
    if (this.#before !== null) addSince(this.#before, page, figures);
    this.#before = page;
    return figures;
  }

  async close(): Promise<void> {}

  async #readPage(signal: AbortSignal): Promise<Page> {
    const page: Page = {
      atMs: performance.now(),
      cpu: new Map(),
      cores: new Set(),
      sums: new Map(),
    };
    for await (const line of pageLines({ ...this.#page, signal })) take(line, page);
    if (page.cores.size === 0) throw new ProbeError('not a page of node_exporter');
    return page;
  }
}

function take(line: string, page: Page): void {
  const name = nameOf(line);
  if (name === null || !isWanted(name)) return;
  const sample = parseSample(line);
  if (sample === null || Number.isNaN(sample.value)) return;
  if (name === 'node_cpu_seconds_total') takeCpu(sample, page);
  else takeSum(sample, page);
}

function isWanted(name: string): boolean {
  return name === 'node_cpu_seconds_total' || SINGLE.has(name) || FLOWS.has(name);
}

function takeCpu({ labels, value }: ExpositionSample, page: Page): void {
  const mode = labels.get('mode') ?? '';
  // What a Prometheus collects of several hosts has their cores all in one.
  page.cores.add(`${labels.get('instance') ?? ''} ${labels.get('cpu') ?? ''}`);
  page.cpu.set(mode, (page.cpu.get(mode) ?? 0) + value);
}

function takeSum({ name, labels, value }: ExpositionSample, page: Page): void {
  const flow = FLOWS.get(name);
  if (flow?.[1].test(labels.get('device') ?? '') === true) return;
  const key = flow?.[0] ?? name;
  page.sums.set(key, (page.sums.get(key) ?? 0) + value);
}

function addNow({ cores, sums }: Page, figures: Map<string, Figure>): void {
  const load = sums.get('node_load1');
  if (load !== undefined) {
    figures.set('load', gauge(load, 'count'));
    figures.set('load_per_core', gauge(load / cores.size, 'count'));
  }
  const total = sums.get('node_memory_MemTotal_bytes');
  const free = sums.get('node_memory_MemAvailable_bytes');
  if (total === undefined || free === undefined || total <= 0) return;
  figures.set('memory_used', gauge(total - free, 'bytes'));
  figures.set('memory_used_share', gauge((total - free) / total, 'share'));
}

function addSince(before: Page, page: Page, figures: Map<string, Figure>): void {
  const spent = new Map(
    [...page.cpu].map(([mode, value]) => [mode, value - (before.cpu.get(mode) ?? 0)]),
  );
  const all = [...spent.values()].reduce((sum, value) => sum + value, 0);
  // A host that was restarted in between has spent less than nothing.
  const sound = all > 0 && [...spent.values()].every((value) => value >= 0);
  const shareOf = (...modes: string[]): Figure =>
    gauge(modes.reduce((sum, mode) => sum + (spent.get(mode) ?? 0), 0) / all, 'share');
  if (sound) {
    figures.set('cpu_user', shareOf('user'));
    figures.set('cpu_system', shareOf('system'));
    figures.set('cpu_iowait', shareOf('iowait'));
    figures.set('cpu_idle', shareOf('idle'));
    figures.set('cpu_steal', shareOf('steal'));
    // Waiting for a disk is part of "not busy".
    figures.set('cpu_used', gauge(1 - shareOf('idle', 'iowait').value, 'share'));
  }
  const seconds = secondsBetween(before, page);
  for (const [figure] of FLOWS.values()) {
    const grown = (page.sums.get(figure) ?? Number.NaN) - (before.sums.get(figure) ?? Number.NaN);
    if (grown >= 0 && seconds > 0) figures.set(figure, gauge(grown / seconds, 'bytes_per_second'));
  }
}

/** By the host's own clock, where it tells it. */
function secondsBetween(before: Page, page: Page): number {
  const ofHost =
    (page.sums.get('node_time_seconds') ?? 0) - (before.sums.get('node_time_seconds') ?? 0);
  return ofHost > 0 ? ofHost : (page.atMs - before.atMs) / 1_000;
}

const gauge = (value: number, unit: FigureUnit): Figure => ({ value, kind: 'gauge', unit });
