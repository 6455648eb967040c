import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TUNING } from '../../src/host/tuning.ts';
import { tuningScript } from '../../src/host/tuning-script.ts';
import { host } from './hosts.ts';

/** The script over a copy of `/proc/sys` in a folder: nothing of this host is read or changed. */
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'squall-tune-'));
  for (const [name, values] of host().settings) {
    mkdirSync(path.dirname(fileOf(name)), { recursive: true });
    writeFileSync(fileOf(name), `${values?.join('\t')}\n`);
  }
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('the tuning script', () => {
  it('checks, and changes nothing', () => {
    const before = all();
    const { stdout, status } = run('check');
    expect(status).toBe(1);
    expect(stdout).toContain('warn  net.core.somaxconn = 4096, wanted 32768\n');
    expect(stdout).toContain('ok    net.ipv4.tcp_rmem = 4096 131072 33554432\n');
    expect(stdout).toContain(
      'warn  net.ipv4.tcp_wmem = 4096 16384 4194304, wanted 1024 4096 16777216\n',
    );
    expect(all()).toEqual(before);
  });

  it('applies what is too little, keeps what is better, and has nothing to do the next time', () => {
    const { stdout } = run('apply');
    expect(stdout).toContain('kept     fs.file-max = 2466170\n');
    expect(stdout).toContain('set      net.core.somaxconn = 32768 (was 4096)\n');
    expect(valueOf('net.ipv4.ip_local_port_range')).toBe('1000 65535');
    expect(valueOf('net.ipv4.tcp_wmem')).toBe('1024 4096 16777216');
    expect(valueOf('net.ipv4.tcp_rmem')).toBe('4096 131072 33554432');
    const kept = readFileSync(path.join(folder, 'etc/sysctl.d/90-squall.conf'), 'utf8');
    expect(kept).toContain('\nnet.ipv4.tcp_fin_timeout = 15\n');
    expect(kept).not.toContain('fs.file-max');
    expect(run('apply').stdout).not.toContain('set      net');
  });

  it('puts back what it found, after any number of applies', () => {
    const before = all();
    run('apply');
    run('apply');
    expect(all()).not.toEqual(before);
    const { stdout } = run('undo');
    expect(stdout).toContain('set      net.core.somaxconn = 4096\n');
    expect(all()).toEqual(before);
    expect(existsSync(path.join(folder, 'etc/sysctl.d/90-squall.conf'))).toBe(false);
    expect(run('undo').stdout).toBe('nothing was changed by apply\n');
  });

  it('tells what cannot be set, and goes on with the others', () => {
    rmSync(fileOf('net.core.rmem_max'));
    const { stdout, status, stderr } = run('apply');
    expect(status).toBe(1);
    expect(stderr).toBe('');
    expect(stdout).toContain('refused  net.core.rmem_max: not to be seen here');
    expect(stdout).toContain('set      net.core.wmem_max = 16777216');
    run('undo');
    expect(existsSync(fileOf('net.core.rmem_max'))).toBe(false);
  });

  it('names a hard limit that cannot be raised', () => {
    // A ceiling of the shell itself: no user can raise what the kernel refuses.
    const { stdout, status } = run('apply', 'ulimit -n 512; ');
    const limit = stdout.split('\n').find((line) => line.includes('open files of a process'));
    expect(limit).toMatch(/^(refused {2}open files .* hard limit of 512 |set {6}open files)/);
    expect(status === 0).toBe(limit?.startsWith('set') === true);
  });

  it('knows three words', () => {
    expect(run('').status).toBe(2);
  });
});

function run(word: string, before = '') {
  const places = `export SQUALL_TUNE_ROOT='${folder}' SQUALL_TUNE_PROC='${folder}'; `;
  return spawnSync('sh', ['-c', `${places}${before}sh -s ${word}`], {
    input: tuningScript(),
    encoding: 'utf8',
  });
}

function all(): string[] {
  return TUNING.map(({ name }) => valueOf(name));
}

function valueOf(name: string): string {
  return readFileSync(fileOf(name), 'utf8').trim().replaceAll('\t', ' ');
}

function fileOf(name: string): string {
  return path.join(folder, 'sys', name.replaceAll('.', '/'));
}
