import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { loadServices } from '../../index.ts';

/** The files of the data folder that belong to a backup besides databases, by their names in the folder. */
export async function backupFilesIn(folder: string): Promise<string[]> {
  const declared = await declaredFiles();
  const found = await Promise.all(
    declared.map((name) => (name.endsWith('/') ? filesBelow(folder, name) : fileIn(folder, name))),
  );
  return found.flat();
}

/** Returns true if a service declares a file of this name. */
export async function isBackupFile(name: string): Promise<boolean> {
  const isPlain = name.split('/').every((part) => part !== '' && !part.startsWith('.'));
  const declared = await declaredFiles();
  return (
    isPlain && declared.some((known) => known === name || (known.endsWith('/') && name.startsWith(known)))
  );
}

/** Names for people: a folder with the number of its files, any other file by itself. */
export function describeFiles(names: readonly string[]): string[] {
  const folders = Map.groupBy(
    names.filter((name) => name.includes('/')),
    (name) => name.split('/')[0],
  );
  return [
    ...names.filter((name) => !name.includes('/')),
    ...[...folders].map(
      ([folder, { length }]) => `${folder}/ (${length} ${length === 1 ? 'file' : 'files'})`,
    ),
  ];
}

/** Returns true if both files exist and differ. */
export async function differ(file: string, other: string): Promise<boolean> {
  const digests = await Promise.all([file, other].map(digestOf));
  return digests.every((digest) => digest !== undefined) && digests[0] !== digests[1];
}

async function declaredFiles(): Promise<string[]> {
  const services = await loadServices();
  return services.flatMap(({ backupFiles = [] }) => backupFiles);
}

async function fileIn(folder: string, name: string): Promise<string[]> {
  const found = await orMissing(stat(join(folder, name)));
  return found?.isFile() ? [name] : [];
}

async function filesBelow(folder: string, name: string): Promise<string[]> {
  const entries = await orMissing(readdir(join(folder, name), { recursive: true, withFileTypes: true }));
  return (entries ?? [])
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => path.split('/').every((part) => !part.startsWith('.')))
    .sort();
}

async function digestOf(file: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  const read = await orMissing(pipeline(createReadStream(file), hash).then(() => true));
  return read ? hash.digest('hex') : undefined;
}

async function orMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
