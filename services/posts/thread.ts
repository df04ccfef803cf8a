import { constants, platform, setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { type ErrorCode, type Fields, toAppError } from '#kit/errors.ts';
import { silentLog } from '#kit/log.ts';
import { type BulkCreation, type BulkOutcome, createMany } from './bulk.ts';
import { openPostDatabase } from './database.ts';
import { readPage } from './page.ts';
import type { Page, PageRequest } from './post.ts';
import { type Creation, createPosts } from './post-writer.ts';
import type { Reserved } from './store.ts';
import { Indexer } from './store-search/indexer.ts';
import { Kept } from './store-search/kept.ts';
import type { Tables } from './tables.ts';

// The entry of a worker thread: it does what takes long for `threads.ts`, on connections of its own.

/** What a thread can be asked, and what it answers. */
export interface Tasks {
  page: (request: PageRequest) => Promise<Page>;
  create: (creation: Creation) => Promise<Reserved>;
  createMany: (creation: BulkCreation) => Promise<BulkOutcome>;
  /** Makes the search index; false where another process is at it. */
  index: () => Promise<boolean>;
  /** Ends what runs, closes the database, and then the thread. */
  close: () => Promise<void>;
}

export type Question = {
  readonly [K in keyof Tasks]: { id: number; task: K; input: Parameters<Tasks[K]>[0] };
}[keyof Tasks];

export type Answer =
  | { readonly id: number; readonly value: unknown; readonly error?: undefined }
  | { readonly id: number; readonly error: ThreadError };

/** An error as it goes from thread to thread. */
export interface ThreadError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly fields: Fields;
  readonly stack: string;
}

if (parentPort) serve(parentPort, (workerData as { folder: string }).folder);

function serve(port: MessagePort, folder: string): void {
  const tasks = open(folder);
  port.on('message', async ({ id, task, input }: Question) => {
    port.postMessage(await answer(id, async () => (await tasks)[task](input as never)));
    if (task === 'close') port.close();
  });
}

async function open(folder: string): Promise<Tasks> {
  return createTasks(await openPostDatabase({ url: undefined, folder, log: silentLog }));
}

function createTasks(database: Database<Tables>): Tasks {
  const kept = new Kept();
  const stop = new AbortController();
  const indexer = new Indexer(database, systemClock);
  let indexing: Promise<boolean> | undefined;
  return {
    page: (request) => database.read((session) => readPage(session, kept, request)),
    create: (creation) => createPosts(database, creation),
    createMany: (creation) => createMany(database, creation),
    index: () => {
      giveWay();
      indexing = indexer.run(stop.signal);
      return indexing;
    },
    close: async () => {
      stop.abort();
      await indexing?.catch(() => {});
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Only on Linux a thread has a priority of its own. */
function giveWay(): void {
  if (platform() === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}

async function answer(id: number, run: () => Promise<unknown>): Promise<Answer> {
  try {
    return { id, value: await run() };
  } catch (error) {
    const { code, message, fields, stack = '', cause } = toAppError(error);
    const origin = cause instanceof Error ? String(cause.stack) : stack;
    return { id, error: { code, message, fields, stack: origin } };
  }
}
