import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

/** Folder of the project. Paths of files are written from here, with slashes. */
export const root = resolve(import.meta.dirname, '../..');

/** Returns what a file imports: files of the project by their path, others by their specifier. */
export function importsOf(file: string): string[] {
  return importsIn(readFileSync(join(root, file), 'utf8'), file);
}

/** `import … from 'x'`, `export … from 'x'` and `import 'x'`. */
const statement =
  /^(?:import|export)\s*(?:(?:type\s+)?(?:[\w$]+\s*,?\s*)?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?)?\s*from\s*)?['"]([^'"\n]+)['"]/gm;
const dynamic = /\bimport\('([^'\n]+)'\)/g;
/** Other ways to find a file of a package. */
const located =
  /(?:import\.meta\.resolve|(?:(?<![\w.#])require|createRequire\(import\.meta\.url\))(?:\.resolve)?)\(\s*'([^'\n]+)'/g;

/** Returns what a part of a file imports. */
export function importsIn(text: string, file: string): string[] {
  return matchesOf(text, [statement, dynamic]).map((specifier) => locate(file, specifier));
}

function matchesOf(text: string, patterns: readonly RegExp[]): string[] {
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, specifier = '']) => specifier));
}

function locate(file: string, specifier: string): string {
  if (specifier.startsWith('@octavo/')) return behindDoor(specifier);
  if (specifier.startsWith('.')) return relative(root, resolve(root, dirname(file), specifier));
  return specifier;
}

/** The file behind a door of a package, such as `@octavo/data/search`, by `exports` of its manifest. */
function behindDoor(specifier: string): string {
  const [, name = '', ...rest] = specifier.split('/');
  for (const folder of ['packages', 'services', 'apps'].map((top) => join(top, name))) {
    const doors = doorsOf(folder);
    const file = doors?.[['.', ...rest].join('/')] ?? doors?.['./*']?.replace('*', rest.join('/'));
    if (file !== undefined) return join(folder, file);
  }
  return specifier;
}

const manifests = new Map<string, Readonly<Record<string, string>> | undefined>();

/** `exports` of the package in a folder; undefined if there is none. */
export function doorsOf(folder: string): Readonly<Record<string, string>> | undefined {
  const file = join(root, folder, 'package.json');
  if (!manifests.has(folder))
    manifests.set(folder, existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).exports : undefined);
  return manifests.get(folder);
}

/** Returns the packages that a file imports, or finds by their name: those of the registry and of the project. Modules of Node are left out. */
export function packagesOf(file: string): string[] {
  const code = readFileSync(join(root, file), 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
  const names = matchesOf(code, [statement, dynamic, located]).map(
    (specifier) => /^(?:@[\w.-]+\/)?[a-z][\w.-]*/.exec(specifier)?.[0],
  );
  return [...new Set(names)].filter(
    (name): name is string => name !== undefined && !isBuiltin(name) && name !== 'node',
  );
}
