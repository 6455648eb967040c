import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/** Laws of the house that no compiler knows. Each names the file and line that breaks it. */
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const files = trackedFiles();
const sources = files.filter((file) => /\.(ts|js)$/.test(file));

const SHAPELESS_NAMES = /^(utils?|commons?|helpers?|shared|types|misc|lib)(\.[a-z.]+)?$/;
const DATA_PATH_MARK = '// Data path';
/** Each of these costs an allocation, a microtask or a call per listener, a message. */
const SLOW_ON_DATA_PATH = /\basync\b|new Promise|\.map\(|\.filter\(|EventEmitter|\bawait\b/;
const LOOSE_END = /\b(TODO|FIXME|XXX)\b(?! ?\(#\d+\))/;
const HOST = /[a-z]+:\/\/(?!127\.0\.0\.1)/;

describe('the house is tidy', () => {
  test('there are files to look at', () => {
    expect(sources.length).toBeGreaterThan(20);
  });

  test('no file or folder has a name that says nothing', () => {
    const broken = files.filter((file) =>
      file.split('/').some((part) => SHAPELESS_NAMES.test(part)),
    );
    expect(broken).toEqual([]);
  });

  test('only rooms of the plan of the house', () => {
    const rooms = new Set(
      files.map((file) => file.match(/^packages\/([^/]+)\//)?.[1]).filter((room) => room),
    );
    const planned =
      'agent cli controller core import mqtt probes redis-bus report rocketmq web'.split(' ');
    expect([...rooms].filter((room) => !planned.includes(room ?? ''))).toEqual([]);
  });

  test('a loose end names its issue', () => {
    const own = 'scripts/tidy.test.ts';
    expect(
      linesThat(
        LOOSE_END,
        sources.filter((file) => file !== own),
      ),
    ).toEqual([]);
  });

  test('data-path files hold nothing that costs an allocation or a promise a message', () => {
    const dataPath = sources.filter(
      (file) => file.startsWith('packages/') && read(file).startsWith(DATA_PATH_MARK),
    );
    expect(dataPath.length).toBeGreaterThan(0);
    expect(linesThat(SLOW_ON_DATA_PATH, dataPath)).toEqual([]);
  });

  test('lockfiles name no host', () => {
    const lockfiles = files.filter((file) =>
      /(^|\/)(pnpm-lock\.yaml|package-lock\.json)$/.test(file),
    );
    expect(lockfiles.length).toBeGreaterThanOrEqual(2);
    const broken = linesThat(HOST, lockfiles).filter((line) => !/"?(url|funding)"?:/.test(line));
    expect(broken).toEqual([]);
  });

  test('dependencies are pinned to exact versions', () => {
    const ranges = files
      .filter((file) => /(^|\/)package\.json$/.test(file))
      .flatMap((file) => looseVersions(file));
    expect(ranges).toEqual([]);
  });
});

function trackedFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed.split('\n').filter((file) => file !== '' && existsSync(path.join(root, file)));
}

function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

/** `file:line: text` of every line outside comments' own words that the pattern finds. */
function linesThat(pattern: RegExp, among: readonly string[]): string[] {
  return among.flatMap((file) =>
    read(file)
      .split('\n')
      .map((text, index) => ({ text, at: `${file}:${index + 1}` }))
      .filter(({ text }) =>
        pattern.test(pattern === SLOW_ON_DATA_PATH ? withoutComment(text) : text),
      )
      .map(({ text, at }) => `${at}: ${text.trim()}`),
  );
}

function withoutComment(line: string): string {
  return line.replace(/^\s*(\*|\/\*).*$/, '').replace(/\/\/.*$/, '');
}

function looseVersions(file: string): string[] {
  const manifest = JSON.parse(read(file)) as Record<string, Record<string, string> | undefined>;
  return ['dependencies', 'devDependencies'].flatMap((kind) =>
    Object.entries(manifest[kind] ?? {})
      .filter(([, version]) => !/^(\d+\.\d+\.\d+(-[\w.]+)?|catalog:|workspace:\*)$/.test(version))
      .map(([name, version]) => `${file}: ${name}@${version}`),
  );
}
