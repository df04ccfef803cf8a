import { openAsBlob } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
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
  readonly refunds: number;
  readonly duplicates: number;
  readonly incomes: number;
  readonly matched: number;
  readonly skipped: readonly { readonly line: number; readonly reason: string }[];
  readonly failed: number;
  readonly errors: readonly { readonly line: number; readonly field?: string; readonly message: string }[];
  readonly readAs: { readonly warnings: readonly string[] };
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
  for (const [option, name] of Object.entries(optionFields)) {
    if (options[option] !== undefined) form.set(name, String(options[option]));
  }
  if (Array.isArray(options.mapping))
    form.set('mapping', JSON.stringify(mappingOf(options.mapping.map(String))));
  form.set('file', path === '-' ? await blob(process.stdin) : await openAsBlob(path), basename(path));
  const { body } = await client.send<Task>('/api/import', { method: 'POST', form });
  const task = await finished(client, body, output);
  if (!task.result) throw new Failure('refused', failureText(task));
  if (!task.result.preview && !output.json)
    output.note(`To take it back: budget-manager undo-import ${task.id}`);
  printResult(task.result, output);
}

/** Removes what an import has added, and says what stays. */
export async function undoImport({ client, operands, output }: Context): Promise<void> {
  const [id = ''] = operands;
  const { body } = await client.send<{
    undone: number;
    kept: readonly { id: string; reason: string }[];
  }>(`/api/tasks/${encodeURIComponent(id)}/undo`, { method: 'POST' });
  if (output.json) return output.object(body);
  output.line(`${body.undone} expenses removed, ${body.kept.length} kept`);
  for (const { id: kept, reason } of body.kept) output.note(`  ${kept} stays: ${reason}`);
}

/** The fields of the API that options set as they are. */
const optionFields: Readonly<Record<string, string>> = {
  budget: 'budgetId',
  currency: 'currency',
  format: 'format',
  'dry-run': 'dryRun',
  'date-format': 'dateFormat',
  sign: 'sign',
  decimal: 'decimal',
  encoding: 'encoding',
  separator: 'separator',
  header: 'header',
  'skip-lines': 'skipLines',
  'skip-end': 'skipEnd',
  account: 'account',
  match: 'match',
  incomes: 'incomes',
};

/** `amount=Sum` for each field; a field that is named again joins its columns. */
function mappingOf(pairs: readonly string[]): Record<string, string | string[]> {
  const mapping: Record<string, string | string[]> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw new Failure('usage', `--mapping ${pair} must be FIELD=COLUMN, such as amount=Sum.`);
    const [name, column] = [pair.slice(0, at), pair.slice(at + 1)];
    const before = mapping[name];
    mapping[name] = before === undefined ? column : [before, column].flat();
  }
  return mapping;
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
    const { total, created, refunds, incomes, duplicates, matched, failed, readAs } = result;
    const skipped = total - created - duplicates - matched - failed;
    const verb = result.preview ? 'would be created' : 'created';
    const among = [refunds > 0 && `${refunds} refunds`, incomes > 0 && `${incomes} incomes`].filter(Boolean);
    output.line(
      `${total} lines: ${created} ${verb}${among.length > 0 ? ` (${among.join(', ')})` : ''}, ${duplicates} duplicates${matched > 0 ? `, ${matched} typed before` : ''}, ${skipped} skipped, ${failed} failed`,
    );
    for (const { line, reason } of result.skipped) output.note(`  line ${line} was skipped: ${reason}`);
    for (const warning of readAs.warnings) output.note(`Warning: ${warning}.`);
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
