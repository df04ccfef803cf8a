import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Folder of the project. Paths of files are written from here, with slashes. */
export const root = resolve(import.meta.dirname, '../..');

/** Returns what a file imports: files of the project by their path, others by their specifier. */
export function importsOf(file: string): string[] {
  return importsIn(readFileSync(join(root, file), 'utf8'), file);
}

/** Returns what a part of a file imports. */
export function importsIn(text: string, file: string): string[] {
  const matches = text.matchAll(
    /^(?:import|export)\b[^'"\n;]*(?:\{[^}]*\}[^'"\n;]*)?['"]([^'"]+)['"]|import\('([^']+)'\)/gm,
  );
  return [...matches].map((match) => locate(file, match[1] ?? match[2] ?? ''));
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
