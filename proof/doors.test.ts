import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { doorsOf, importsOf, packagesOf, root } from './check/imports.ts';
import { isDrawn } from './drawing.ts';

const workspaces = globSync('{packages,services,apps}/*/package.json', { cwd: root }).map(dirname).sort();
const files = globSync('{packages,services,apps,proof,deploy,training}/**/*.{ts,js}', {
  cwd: root,
  exclude: ['**/node_modules/**', '**/assets/**', 'proof/bench/peers/**'],
});
const isTest = (file: string) => /\.(test|suite)\.ts$|\/testing|\/contract\//.test(file);
/** Programs for development among the files of a package. */
const tools = ['packages/web/html/css.ts', 'packages/protocols/checksum.ts'];
/** Starts every program, also where nothing is installed yet. */
const launcher = 'apps/octavo/launch.js';
/** Packages that are wanted by others of the registry, which leave it to us to install them. */
const peers = new Map([
  ['services/chat', ['zod']],
  ['services/budgets', ['nice-grpc-common']],
]);

test('nothing imports past a door', () => {
  const found = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => {
        const [from, to] = [workspaceOf(file), workspaceOf(target)];
        if (to === undefined || from === to || target === launcher || !/\.[jt]s$/.test(target)) return false;
        // The proof and the training open the services that they are about.
        if (from === undefined && !to.startsWith('packages/')) return false;
        return !Object.values(doorsOf(to) ?? {}).some((door) => isBehind(door, target, to));
      })
      .map((target) => `${file} imports ${target}`),
  );
  assert.deepEqual(found, [], 'export it from a door of its package, or use what a door gives');
});

test('every named door exists and is imported', () => {
  const imported = new Set(files.flatMap((file) => importsOf(file)));
  assert.deepEqual(
    [...imported].filter((target) => target.startsWith('@octavo/')),
    [],
    'imports of doors that no manifest has',
  );
  const unused = workspaces.flatMap((folder) =>
    Object.values(doorsOf(folder) ?? {})
      .filter((door) => !door.includes('*') && /\.ts$/.test(door))
      .map((door) => join(folder, door))
      .filter((door) => !imported.has(door)),
  );
  assert.deepEqual(unused, []);
});

test('a manifest names what its package imports, no more and no less', () => {
  for (const folder of workspaces) {
    const own = files.filter((file) => workspaceOf(file) === folder);
    const { name, dependencies = {}, devDependencies = {} } = manifestOf(folder);
    const isForTests = (file: string) => isTest(file) || tools.includes(file);
    const ofCode = new Set(own.filter((file) => !isForTests(file)).flatMap(packagesOf));
    const ofTests = new Set(own.filter(isForTests).flatMap(packagesOf));
    for (const peer of peers.get(folder) ?? []) ofCode.add(peer);
    const named = new Set([...Object.keys(dependencies), ...Object.keys(devDependencies)]);
    const missing = [...ofCode, ...ofTests].filter((each) => each !== name && !named.has(each));
    assert.deepEqual(missing, [], `${folder}/package.json does not name what is imported`);
    const unused = [...named].filter((each) => !ofCode.has(each) && !ofTests.has(each));
    assert.deepEqual(unused, [], `${folder}/package.json names what nothing imports`);
    const onlyTests = Object.keys(dependencies).filter((each) => !ofCode.has(each));
    assert.deepEqual(onlyTests, [], `${folder}/package.json ships what only tests import`);
  }
});

test('a package of the registry has one version', () => {
  const versions = new Map<string, string>();
  for (const folder of ['.', ...workspaces]) {
    const { dependencies = {}, devDependencies = {} } = manifestOf(folder);
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      assert.equal(version, versions.get(name) ?? version, `${name} of ${folder}`);
      versions.set(name, version);
    }
  }
});

test('only tests use packages/testing', () => {
  const using = workspaces.filter((folder) => '@octavo/testing' in (manifestOf(folder).dependencies ?? {}));
  assert.deepEqual(using, []);
});

test('docs/architecture.md shows the packages and arrows that there are', () => {
  assert.ok(isDrawn(), 'run npm run architecture');
});

function workspaceOf(file: string): string | undefined {
  const folder = file.split('/').slice(0, 2).join('/');
  return workspaces.includes(folder) ? folder : undefined;
}

function isBehind(door: string, target: string, folder: string): boolean {
  const path = join(folder, door);
  if (!path.includes('*')) return path === target;
  const [before = '', after = ''] = path.split('*');
  return target.startsWith(before) && target.endsWith(after);
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
}
