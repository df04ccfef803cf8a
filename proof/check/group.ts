import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { join } from 'node:path';
import { after, test } from 'node:test';
// Imported here, so that the browser and the databases of all files go after the last of them.
import '@octavo/testing/browser';
import '@octavo/testing/engines';
import { costOf } from './cost.ts';
import { cpuSecondsOfChildren } from './cpu.ts';

/**
 * Runs test files one after another in this process, each as a test of its own with the hooks of the file. Modules are loaded and compiled
 * once for all of them, which takes half the time of a process for each file. They share one browser, too.
 */
const fileTimeoutMs = 720_000;

/** A process that runs on after its tests, such as one whose test waits for ever, is ended, and fails. */
const lingersMs = 20_000;

/** Children that a service starts by itself for a moment, whatever its tests are about. */
const ownChildren = /\/parse-process\.ts$/;

/** Programs that the file under way has started. */
let started: string[] = [];
subscribe('child_process', (message) => {
  const { process: child } = message as { process: ChildProcess };
  // Its arguments are known once it has been spawned.
  setImmediate(() => started.push((child.spawnargs ?? []).slice(0, 6).join(' ')));
});

after(() => {
  setTimeout(() => {
    console.error('Something is still open, or a test goes on:', process.getActiveResourcesInfo());
    process.exit(1);
  }, lingersMs).unref();
});

for (const file of process.argv.slice(2)) {
  test(file, { timeout: fileTimeoutMs }, async (context) => {
    started = [];
    const before = cpuSeconds();
    context.after(() => {
      context.diagnostic(`${(cpuSeconds() - before).toFixed(2)} processor seconds`);
      checkCost(file);
    });
    const loading = import(join(process.cwd(), file));
    // The runner waits for tests only until none is left for the first time, which may be before a file has declared all of its own.
    void context.test('is loaded', () => loading.catch(() => undefined));
    await loading;
  });
}

/** Processor seconds of this process and of the programs that it started and that have ended. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + (cpuSecondsOfChildren() ?? 0);
}

/** Throws if a file starts programs and its name does not say so. Where services call each other over the network, each is a process. */
function checkCost(file: string): void {
  if (process.env.TEST_RPC === 'remote') return;
  const program = started.find((command) => !command.split(' ').some((word) => ownChildren.test(word)));
  if (program === undefined || costOf(file) !== 'one process') return;
  const ending = program.includes('chromium') || program.includes('chrome-') ? 'browser' : 'process';
  throw new Error(
    `it starts ${program.slice(0, 200)}: name it ${file.replace('.test.ts', `.${ending}.test.ts`)}`,
  );
}
