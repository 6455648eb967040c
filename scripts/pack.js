// Packs the command as one npm package, `squall`: what `npx squall run plan.yaml` installs. Our own packages
// travel inside it (`bundleDependencies`), compiled; everything else comes from the registry, at the very
// versions that the tests ran with.
//
//   npm run pack            writes squall-VERSION.tgz to pack/
//   npm run pack -- FOLDER  … to another folder
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const SCOPE = '@squall/';
/** Beside the packages: what their commands read, and what a user begins with. */
const FILES = ['LICENSE', 'README.md', 'plans', 'deploy/tune', 'deploy/systemd'];

const read = (file) => JSON.parse(readFileSync(path.join(root, file), 'utf8'));
const catalog = parse(readFileSync(path.join(root, 'pnpm-workspace.yaml'), 'utf8')).catalog;

const compare = (a, b) => (a < b ? -1 : 1);
const mb = (bytes) => (bytes / 1e6).toFixed(2);

main(path.resolve(process.argv[2] ?? path.join(root, 'pack')));

function main(target) {
  const stage = mkdtempSync(path.join(tmpdir(), 'squall-pack-'));
  try {
    const packages = ownPackages('@squall/cli');
    for (const name of packages) copyPackage(name, path.join(stage, 'node_modules', name));
    for (const file of FILES) copyIfThere(file, path.join(stage, file));
    copyPackage('@squall/cli', stage);
    const manifest = manifestOf(packages);
    writeFileSync(path.join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    mkdirSync(target, { recursive: true });
    pack(stage, target);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** All of ours that the command needs, itself left out. */
function ownPackages(name, seen = new Set()) {
  for (const dependency of Object.keys(dependenciesOf(name))) {
    if (!dependency.startsWith(SCOPE) || seen.has(dependency)) continue;
    seen.add(dependency);
    ownPackages(dependency, seen);
  }
  return seen;
}

function dependenciesOf(name) {
  return read(`packages/${folderOf(name)}/package.json`).dependencies ?? {};
}

function folderOf(name) {
  return name.slice(SCOPE.length);
}

/** Compiled code without its maps and types; doors that lead to sources are shut. */
function copyPackage(name, target) {
  const from = path.join(root, 'packages', folderOf(name));
  mkdirSync(target, { recursive: true });
  for (const folder of ['dist', 'bin']) {
    if (!existsSync(path.join(from, folder))) continue;
    cpSync(path.join(from, folder), path.join(target, folder), {
      recursive: true,
      filter: (file) => !/\.(?:map|d\.ts|tsbuildinfo)$/.test(file),
    });
  }
  const { version, type, exports } = read(`packages/${folderOf(name)}/package.json`);
  const doors = Object.fromEntries(
    Object.entries(exports ?? {}).map(([door, { default: file }]) => [door, file]),
  );
  writeFileSync(
    path.join(target, 'package.json'),
    `${JSON.stringify({ name, version, type, license: 'Apache-2.0', exports: doors }, null, 2)}\n`,
  );
}

function copyIfThere(file, target) {
  if (existsSync(path.join(root, file))) cpSync(path.join(root, file), target, { recursive: true });
}

function manifestOf(packages) {
  const { version, description, license, type, engines, bin } = read('packages/cli/package.json');
  const all = ['@squall/cli', ...packages].flatMap((name) => Object.entries(dependenciesOf(name)));
  const outside = all.filter(([name]) => !name.startsWith(SCOPE));
  return {
    name: 'squall',
    version,
    description: read('package.json').description ?? description,
    keywords: ['mqtt', 'rocketmq', 'load-testing', 'benchmark', 'broker', 'performance'],
    license,
    type,
    engines,
    bin,
    files: ['bin', 'dist', ...FILES],
    dependencies: {
      ...Object.fromEntries(
        outside
          .map(([name, wanted]) => [name, exact(name, wanted)])
          .toSorted(([a], [b]) => compare(a, b)),
      ),
      ...Object.fromEntries([...packages].map((name) => [name, version])),
    },
    bundleDependencies: [...packages].toSorted(compare),
  };
}

function exact(name, wanted) {
  const found = wanted === 'catalog:' ? catalog[name] : wanted;
  if (found === undefined) throw new Error(`${name} is not in the catalog`);
  return found;
}

function pack(stage, target) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target];
  const result = spawnSync('npm', args, { cwd: stage, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`npm pack failed:\n${result.stdout}${result.stderr}`);
  const file = readdirSync(target).find((name) => /^squall-.*\.tgz$/.test(name));
  const { size, unpackedSize } = Object.values(JSON.parse(result.stdout))[0];
  process.stdout.write(
    `${path.join(target, file)}  ${mb(size)} MB, unpacked ${mb(unpackedSize)} MB\n`,
  );
}
