import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { inspect } from 'node:util';
import { type Cost, costOf } from './cost.ts';

/** Result of a task. */
export interface Result {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Names and errors of what failed. */
  readonly failures: readonly string[];
  /** The report for people. */
  readonly output: string;
  readonly fileTimes?: readonly FileTime[];
}

export interface FileTime {
  readonly file: string;
  readonly ms: number;
  /** Processor time of the file with the programs that it started and that ended with it. */
  cpuSeconds: number;
}

/** Test files that run in one process, one after another. `group.ts` runs them. */
export interface Group {
  readonly files: readonly string[];
  /** Lines of tests, more for slow ones. Long groups start first. */
  readonly weight: number;
}

/** The most that files of one group weigh: about a minute. */
const weightMax = 2_000;

/** Weight of a line: browsers and programs that a file starts take longer than its lines tell. */
const lineWeights: Readonly<Record<Cost, number>> = { 'one process': 1, processes: 3, 'a browser': 4 };

/** A group that hangs is ended. A file that hangs fails earlier. */
const groupTimeoutMs = 900_000;

/** Returns the test files that the patterns match, from the folder of the project. */
export function testFilesOf(patterns: readonly string[]): string[] {
  return globSync(patterns, { exclude: ['**/node_modules/**'] }).sort();
}

/** Groups of files: neighbors of one service in one group, which share its modules. */
export function groupsOf(files: readonly string[], { alone = false } = {}): Group[] {
  const groups: { files: string[]; weight: number }[] = [];
  for (const file of files) {
    const last = groups.at(-1);
    const weight = readFileSync(file, 'utf8').split('\n').length * lineWeights[costOf(file)];
    const fits = !alone && last?.files[0] !== undefined && areaOf(last.files[0]) === areaOf(file);
    if (last && fits && last.weight + weight <= weightMax) {
      last.files.push(file);
      last.weight += weight;
    } else {
      groups.push({ files: [file], weight });
    }
  }
  return groups;
}

/** A service or another package, or the folder of the rest. */
function areaOf(file: string): string {
  const [folder = '', name = ''] = file.split(/[\\/]/);
  return folder === 'services' ? join(folder, name) : folder;
}

/** Runs the files of a group in a new process, and resolves when it ends. */
export async function runGroup({ files }: Group, environment: NodeJS.ProcessEnv): Promise<Result> {
  const stream = run({
    files: [join(import.meta.dirname, 'group.ts')],
    argv: [...files],
    timeout: groupTimeoutMs,
    env: environment,
  });
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: string[] = [];
  const fileTimes: FileTime[] = [];
  const isFile = ({ name, nesting }: TestEvent) => nesting === 0 && files.includes(name);
  const isLoad = ({ name, nesting }: TestEvent) => nesting === 1 && name === 'is loaded';
  const recordTime = (event: TestEvent) => {
    if (isFile(event)) fileTimes.push({ file: event.name, ms: event.details.duration_ms, cpuSeconds: 0 });
  };
  // What `group.ts` tells of a file follows its result.
  stream.on('test:diagnostic', ({ message }) => {
    const [, cpuSeconds] = /^(\d+\.\d+) processor seconds$/.exec(message) ?? [];
    const last = fileTimes.at(-1);
    if (cpuSeconds && last) last.cpuSeconds = Number(cpuSeconds);
  });
  stream.on('test:pass', (event) => {
    recordTime(event);
    if (isFile(event) || isLoad(event) || event.details.type === 'suite') return;
    counts[event.skip !== undefined || event.todo !== undefined ? 'skipped' : 'passed']++;
  });
  stream.on('test:fail', (event) => {
    recordTime(event);
    const { error } = event.details;
    // A file or suite fails together with its tests, which are reported themselves.
    if (Reflect.get(error, 'failureType') === 'subtestsFailed') return;
    counts.failed++;
    failures.push(
      `${event.name} (${relative('.', event.file ?? '')})\n${indented(inspect(error.cause ?? error))}`,
    );
  });
  let output = '';
  for await (const text of stream.compose(spec)) output += text;
  return { ...counts, failures, output: output.slice(0, output.indexOf('ℹ tests ')), fileTimes };
}

function indented(text: string): string {
  return text.slice(0, 3_000).replaceAll(/^/gm, '    ');
}

interface TestEvent {
  readonly name: string;
  readonly nesting: number;
  readonly details: { readonly duration_ms: number };
}
