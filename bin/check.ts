import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { dot, spec } from 'node:test/reporters';
import { inspect } from 'node:util';

/**
 * Every check of the project, in lanes that run beside each other: while the tests of one lane wait for a timer or a server, those of
 * the other compute. `node bin/check.js [WORD...]` runs the checks whose name contains one of the words. Tests read their engines from
 * TEST_DATABASE and TEST_RPC (`kit/testing/mode.ts`).
 */
const lanes: readonly (readonly Check[])[] = [
  [
    program('lint', 'biome', ['check', '--error-on-warnings', '.']),
    program('types', 'tsc', []),
    program('types of browser modules', 'tsc', ['-p', 'tsconfig.browser.json']),
    contracts(),
  ],
  [
    testFiles('architecture and documents', ['test/architecture.test.ts', 'test/docs.test.ts']),
    testFiles('kit', ['kit/**/*.test.ts']),
    testFiles('services on SQLite in one process', ['services/**/*.test.ts'], {
      TEST_DATABASE: 'sqlite',
      TEST_RPC: 'local',
    }),
  ],
  [
    testFiles('services on PostgreSQL through RPC', ['services/**/*.everywhere.test.ts'], {
      TEST_DATABASE: 'postgres',
      TEST_RPC: 'remote',
    }),
    testFiles('whole', ['test/!(architecture|docs).test.ts', 'bin/**/*.test.ts']),
  ],
];

/** Test files of one lane at once. All lanes together have more than a processor each, since many tests wait. */
const filesAtOnce = 3;

/** Descriptions of failures, printed at the end. */
const failures: string[] = [];

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

interface Check {
  readonly name: string;
  run(): Promise<Counts & { readonly output?: string }>;
}

/** A test file that hangs fails after the first time, the tests of a check after the second. */
const fileTimeoutMs = 240_000;
const checkTimeoutMs = 900_000;

/** Compiled code is kept from one file to the next, which saves each file that starts a service a second. */
const compileCache = join(import.meta.dirname, '../node_modules/.cache/node');

/** The folder of the tests' databases and files: in memory where there is room, since thousands of commits wait for the disk. */
const temporaryFolder = inMemory('/dev/shm', 4 * 1024 ** 3);

process.exit(await main(process.argv.slice(2)));

async function main(words: readonly string[]): Promise<number> {
  const isWanted = ({ name }: Check) => words.length === 0 || words.some((word) => name.includes(word));
  const startedMs = performance.now();
  const results = await Promise.all(lanes.map((checks) => inTurn(checks.filter(isWanted))));
  const total = add(results.flat());
  if (temporaryFolder) rmSync(temporaryFolder, { recursive: true, force: true });
  if (failures.length > 0) console.log(`\nFailed:\n${failures.join('\n')}`);
  console.log(`\nEverything in ${secondsSince(startedMs)} s\n${sum(total)}`);
  return total.failed > 0 || total.passed === 0 ? 1 : 0;
}

async function inTurn(checks: readonly Check[]): Promise<Counts[]> {
  const results: Counts[] = [];
  for (const check of checks) {
    const startedMs = performance.now();
    const { output = '', ...counts } = await check.run();
    console.log(`${output}== ${check.name}: ${sum(counts)} in ${secondsSince(startedMs)} s\n`);
    results.push(counts);
  }
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

function secondsSince(startedMs: number): string {
  return ((performance.now() - startedMs) / 1_000).toFixed(1);
}

function add(results: readonly Counts[]): Counts {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of results) {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  return total;
}

function sum({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function slowest(files: readonly { readonly file: string; readonly ms: number }[]): string {
  const first = files.toSorted((one, other) => other.ms - one.ms).slice(0, 12);
  return first.map(({ file, ms }) => `${(ms / 1_000).toFixed(1).padStart(6)} s ${file}\n`).join('');
}

function indented(text: string): string {
  return text.slice(0, 3_000).replaceAll(/^/gm, '    ');
}

/** Its output is printed when it ends, so that it does not mix with that of the tests. */
function program(name: string, file: string, args: readonly string[]): Check {
  return {
    name,
    run: () =>
      new Promise((resolve) => {
        execFile(file, args, (error, stdout, stderr) => {
          if (error) failures.push(`- ${name}`);
          resolve({ passed: error ? 0 : 1, failed: error ? 1 : 0, skipped: 0, output: stdout + stderr });
        });
      }),
  };
}

/** The linter of `.proto` files is not among the packages of the product; `.ci/run` installs it. */
function contracts(): Check {
  const buf = 'proto/node_modules/.bin/buf';
  if (existsSync(buf) || process.env.CI === 'true') return program('contracts', buf, ['lint']);
  const output = 'contracts: skipped, because npm ci --prefix proto has not installed the linter\n';
  return { name: 'contracts', run: async () => ({ passed: 0, failed: 0, skipped: 1, output }) };
}

function testFiles(name: string, patterns: string[], environment: Record<string, string> = {}): Check {
  return {
    name,
    run: async () => {
      const files = (await Array.fromAsync(glob(patterns, { exclude: ['node_modules/**'] }))).sort();
      if (files.length === 0) return { passed: 0, failed: 0, skipped: 0 };
      const stream = run({
        files,
        concurrency: filesAtOnce,
        timeout: fileTimeoutMs,
        env: {
          ...process.env,
          ...(temporaryFolder && { TMPDIR: temporaryFolder }),
          NODE_COMPILE_CACHE: compileCache,
          ...environment,
        },
      });
      const counts = countsOf(name, stream);
      stream.compose(process.stdout.isTTY ? dot : spec).pipe(process.stdout, { end: false });
      return counts;
    },
  };
}

/** Resolves with counts, and lines with the slowest files as `output`. */
function countsOf(name: string, stream: ReturnType<typeof run>): ReturnType<Check['run']> {
  const { promise, resolve } = Promise.withResolvers<Counts & { output?: string }>();
  const timer = setTimeout(() => {
    failures.push(`- ${name}: still running after ${checkTimeoutMs / 1_000} s`);
    resolve({ passed: 0, failed: 1, skipped: 0 });
  }, checkTimeoutMs);
  stream.on('test:fail', ({ name: test, file, details: { error } }) => {
    // A suite fails together with its tests, which are reported themselves.
    if (Reflect.get(error, 'failureType') === 'subtestsFailed') return;
    const details = indented(inspect(error.cause ?? error));
    failures.push(`- ${name}: ${test} (${relative('.', file ?? '')})\n${details}`);
  });
  const files: { readonly file: string; readonly ms: number }[] = [];
  stream.on('test:summary', (event) => {
    if (event.file !== undefined) {
      files.push({ file: relative('.', event.file), ms: event.duration_ms });
      return;
    }
    clearTimeout(timer);
    const { tests, passed, skipped, todo } = event.counts;
    const output = slowest(files);
    resolve({ passed, failed: tests - passed - skipped - todo, skipped: skipped + todo, output });
  });
  return promise;
}
