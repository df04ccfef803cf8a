import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { importsOf, root } from './imports.ts';

/** Files that every test depends on. */
const everyTest =
  /^(package(-lock)?\.json|tsconfig\.json|\.npmrc|proof\/check\/.*|packages\/testing\/folder\.ts)$/;

/**
 * Returns the files that differ from where this branch left main, uncommitted and new ones included, deleted ones left out.
 * Throws if there is no main.
 */
export function changedFiles(): string[] {
  const base = git('merge-base', 'HEAD', 'main').trim();
  const listed = `${git('diff', '--name-only', '--no-renames', base)}${git('ls-files', '--others', '--exclude-standard')}`;
  return [...new Set(listed.split('\n').filter(Boolean))];
}

/**
 * Returns those of some test files that are reached from changed files: by an import or the address of a worker, through as many files as it takes.
 * A service that is only named by the topology counts for the tests that start it. A file that is no module, such as a migration, counts for the modules of its folder, or else of the nearest folder above.
 */
export function testsReachedFrom(changed: readonly string[], tests: readonly string[]): string[] {
  if (changed.some((file) => everyTest.test(file))) return [...tests];
  const modules = globSync('{packages,services,apps,proof,deploy,training}/**/*.{ts,js}', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  });
  const importers = new Map<string, string[]>();
  for (const file of modules) {
    if (onDemand.includes(file)) continue;
    for (const target of [...importsOf(file), ...startedBy(file)])
      importers.set(target, [...(importers.get(target) ?? []), file]);
  }
  const reached = withImporters(
    changed.flatMap((file) => modulesOf(file, modules)),
    importers,
  );
  const doors = onDemand.flatMap(importsOf).filter((target) => reached.has(target));
  const byTopology = withImporters(doors.length > 0 ? onDemand : [], importers);
  return tests.filter((file) => reached.has(file) || (byTopology.has(file) && startsOneOf(doors, file)));
}

/** Files, and all that import them, through as many files as it takes. */
function withImporters(files: readonly string[], importers: ReadonlyMap<string, string[]>): Set<string> {
  const reached = new Set(files);
  // A set also gives what is added while it is walked.
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer);
  return reached;
}

/** They name all services, and load one when it is started or seeded. */
const onDemand = ['apps/octavo/topology.ts', 'apps/octavo/seeds.ts'];

/** Services that run in the process of another, as its entry in the topology says. */
export const calledBy: Readonly<Record<string, readonly string[]>> = { gateway: ['posts', 'authz'] };

/** Returns true if a test that imports the topology starts what is behind one of these doors: all services, or its own with those that it calls or names. */
function startsOneOf(doors: readonly string[], test: string): boolean {
  const own = /^services\/([^/]+)/.exec(test)?.[1];
  if (own === undefined) return true;
  const text = readFileSync(join(root, test), 'utf8');
  return doors.some((door) => {
    const [top = '', name = ''] = door.split('/');
    if (top !== 'services' || name === own || calledBy[own]?.includes(name)) return true;
    return text.includes(`'${name}`);
  });
}

function modulesOf(changed: string, modules: readonly string[]): string[] {
  if (/\.[jt]s$/.test(changed)) return [changed];
  for (let folder = dirname(changed); folder !== '.'; folder = dirname(folder)) {
    const inside = modules.filter((file) => dirname(file) === folder && !file.endsWith('.test.ts'));
    if (inside.length > 0) return inside;
  }
  return [];
}

/** Modules that a file starts as threads or processes. */
function startedBy(file: string): string[] {
  const addresses = readFileSync(join(root, file), 'utf8').matchAll(
    /(?:new URL\(|import\.meta\.dirname, )'(\.{0,2}[^']*\.[jt]s)'/g,
  );
  return [...addresses].map(([, address = '']) => join(dirname(file), address));
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' });
}
