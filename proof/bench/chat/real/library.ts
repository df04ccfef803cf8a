import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { RealSet } from './grades.ts';

/** A file of a Debian package, and the name that it is uploaded by. */
interface PackagedDocument {
  readonly package: string;
  readonly path: string;
  readonly name: string;
}

export interface LibraryFile {
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** Reads the documents of a set from Debian packages, which are downloaded to the folder unless they are there. */
export function readLibrary(folder: string, set: RealSet): LibraryFile[] {
  const list = new URL(`${set}/documents.json`, import.meta.url);
  const documents = JSON.parse(readFileSync(list, 'utf8')) as PackagedDocument[];
  mkdirSync(folder, { recursive: true });
  const missing = [...new Set(documents.map((each) => each.package))].filter(
    (name) => !packageIn(folder, name),
  );
  if (missing.length > 0) execFileSync('apt-get', ['download', ...missing], { cwd: folder, stdio: 'ignore' });
  return documents.map((document) => ({ name: document.name, content: contentOf(folder, document) }));
}

function packageIn(folder: string, name: string): string | undefined {
  return readdirSync(folder).find((file) => file.startsWith(`${name}_`) && file.endsWith('.deb'));
}

function contentOf(folder: string, document: PackagedDocument): Uint8Array<ArrayBuffer> {
  const unpacked = join(folder, document.package);
  const file = join(unpacked, document.path);
  if (!existsSync(file))
    execFileSync('dpkg-deb', ['-x', join(folder, packageIn(folder, document.package) ?? ''), unpacked]);
  if (/\/man\d\//.test(document.path)) return manualPage(file);
  const bytes = readFileSync(file);
  return new Uint8Array(file.endsWith('.gz') ? gunzipSync(bytes) : bytes);
}

/** A manual page as people save it: `man -l page | col -b`. */
function manualPage(file: string): Uint8Array<ArrayBuffer> {
  const command = 'man -E UTF-8 -l "$1" | col -b';
  const environment = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', MANWIDTH: '80' };
  return new Uint8Array(
    execFileSync('sh', ['-c', command, 'sh', file], {
      env: environment,
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
}
