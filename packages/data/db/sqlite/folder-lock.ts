import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AppError } from '@octavo/core';
import { describeFileError } from './errors.ts';
import { createFile } from './file.ts';

const lockName = 'octavo.lock';
/** Longest wait of a starting process for one that claims the folder. */
const shareTimeoutMs = 5_000;
const unwritable = new Set<unknown>(['EACCES', 'EPERM', 'EROFS']);

/**
 * Marks a data folder as in use until disposed of. Any number of processes may share it; {@link claimFolder} refuses it until then.
 * It is a lock of SQLite on the file `octavo.lock`, so it ends with its process, however that ends. A folder that cannot be
 * written needs none. Throws `unavailable` while another process has claimed the folder.
 */
export function shareFolder(folder: string): Disposable {
  try {
    // A read transaction holds a shared lock.
    return lock(folder, shareTimeoutMs, 'BEGIN; SELECT count(*) FROM sqlite_schema');
  } catch (error) {
    if (unwritable.has((error as NodeJS.ErrnoException).code)) return { [Symbol.dispose]: () => {} };
    throw isBusy(error)
      ? new AppError('unavailable', `a backup is being restored into ${folder}; try again when it is done`)
      : error;
  }
}

/** Takes a data folder for this process alone until disposed of. Throws `conflict` while services run on it. */
export function claimFolder(folder: string): Disposable {
  try {
    return lock(folder, 0, 'BEGIN EXCLUSIVE');
  } catch (error) {
    throw isBusy(error)
      ? new AppError('conflict', `services are running on ${folder}${holdersOf(folder)}: stop them first`)
      : error;
  }
}

function lock(folder: string, timeoutMs: number, sql: string): Disposable {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, lockName);
  createFile(file);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: timeoutMs });
    database.exec(sql);
  } catch (error) {
    database?.close();
    throw describeFileError(error, file);
  }
  return { [Symbol.dispose]: () => database.close() };
}

/** The processes that use a folder, for people, where Linux tells (proc_locks(5)); empty elsewhere. */
function holdersOf(folder: string): string {
  try {
    const { ino } = statSync(join(folder, lockName));
    const locks = readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .map((line) => line.split(/\s+/));
    const ids = locks.filter(([, , , , , file]) => file?.endsWith(`:${ino}`)).map(([, , , , id]) => id);
    const names = [...new Set(ids)].map((id) => {
      const words = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0');
      return `process ${id}, ${words
        .slice(words.findIndex((word) => word.endsWith('octavo.js')) + 1)
        .join(' ')
        .trim()}`;
    });
    return names.length > 0 ? ` (${names.join('; ')})` : '';
  } catch {
    return '';
  }
}

/** SQLITE_BUSY. */
function isBusy(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % 256 === 5;
}
