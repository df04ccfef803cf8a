import { spawn } from 'node:child_process';
import { glob } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { dot, spec } from 'node:test/reporters';
import { inspect } from 'node:util';

/**
 * Every check of the project, in the order of their cost. `node bin/check.ts [WORD...]` runs those whose name holds a word.
 * Tests take their engines from the environment: TEST_DATABASE sqlite|postgres, TEST_RPC local|remote.
 */
const checks: readonly Check[] = [
  command('lint', 'biome', ['check', '--error-on-warnings', '.']),
  command('types', 'tsc', []),
  command('types of browser modules', 'tsc', ['-p', 'tsconfig.browser.json']),
  command('contracts', 'buf', ['lint', 'proto']),
  tests('architecture and documents', ['test/architecture.test.ts', 'test/docs.test.ts']),
  tests('kit', ['kit/**/*.test.ts']),
  tests('services on SQLite, one process', ['services/**/*.test.ts'], {
    TEST_DATABASE: 'sqlite',
    TEST_RPC: 'local',
  }),
  // What is left out here goes through all databases and modes by itself, or has nothing to do with either.
  tests(
    'services on PostgreSQL, three processes',
    [
      'services/posts/{events,job-desk,reanalysis,work-crash}.test.ts',
      'services/gateway/!(iso-time|openapi|pages-browser).test.ts',
      'services/gateway/{access,posts,bulk,analytics,reanalysis,sentiment,status}/!(pages|pages-failures).test.ts',
      'services/gateway/exports/!(format|pages).test.ts',
      'services/gateway/{access,posts}/pages.test.ts',
      'services/passwordless/!(config|openapi|pages-browser).test.ts',
      'services/passwordless/*/!(code|mailer|queue|pages|verification).test.ts',
    ],
    { TEST_DATABASE: 'postgres', TEST_RPC: 'remote' },
  ),
  tests(
    'services on SQLite, three processes',
    [
      'services/gateway/service.test.ts',
      'services/gateway/{access,posts,bulk,analytics,reanalysis,sentiment,status}/!(pages|pages-failures).test.ts',
      'services/gateway/exports/export.test.ts',
    ],
    { TEST_DATABASE: 'sqlite', TEST_RPC: 'remote' },
  ),
  tests('whole', ['test/!(architecture|docs).test.ts', 'bin/**/*.test.ts']),
];

/** What failed, in words, for the end of the output. */
const failures: string[] = [];

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

interface Check {
  readonly name: string;
  run(): Promise<Counts>;
}

/** Tests that hang fail instead of stopping everything: each file after a time of its own, its check after another. */
const longestFileMs = 240_000;
const longestCheckMs = 480_000;

/** Where what was compiled for one file is kept for the next: it saves a second of each that starts a service. */
const compileCache = join(import.meta.dirname, '../node_modules/.cache/node');

process.exit(await main(process.argv.slice(2)));

async function main(words: readonly string[]): Promise<number> {
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const check of checks.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  )) {
    const startedAtMs = performance.now();
    console.log(`\n== ${check.name}`);
    const counts = await check.run();
    console.log(`   ${sum(counts)} in ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`);
    for (const key of ['passed', 'failed', 'skipped'] as const) total[key] += counts[key];
  }
  if (failures.length > 0) console.log(`\nFailed:\n${failures.join('\n')}`);
  console.log(`\n${sum(total)}`);
  return total.failed > 0 || total.passed === 0 ? 1 : 0;
}

function sum({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function indented(text: string): string {
  return text.slice(0, 3_000).replaceAll(/^/gm, '    ');
}

function command(name: string, program: string, args: readonly string[]): Check {
  return {
    name,
    run: () =>
      new Promise((resolve) => {
        const child = spawn(program, args, { stdio: 'inherit' });
        const end = (isPassed: boolean) => {
          if (!isPassed) failures.push(`- ${name}`);
          resolve({ passed: isPassed ? 1 : 0, failed: isPassed ? 0 : 1, skipped: 0 });
        };
        child.once('error', () => end(false));
        child.once('exit', (code) => end(code === 0));
      }),
  };
}

function tests(name: string, patterns: string[], environment: Record<string, string> = {}): Check {
  return {
    name,
    run: async () => {
      const files = (await Array.fromAsync(glob(patterns, { exclude: ['node_modules/**'] }))).sort();
      if (files.length === 0) return { passed: 0, failed: 0, skipped: 0 };
      const stream = run({
        files,
        concurrency: 2,
        timeout: longestFileMs,
        env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ...environment },
      });
      const counts = new Promise<Counts>((resolve) => {
        const hung = setTimeout(() => {
          failures.push(`- ${name}: does not end within ${longestCheckMs / 1000} s, and is left`);
          resolve({ passed: 0, failed: 1, skipped: 0 });
        }, longestCheckMs);
        stream.on('test:fail', ({ name: test, file, details: { error } }) => {
          // A suite fails with its tests, which are named themselves.
          if (Reflect.get(error, 'failureType') === 'subtestsFailed') return;
          failures.push(
            `- ${name}: ${test} (${relative('.', file ?? '')})\n${indented(inspect(error.cause ?? error))}`,
          );
        });
        stream.on('test:summary', (event) => {
          if (event.file !== undefined) return;
          clearTimeout(hung);
          const { tests, passed, skipped, todo } = event.counts;
          resolve({ passed, failed: tests - passed - skipped - todo, skipped: skipped + todo });
        });
      });
      stream.compose(process.stdout.isTTY ? dot : spec).pipe(process.stdout, { end: false });
      return counts;
    },
  };
}
