import type { Clock } from '@octavo/core';
import { AppError, newId, notFound } from '@octavo/core';
import type { ObjectStore, StoredObject } from '@octavo/data/objects';
import type { RowProblem } from '@octavo/web/import-pages';
import type { ImportedFile } from './import-fields.ts';

/** State of an import while it runs, and its result. */
export interface ImportResult {
  /** Part of the file that was read, 0 to 1. */
  readonly share: number;
  readonly created: number;
  readonly failed: number;
  /** The first invalid rows, by their number in the file from 1. */
  readonly problems: readonly RowProblem[];
  /** Reason of an end before the end of the file. */
  readonly problem?: string | undefined;
  /** True if the rest can be imported later. */
  readonly canContinue?: boolean;
}

/** Shorter than the day for which keys of saved batches are known. */
const lifetimeMs = 12 * 3_600_000;
const perCallerMax = 8;
const folder = 'imports/';

type Part = 'file' | 'plan' | 'result' | 'failed';

/** The file of one user's import. */
export interface ImportRef {
  readonly uid: number;
  readonly id: string;
}

/**
 * Files that were uploaded, and what became of them, in the object store: any replica can show or continue an import. They go after
 * twelve hours.
 */
export class ImportedFiles {
  readonly #store: ObjectStore;
  readonly #clock: Clock;

  constructor(store: ObjectStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Stores a file, and returns the id of its import. Nothing is left of one that does not arrive whole. */
  async add(uid: number, chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<string> {
    await this.#sweep(uid);
    const id = newId();
    const keys = [keyOf({ uid, id }, 'file')];
    await this.#store.put(chunks, { keys, contentType: 'application/octet-stream', signal });
    return id;
  }

  /** Throws `not_found` if the user no longer has such a file. */
  async require(ref: ImportRef): Promise<StoredObject> {
    const file = await this.#store.find(keyOf(ref, 'file'));
    if (!file || this.#isOld(file)) throw notFound('import', ref.id);
    return file;
  }

  /** The start of a file, or all of it. */
  async head(file: StoredObject, bytes: number): Promise<Uint8Array> {
    const end = Math.min(bytes, file.sizeBytes) - 1;
    return Buffer.concat(await Array.fromAsync(this.#store.read(file, { start: 0, end })));
  }

  read(file: StoredObject): AsyncIterable<Uint8Array> {
    return this.#store.read(file);
  }

  /** The plan by which a file is imported: the first that was kept. */
  async keepPlan(ref: ImportRef, plan: ImportedFile): Promise<ImportedFile> {
    await this.#keep(ref, 'plan', JSON.stringify(plan));
    return (await this.plan(ref)) ?? plan;
  }

  /** The plan of an import that has begun. */
  async plan(ref: ImportRef): Promise<ImportedFile | undefined> {
    const text = await this.#textOf(ref, 'plan');
    return text === undefined ? undefined : (JSON.parse(text) as ImportedFile);
  }

  /** The result of an import that has ended. */
  async result(ref: ImportRef): Promise<ImportResult | undefined> {
    const text = await this.#textOf(ref, 'result');
    return text === undefined ? undefined : (JSON.parse(text) as ImportResult);
  }

  keepResult(ref: ImportRef, result: ImportResult): Promise<void> {
    return this.#keep(ref, 'result', JSON.stringify(result));
  }

  /** Keeps the rows that were not saved, as CSV. */
  keepFailed(ref: ImportRef, csv: string): Promise<void> {
    return this.#keep(ref, 'failed', csv);
  }

  failed(ref: ImportRef): Promise<string | undefined> {
    return this.#textOf(ref, 'failed');
  }

  async remove(ref: ImportRef): Promise<void> {
    await this.#store.remove(keyOf(ref, 'file'));
  }

  async #keep(ref: ImportRef, part: Part, text: string): Promise<void> {
    const options = { keys: [keyOf(ref, part)], contentType: 'text/plain; charset=utf-8' };
    try {
      await this.#store.put(one(Buffer.from(text)), options);
    } catch (error) {
      // An import that began twice keeps its first file, which is equal.
      if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    }
  }

  async #textOf(ref: ImportRef, part: Part): Promise<string | undefined> {
    const object = await this.#store.find(keyOf(ref, part));
    return object && Buffer.concat(await Array.fromAsync(this.#store.read(object))).toString();
  }

  /** Removes old files, and the oldest files of a user who has many. */
  async #sweep(uid: number): Promise<void> {
    const objects = await this.#store.list(folder);
    const own = objects.filter(({ key }) => key.startsWith(`${folder}${uid}-`) && key.endsWith('.file'));
    const gone = [...objects.filter((object) => this.#isOld(object)), ...own.slice(perCallerMax - 1)];
    for (const { key } of gone) await this.#store.remove(key);
  }

  #isOld({ modifiedMs }: StoredObject): boolean {
    return modifiedMs < this.#clock.now() - lifetimeMs;
  }
}

function keyOf({ uid, id }: ImportRef, part: Part): string {
  if (!/^[\w-]{1,64}$/.test(id)) throw notFound('import', id);
  return `${folder}${uid}-${id}.${part}`;
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
