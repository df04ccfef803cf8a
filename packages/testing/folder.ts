import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/** A folder for one test file. It is removed when the process exits, after everything that was started in it. */
export function testFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `octavo-${name}-`));
  if (folders.length === 0) process.once('exit', removeAll);
  folders.push(folder);
  return folder;
}

function removeAll(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
