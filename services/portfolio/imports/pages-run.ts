import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@octavo/core';
import { AppError, newSecret, notFound } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { Imported } from '../records.ts';
import { type ImportPlan, planRecords, saveRecords } from '../store/import.ts';
import { claimDemoLoad, type Tables, type UploadRow } from '../store/store.ts';
import { addUpload, deleteUpload, findUpload, finishUpload } from '../store/uploads.ts';
import { parseImport, type Reading } from './pages-file.ts';

export const uploadBytesMax = 5 * 1024 * 1024;
const lifetimeMs = 60 * 60_000;
const resultMs = 24 * 60 * 60_000;
const progressMs = 100;
/** Records after which other requests get their turn. */
const sliceRecords = 100;

export interface ImportsContext {
  readonly database: Database<Tables>;
  readonly clock: Clock;
}

/** Result of an import. */
export interface ImportResult {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** An upload of an administrator. */
export interface UploadRef {
  readonly id: string;
  readonly userId: number;
}

/** Keeps a file for an hour, and returns its id. */
export async function keepFile(
  { database, clock }: ImportsContext,
  userId: number,
  { name, content }: { name: string; content: string },
): Promise<string> {
  const id = newSecret();
  const nowMs = clock.now();
  const row = { id, user_id: userId, name: name.slice(0, 200).toWellFormed(), content };
  await database.write((store) => addUpload(store, { ...row, expires_at_ms: nowMs + lifetimeMs }, nowMs));
  return id;
}

/** Throws `not_found` for an upload that has expired or is another user's. */
export async function requireFile(
  { database, clock }: ImportsContext,
  { id, userId }: UploadRef,
): Promise<UploadRow> {
  const row = await findUpload(database, { id: id.replaceAll('\0', ''), userId, nowMs: clock.now() });
  if (!row) throw notFound('import', id);
  return row;
}

export async function forgetFile(context: ImportsContext, ref: UploadRef): Promise<void> {
  const { id } = await requireFile(context, ref);
  await context.database.write((store) => deleteUpload(store, id));
}

export interface Options extends Reading {
  /** True to delete records that are not in the file. */
  readonly replaces: boolean;
  /** True for a file that is a list, whose `kind` is asked for where its columns do not tell. */
  readonly isList: boolean;
}

/** Plan of an import, or the reason for its absence: a message about the file, and problems by their records. */
export type Preview =
  | { readonly records: Imported; readonly plan: ImportPlan; readonly message?: undefined }
  | { readonly message: string; readonly problems: ReadonlyMap<string, string> };

/** Reads and checks a file as the import does. Nothing is saved. */
export async function previewFile(
  { database }: ImportsContext,
  content: string,
  options: Options,
): Promise<Preview> {
  try {
    if (options.isList && options.kind === undefined)
      return { message: 'The columns do not tell what the file has. Choose it.', problems: new Map() };
    const records = parseImport(Buffer.from(content), options);
    const plan = await database.read((store) => planRecords(store, records, options));
    if (plan.problems.size === 0) return { records, plan };
    return { message: wrongRecords, problems: plan.problems };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code !== 'invalid_input' && error.code !== 'validation_failed') throw error;
    return { message: messageOf(error), problems: new Map(Object.entries(error.fields)) };
  }
}

const wrongRecords = 'Some records have errors. Correct the file and choose it again.';

/** Message for a page, which names the records in a table. */
function messageOf({ code, fields, message }: AppError): string {
  return code === 'validation_failed' && Object.keys(fields).length > 0 ? wrongRecords : message;
}

/** A line of the progress that the browser module `imports.js` shows. */
export interface ImportState {
  readonly share: number;
  readonly created: number;
  readonly failed: number;
  readonly problem?: string;
  readonly canContinue?: boolean;
}

/**
 * Saves the records of a file, all or nothing, and yields how many are saved. One that was imported already is not imported again. When the
 * signal aborts, nothing is saved.
 */
export async function* importFile(
  context: ImportsContext,
  ref: UploadRef,
  { signal, ...options }: Options & { readonly signal: AbortSignal },
): AsyncGenerator<ImportState> {
  const { content, result } = await requireFile(context, ref);
  if (result !== null) return yield { share: 1, created: 0, failed: 0 };
  const progress = { saved: 0, total: 1 };
  const work = run(context, ref, { content, options, signal, progress });
  const ended = work.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([ended, delay(progressMs, false)])))
    yield { share: Math.min(progress.saved / progress.total, 0.99), created: progress.saved, failed: 0 };
  try {
    await work;
    yield { share: 1, created: progress.saved, failed: 0 };
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    const canContinue = error.code !== 'invalid_input' && error.code !== 'validation_failed';
    yield { share: 1, created: 0, failed: 0, problem: messageOf(error), canContinue };
  }
}

interface Work {
  readonly content: string;
  readonly options: Options;
  readonly signal: AbortSignal;
  readonly progress: { saved: number; total: number };
}

async function run(
  { database, clock }: ImportsContext,
  { id, userId }: UploadRef,
  { content, options, signal, progress }: Work,
): Promise<void> {
  const { replaces } = options;
  const records = parseImport(Buffer.from(content), options);
  progress.total = Math.max(1, records.team.length + records.investments.length + records.sectors.length);
  await database.write(
    async (store) => {
      // The transaction may run again after a conflict.
      progress.saved = 0;
      const nowMs = clock.now();
      await store.lock('import');
      const upload = await findUpload(store, { id, userId, nowMs });
      if (!upload || upload.result !== null) return;
      const { added, changed, removed } = await planRecords(store, records, { replaces });
      await claimDemoLoad(store, nowMs);
      const onSaved = async () => {
        progress.saved++;
        signal.throwIfAborted();
        if (progress.saved % sliceRecords === 0) await nextTurn();
      };
      await saveRecords(store, records, { nowMs, replaces, onSaved });
      const result = JSON.stringify({ added, changed, removed } satisfies ImportResult);
      await finishUpload(store, { id, result, expiresAtMs: nowMs + resultMs });
    },
    { alone: true },
  );
}
