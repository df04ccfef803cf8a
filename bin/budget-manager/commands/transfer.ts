import { openAsBlob } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { blob } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../client.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import type { Output } from '../output.ts';

const pollMs = 250;

interface Result {
  readonly total: number;
  readonly created: number;
  readonly duplicates: number;
  readonly skipped: number;
  readonly failed: number;
  readonly errors: readonly { readonly line: number; readonly field?: string; readonly message: string }[];
  readonly preview?: readonly Record<string, unknown>[];
}

interface Task {
  readonly id: string;
  readonly status: 'pending' | 'running' | 'completed' | 'failed' | 'canceled';
  readonly progress: number;
  readonly result?: Result;
  readonly error?: string | { readonly message: string };
}

/** Uploads a file and waits for its task. Fails if a line was refused, after the others were imported. */
export async function importFile({ client, operands, options, output }: Context): Promise<void> {
  const [path = ''] = operands;
  const form = new FormData();
  form.set('budgetId', String(options.budget));
  form.set('format', typeof options.format === 'string' ? options.format : formatOf(path));
  if (options['dry-run']) form.set('dryRun', 'true');
  form.set('file', path === '-' ? await blob(process.stdin) : await openAsBlob(path), basename(path));
  const { body } = await client.send<Task>('/api/import', { method: 'POST', form });
  const task = await finished(client, body, output);
  if (!task.result) throw new Failure('refused', failureText(task));
  printResult(task.result, output);
}

function formatOf(path: string): string {
  const extension = extname(path).slice(1).toLowerCase();
  if (extension === 'qfx') return 'ofx';
  if (['csv', 'ofx', 'qif'].includes(extension)) return extension;
  if (path === '-') throw new Failure('usage', 'Standard input has no name: give --format csv, ofx or qif.');
  throw new Failure('usage', `The name of ${path} does not tell its format: give --format csv, ofx or qif.`);
}

async function finished(client: Client, started: Task, output: Output): Promise<Task> {
  let task = started;
  while (task.status === 'pending' || task.status === 'running') {
    output.progress('Importing', task.progress, 100);
    await sleep(pollMs);
    task = await client.get<Task>(`/api/tasks/${task.id}`);
  }
  if (task.status === 'completed') output.progress('Importing', 100, 100);
  return task;
}

function failureText({ status, error }: Task): string {
  const reason = typeof error === 'string' ? error : error?.message;
  return `The import ${status === 'canceled' ? 'was canceled' : 'failed'}${reason ? `: ${reason}` : '.'}`;
}

function printResult(result: Result, output: Output): void {
  if (output.json) output.object(result);
  else {
    for (const row of result.preview ?? []) output.line(JSON.stringify(row));
    const { total, created, duplicates, skipped, failed } = result;
    const verb = result.preview ? 'would be created' : 'created';
    output.line(
      `${total} lines: ${created} ${verb}, ${duplicates} duplicates, ${skipped} skipped, ${failed} failed`,
    );
  }
  if (result.failed === 0) return;
  const lines = result.errors.map(
    ({ line, field, message }) => `  line ${line}${field ? `, ${field}` : ''}: ${message}`,
  );
  throw new Failure('refused', ['Some lines could not be imported.', ...lines].join('\n'));
}

/** Downloads the export to a file, which appears when it is whole, or to standard output. */
export async function exportFile({ client, options, output }: Context): Promise<void> {
  const query = new URLSearchParams({ format: 'csv' });
  for (const name of ['format', 'from', 'to']) {
    if (typeof options[name] === 'string') query.set(name, options[name]);
  }
  const { body } = await client.open(`/api/export?${query}`);
  if (typeof options.out !== 'string') return pipeline(body, process.stdout, { end: false });
  const temporary = `${options.out}.part`;
  try {
    const file = await open(temporary, 'w');
    await pipeline(body, file.createWriteStream());
    await rename(temporary, options.out);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  output.note(`Exported to ${options.out}.`);
}
