import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Folder of the project. Paths of files are written from here, with slashes. */
export const root = resolve(import.meta.dirname, '../..');

/** Returns what a file imports: files of the project by their path, others by their specifier. */
export function importsOf(file: string): string[] {
  const matches = readFileSync(join(root, file), 'utf8').matchAll(
    /^(?:import|export)\b[^'"\n;]*(?:\{[^}]*\}[^'"\n;]*)?['"]([^'"]+)['"]|import\('([^']+)'\)/gm,
  );
  return [...matches].map((match) => locate(file, match[1] ?? match[2] ?? ''));
}

function locate(file: string, specifier: string): string {
  if (specifier.startsWith('#kit/')) return specifier.slice(1);
  if (specifier.endsWith('/limits.ts')) return specifier.slice(1);
  if (specifier.startsWith('#proto/')) return specifier.replace('#proto/', 'proto/gen/');
  if (specifier.startsWith('.')) return relative(root, resolve(root, dirname(file), specifier));
  return specifier;
}
