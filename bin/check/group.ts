import { join } from 'node:path';
import { after, test } from 'node:test';
// Imported here, so that the databases of all files are dropped after the last of them.
import '#kit/testing/postgres.ts';

/**
 * Runs test files one after another in this process, each as a test of its own with the hooks of the file. Modules are loaded and compiled
 * once for all of them, which takes half the time of a process for each file.
 */
const fileTimeoutMs = 420_000;

/** A process that runs on after its tests, such as one whose test waits for ever, is ended, and fails. */
const lingersMs = 20_000;

after(() => {
  setTimeout(() => {
    console.error('Something is still open, or a test goes on:', process.getActiveResourcesInfo());
    process.exit(1);
  }, lingersMs).unref();
});

for (const file of process.argv.slice(2)) {
  test(file, { timeout: fileTimeoutMs }, async (context) => {
    const loading = import(join(process.cwd(), file));
    // The runner waits for tests only until none is left for the first time, which may be before a file has declared all of its own.
    void context.test('is loaded', () => loading.catch(() => undefined));
    await loading;
  });
}
