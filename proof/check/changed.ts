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
 * A file that is no module, such as a migration, counts for the modules of its folder, or else of the nearest folder above.
 */
export function testsReachedFrom(changed: readonly string[], tests: readonly string[]): string[] {
  if (changed.some((file) => everyTest.test(file))) return [...tests];
  const modules = globSync('{packages,services,apps,proof,deploy,training}/**/*.{ts,js}', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  });
  const importers = new Map<string, string[]>();
  for (const file of modules)
    for (const target of [...importsOf(file), ...startedBy(file)])
      importers.set(target, [...(importers.get(target) ?? []), file]);
  const reached = new Set(changed.flatMap((file) => modulesOf(file, modules)));
  // A set also gives what is added while it is walked.
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer);
  return tests.filter((file) => reached.has(file));
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
