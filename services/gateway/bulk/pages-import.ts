import { createHash } from 'node:crypto';
import { AppError } from '@octavo/core';
import type { ConcurrencyLimiter } from '@octavo/core/concurrency';
import { byteOrderMark, csvRecord } from '@octavo/core/text';
import type { RowProblem } from '@octavo/web/import-pages';
import { readInThread } from '@octavo/web/imports';
import type { CreatePostRequest } from '../posts/index.ts';
import { noSuchUser } from '../users/index.ts';
import { failedColumns, failedMax, type ImportedFile, tooManyFailed } from './import-fields.ts';
import type { ImportResult } from './imported-files.ts';
import type { ImportedRows } from './pages-import-worker.ts';

export interface ImportRun {
  readonly file: ImportedFile;
  readonly sizeBytes: number;
  readonly body: AsyncIterable<Uint8Array>;
  /** Slots that are taken while a part of the file is parsed. */
  readonly parsing: ConcurrencyLimiter;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Saves rows, once for each key and digest. */
  readonly save: (
    rows: CreatePostRequest[],
    idempotency: { key: string; digest: Uint8Array },
  ) => Promise<void>;
  /** The number of the user with a name; undefined if there is none. */
  readonly uidOf: (name: string) => Promise<number | undefined>;
  /** Gets the rows that cannot be saved, as a CSV file, when there are any. */
  readonly keepFailed: (csv: string) => Promise<void>;
}

const batchRows = 500;
const problemsShown = 200;
const batchCharacters = 256 * 1024;
/** Length of the rows that failed that is kept. */
const failedCharactersMax = 4 * 1024 * 1024;

/**
 * Saves the rows of a file, and yields the state after each batch. The same file gives the same batches, so an import that was cut
 * off begins again and saves nothing twice. Throws when the client goes.
 */
export async function* importFile(run: ImportRun): AsyncGenerator<ImportResult> {
  const { body, file, sizeBytes, signal, parsing: slots } = run;
  const state = { share: 0, created: 0, failed: 0, problems: [] as RowProblem[] };
  const failedRows = new FailedRows();
  const thread = {
    module: new URL('./pages-import-worker.ts', import.meta.url),
    options: file,
    signal,
    slots,
  };
  const batch = new Batch(run.save);
  const authors = new Authors(run.uidOf);
  let read = 0;
  let problem: string | undefined;
  try {
    for await (const { rows: parsed, readBytes } of readInThread<ImportedFile, ImportedRows>(body, thread)) {
      const problems = [...parsed.problems];
      failedRows.add(parsed.failedRecords);
      state.failed += parsed.failed;
      for (const row of parsed.rows) {
        const post = await authors.postOf(row);
        if (post) {
          state.created += await batch.add({ number: row.number, post });
          continue;
        }
        const message = `author ${noSuchUser}`;
        state.failed += 1;
        problems.push({ row: row.number, message });
        failedRows.add(recordOf(row, message));
      }
      read += parsed.read;
      problems.sort((one, other) => one.row - other.row);
      state.problems.push(...problems.slice(0, problemsShown - state.problems.length));
      state.share = readBytes / sizeBytes;
      yield state;
      problem = parsed.problem ?? (state.failed > failedMax ? tooManyFailed : undefined);
      if (problem !== undefined) break;
    }
    state.created += await batch.save();
    if (state.failed > 0) await run.keepFailed(failedRows.text);
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof AppError) return yield { ...state, problem: error.message, canContinue: true };
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    problem = 'The file needs too much memory.';
  }
  if (read === 0) problem ??= 'The file contains no posts.';
  yield { ...state, share: 1, problem };
}

/** Users by the names in a file, each looked up once. */
class Authors {
  readonly #uidOf: ImportRun['uidOf'];
  readonly #uids = new Map<string, number | undefined>();

  constructor(uidOf: ImportRun['uidOf']) {
    this.#uidOf = uidOf;
  }

  /** Undefined if there is no user of the author's name. */
  async postOf({ post, author }: ImportedRows['rows'][number]): Promise<CreatePostRequest | undefined> {
    if (author === undefined) return post;
    const name = author.toLowerCase();
    if (!this.#uids.has(name)) this.#uids.set(name, await this.#uidOf(author));
    const userId = this.#uids.get(name);
    return userId === undefined ? undefined : { ...post, userId };
  }
}

function recordOf({ post, author = '', number }: ImportedRows['rows'][number], message: string): string {
  return csvRecord([post.title, post.body, author, String(number), message]);
}

/** Rows that are saved together: which ones depends on nothing but the file. */
class Batch {
  readonly #save: ImportRun['save'];
  #posts: CreatePostRequest[] = [];
  #first = 0;
  #characters = 0;

  constructor(save: ImportRun['save']) {
    this.#save = save;
  }

  /** Number of posts that were saved with this one. */
  async add({ number, post }: { number: number; post: CreatePostRequest }): Promise<number> {
    if (this.#posts.length === 0) this.#first = number;
    this.#posts.push(post);
    this.#characters += post.title.length + post.body.length;
    return this.#posts.length < batchRows && this.#characters < batchCharacters ? 0 : this.save();
  }

  async save(): Promise<number> {
    const posts = this.#posts;
    if (posts.length === 0) return 0;
    const digest = createHash('sha256').update(JSON.stringify(posts)).digest();
    await this.#save(posts, { key: String(this.#first), digest });
    this.#posts = [];
    this.#characters = 0;
    return posts.length;
  }
}

/** The rows of an import that were not saved, as a CSV file to mend and to import again. */
class FailedRows {
  #records = '';

  add(records: string): void {
    if (this.#records.length + records.length <= failedCharactersMax) this.#records += records;
  }

  /** Text with a mark at its start, so that spreadsheets read it as UTF-8. */
  get text(): string {
    return `${byteOrderMark}${csvRecord(failedColumns)}${this.#records}`;
  }
}
