import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { changedFiles, testsReachedFrom } from './check/changed.ts';
import { costOf } from './check/cost.ts';
import { cpuSecondsOfChildren, Yardstick } from './check/cpu.ts';
import { type FileTime, groupsOf, type Result, runGroup, testFilesOf } from './check/tests.ts';

/**
 * Checks of the project: `node proof/check.js [--rest] [--changed] [WORD...]`. Without `--rest` it runs what is cheap, with it all that is left.
 * Words choose the checks whose names contain one of them; `--changed` chooses the tests that are reached from what this branch changed.
 * The tasks of all checks, such as the tests of a service, are taken from one queue, the longest first. Tests read their engines from
 * TEST_DATABASE and TEST_RPC (`packages/testing/mode.ts`).
 */
const usage = parseArgs({
  allowPositionals: true,
  options: { rest: { type: 'boolean', default: false }, changed: { type: 'boolean', default: false } },
});
const onlyChanged = usage.values.changed ? changedFiles() : undefined;

const documentTests = ['architecture', 'doors', 'docs'].map((name) => `proof/${name}.test.ts`);
const onSqlite = { TEST_DATABASE: 'sqlite', TEST_RPC: 'local' };

/** Checks of `npm test`. */
const quickChecks: readonly Check[] = [
  program('lint', 'biome', ['check', '--error-on-warnings', '.']),
  program('types', 'tsc', ['--incremental', '--tsBuildInfoFile', 'node_modules/.cache/types.json']),
  program('types of browser modules', 'tsc', ['-p', 'packages/web/tsconfig.browser.json']),
  program('types of service workers', 'tsc', ['-p', 'packages/web/tsconfig.worker.json']),
  contracts(),
  tests('architecture and documents', documentTests),
  tests('packages', quickOf(['packages/**/*.test.ts'])),
  tests('services on SQLite in one process', quickOf(['services/**/*.test.ts']), { environment: onSqlite }),
  tests(
    'whole in one process',
    quickOf(['proof/!(architecture|doors|docs).test.ts', '{apps,deploy}/**/*.test.ts']),
  ),
];

/** Checks of `npm run test:all`: what `npm test` leaves out. */
const otherChecks: readonly Check[] = [
  tests('processes', testFilesOf(['{packages,services}/**/*.process.test.ts']), { environment: onSqlite }),
  tests('processes of the whole', testFilesOf(['{proof,apps,deploy}/**/*.process.test.ts']), { alone: true }),
  tests('browsers', testFilesOf(['{packages,services,proof,apps,deploy}/**/*.browser.test.ts']), {
    environment: onSqlite,
  }),
  tests(
    'services on PostgreSQL through RPC',
    testFilesOf(['services/**/*.everywhere.test.ts', 'services/**/*.everywhere.*.test.ts']),
    { environment: { TEST_DATABASE: 'postgres', TEST_RPC: 'remote' } },
  ),
];

/** Processor seconds that `npm test` may take: three minutes on two cores; see docs/decisions/036. */
const cpuSecondsMax = 340;

/** Share by which seconds differ between runs of the same tests, beside the slowness of the machine. */
const noise = 1.3;

/** Tasks at once: more than there are processors, since many tests wait for a timer or a server. */
const tasksAtOnce = availableParallelism() + 1;

/** Heavier than any group of tests, so that programs start first. */
const programWeight = 10_000;

interface Check {
  readonly name: string;
  tasks(): readonly Task[];
}

interface Task {
  /** Weight; of two tasks the heavier one starts first. */
  readonly weight: number;
  run(): Promise<Result>;
}

/** Compiled code is kept from one process to the next, which saves each a second. */
const compileCache = join(import.meta.dirname, '../node_modules/.cache/node');

/** The folder of the tests' databases and files: in memory where there is room, since thousands of commits wait for the disk. */
const temporaryFolder = inMemory('/dev/shm', 4 * 1024 ** 3);

process.exit(await main());

async function main(): Promise<number> {
  const startedMs = performance.now();
  const { values, positionals: words } = usage;
  const isWanted = ({ name }: Check) => words.length === 0 || words.some((word) => name.includes(word));
  const wanted = (values.rest ? otherChecks : quickChecks).filter(isWanted);
  using yardstick = new Yardstick();
  const results = await runAll(wanted);
  if (temporaryFolder) rmSync(temporaryFolder, { recursive: true, force: true });
  console.log(dearest(results.flatMap(({ fileTimes = [] }) => fileTimes)));
  for (const { name } of wanted) {
    const own = results.filter((result) => result.check === name);
    console.log(
      `== ${name}: ${sum(own)} in ${seconds(own.reduce((total, { ms }) => total + ms, 0))} s of tasks`,
    );
  }
  const failures = results.flatMap(({ check, failures }) =>
    failures.map((failure) => `- ${check}: ${failure}`),
  );
  const isWhole = !values.rest && !values.changed && words.length === 0;
  failures.push(...cpuFailures(yardstick.slowness(), isWhole));
  if (failures.length > 0) console.log(`\nFailed:\n${failures.join('\n')}`);
  const leftOut = [...quickChecks, ...otherChecks].filter((check) => !wanted.includes(check));
  console.log(`\nLeft out: ${leftOut.map(({ name }) => name).join(', ')}${advice(values.rest)}`);
  console.log(`Everything else in ${seconds(performance.now() - startedMs)} s\n${sum(results)}`);
  return failures.length > 0 || results.every(({ passed }) => passed === 0) ? 1 : 0;
}

function advice(isRest: boolean): string {
  return isRest ? '; run npm test for the rest' : '; run npm run test:all for what npm test leaves out';
}

/** Prints the processor time, and returns a failure if `npm test` has become too expensive; only in CI, since it is not a fault of the change at hand. */
function cpuFailures(slowness: number, isWhole: boolean): string[] {
  const used = cpuSecondsOfChildren();
  if (used === undefined) return [];
  const allowed = cpuSecondsMax * Math.max(1, slowness) * noise;
  const budget = `the budget of ${cpuSecondsMax} is ${allowed.toFixed(0)} at most on this machine, which takes ${slowness.toFixed(2)} times as long`;
  console.log(`\n${used.toFixed(0)} processor seconds${isWhole ? `; ${budget}` : ''}`);
  if (!isWhole || used <= allowed || process.env.CI !== 'true') return [];
  return [`npm test took ${used.toFixed(0)} processor seconds, and ${budget}`];
}

interface CheckResult extends Result {
  readonly check: string;
  readonly ms: number;
}

/** Runs the tasks of all checks from one queue, and prints each when it ends. */
async function runAll(wanted: readonly Check[]): Promise<CheckResult[]> {
  const queue = wanted
    .flatMap(({ name, tasks }) => tasks().map((task) => ({ check: name, ...task })))
    .sort((one, other) => other.weight - one.weight);
  const results: CheckResult[] = [];
  const runNext = async (): Promise<void> => {
    const task = queue.shift();
    if (!task) return;
    const startedMs = performance.now();
    const result = await task.run();
    const ms = performance.now() - startedMs;
    results.push({ check: task.check, ms, ...result });
    console.log(
      `${result.output}-- ${task.check}: ${sum([result])} in ${seconds(ms)} s, ${queue.length} tasks left\n`,
    );
    return runNext();
  };
  await Promise.all(Array.from({ length: tasksAtOnce }, runNext));
  return results;
}

function inMemory(folder: string, bytesMin: number): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < bytesMin) return undefined;
    const created = mkdtempSync(join(folder, 'octavo-tests-'));
    // Servers of the tests that run under accounts of their own, such as OpenSMTPD, pass through it.
    chmodSync(created, 0o711);
    return created;
  } catch {
    return undefined;
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}

function sum(results: readonly Pick<Result, 'passed' | 'failed' | 'skipped'>[]): string {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of results) {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  return `${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`;
}

function dearest(times: readonly FileTime[]): string {
  const first = times.toSorted((one, other) => other.cpuSeconds - one.cpuSeconds).slice(0, 24);
  const lines = first.map(
    ({ file, ms, cpuSeconds }) =>
      `${cpuSeconds.toFixed(1).padStart(6)} ${seconds(ms).padStart(6)} s ${file}\n`,
  );
  return ['Processor seconds and time of the dearest files:\n', ...lines].join('');
}

/** Check whose output is printed when it ends, so that it does not mix with that of the tests. */
function program(name: string, file: string, args: readonly string[]): Check {
  const run = () =>
    new Promise<Result>((resolve) => {
      execFile(file, args, (error, stdout, stderr) => {
        const [passed, failed] = error ? [0, 1] : [1, 0];
        const failures = error ? ['see above'] : [];
        resolve({ passed, failed, skipped: 0, failures, output: stdout + stderr });
      });
    });
  return { name, tasks: () => [{ weight: programWeight, run }] };
}

/** The linter of `.proto` files is not among the packages of the product; `.ci/run` installs it. */
function contracts(): Check {
  const buf = 'packages/protocols/tools/node_modules/.bin/buf';
  if (existsSync(buf) || process.env.CI === 'true')
    return program('contracts', 'npm', ['run', '--silent', '--prefix', 'packages/protocols/tools', 'lint']);
  const output =
    'contracts: skipped, because npm ci --prefix packages/protocols/tools has not installed the linter\n';
  const skipped = { passed: 0, failed: 0, skipped: 1, failures: [], output };
  return { name: 'contracts', tasks: () => [{ weight: programWeight, run: async () => skipped }] };
}

/** Files that start neither a process nor a browser. */
function quickOf(patterns: readonly string[]): string[] {
  return testFilesOf(patterns).filter((file) => costOf(file) === 'one process');
}

function tests(
  name: string,
  files: readonly string[],
  { environment = {}, alone = false }: { environment?: Record<string, string>; alone?: boolean } = {},
): Check {
  return {
    name,
    tasks: () => {
      const reached = onlyChanged && files !== documentTests ? testsReachedFrom(onlyChanged, files) : files;
      return groupsOf(reached, { alone }).map((group) => ({
        weight: group.weight,
        run: () => runGroup(group, { ...testEnvironment(), ...environment }),
      }));
    },
  };
}

function testEnvironment(): NodeJS.ProcessEnv {
  const folder = temporaryFolder ? { TMPDIR: temporaryFolder } : {};
  return { ...process.env, ...folder, NODE_COMPILE_CACHE: compileCache };
}
