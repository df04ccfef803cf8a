import { join } from 'node:path';
import { test } from 'node:test';
// Imported here, so that the databases of all files are dropped after the last of them.
import '#kit/testing/postgres.ts';

/**
 * Runs test files one after another in this process, each as a test of its own with the hooks of the file. Modules are loaded and compiled
 * once for all of them, which takes half the time of a process for each file.
 */
const fileTimeoutMs = 240_000;

for (const file of process.argv.slice(2)) {
  test(file, { timeout: fileTimeoutMs }, async () => {
    await import(join(process.cwd(), file));
  });
}
