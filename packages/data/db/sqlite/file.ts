import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseOptions } from '../database.ts';

/** Returns the path of a service's SQLite file. */
export function sqliteFile(options: Pick<DatabaseOptions, 'folder' | 'name' | 'fileName'>): string {
  return join(options.folder, options.fileName ?? `${options.name}.sqlite`);
}

/**
 * Makes the file with mode 0600; SQLite gives its companions the same. An existing one is not opened: closing it would
 * drop the locks of other connections in this process (sqlite.org/howtocorrupt.html section 2.2).
 */
export function createFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(file, 0o600);
  }
}
