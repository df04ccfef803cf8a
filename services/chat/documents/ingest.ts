import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Clock, Log } from '@octavo/core';
import { AppError, toAppError } from '@octavo/core';
import type { Background } from '@octavo/core/concurrency';
import { runEvery } from '@octavo/core/concurrency';
import type { Database } from '@octavo/data';
import { mediaTypeOf, readerVersion } from '@octavo/documents';
import type { ParsedChunk, Parser } from '../extraction/index.ts';
import type { LibraryRules } from '../library.ts';
import type { Tables } from '../tables.ts';
import { type Document, type DuplicateMode, namesakeWarning, scopeOf } from './document.ts';
import { cleanName } from './names.ts';
import { findAgain, findByBytes, findByName } from './store/find.ts';
import { libraryId } from './store/libraries.ts';
import { clearChunks, removeDocument } from './store/removal.ts';
import {
  type Changed,
  claimAbandoned,
  contentOf,
  hideDocument,
  insertChunks,
  insertDocument,
  insertSuccessor,
  insertText,
  markFailed,
  publish,
  renewLease,
  takeOver,
} from './store/store.ts';

/** After that long without a sign of the process that works on a document, another one takes it over. */
const leaseMs = 60_000;
const resumeEveryMs = 30_000;
const longBytes = 100_000;

export interface IngestParts {
  readonly database: Database<Tables>;
  readonly parser: Parser;
  readonly clock: Clock;
  readonly log: Log;
  readonly background: Background;
  readonly library: LibraryRules;
  /** Called when a document can be found by its words. */
  readonly onIndexed?: (() => void) | undefined;
}

/** A file as it was uploaded. */
export interface UploadedFile {
  readonly filename: string;
  readonly bytes: Uint8Array;
}

export interface UploadOptions {
  readonly owner: string;
  /** The library that it goes into. */
  readonly libraryKey: string;
  readonly session: string | null;
  readonly tags: readonly string[];
  readonly onDuplicate: DuplicateMode;
  /** True to wait until it can be found. */
  readonly waits: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface Uploaded {
  readonly document: Document;
  readonly isDuplicate: boolean;
}

/** Stores and indexes a file. Throws an `AppError` in words for the uploader. */
export async function upload(
  parts: IngestParts,
  file: UploadedFile,
  options: UploadOptions,
): Promise<Uploaded> {
  const { database, clock } = parts;
  const { bytes } = file;
  const filename = cleanName(file.filename);
  if (bytes.length === 0) throw new AppError('unprocessable', `${filename} is empty.`);
  const mediaType = mediaTypeOf(filename, bytes);
  const library = await libraryId(database, options.libraryKey);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const scope = scopeOf(parts.library, { library, owner: options.owner });
  const known = await findByBytes(database, scope, sha256);
  if (known) return { document: known, isDuplicate: true };
  const namesakes = await findByName(database, scope, filename);
  if (namesakes.length > 0 && options.onDuplicate === 'error')
    throw new AppError('conflict', `There is already a document named ${filename}.`);
  const replaces = options.onDuplicate === 'replace';
  const keepsBoth = namesakes.length > 0 && options.onDuplicate === 'skip';
  const warnings = keepsBoth ? [namesakeWarning] : [];
  const given = { library, owner: options.owner, session: options.session, filename, mediaType };
  const document = await database.write(
    (session) =>
      insertDocument(
        session,
        { ...given, sha256, bytes, tags: options.tags, warnings, replaces },
        { nowMs: clock.now(), leaseMs },
      ),
    { alone: bytes.length > longBytes },
  );
  if (!document) {
    const first = await findByBytes(database, scope, sha256);
    if (first) return { document: first, isDuplicate: true };
    throw new AppError('conflict', `${filename} is being uploaded at the same time.`);
  }
  if (options.waits) {
    try {
      const shown = await index(parts, document, { bytes, signal: options.signal });
      return { document: shown, isDuplicate: false };
    } catch (error) {
      await removeDocument(database, document.id);
      throw error;
    }
  }
  parts.background.run('indexing a document', () => indexOrMark(parts, document, { bytes }));
  return { document, isDuplicate: false };
}

export interface Reindexing {
  readonly changed?: Changed;
  readonly signal?: AbortSignal;
}

/**
 * Reads a document again, which is found as it was until that is done. Throws `conflict` while it is being read, `unprocessable` if its file
 * cannot be read or is not there.
 */
export async function reindex(
  parts: IngestParts,
  document: Document,
  { changed = {}, signal }: Reindexing = {},
): Promise<Document> {
  const { database } = parts;
  for (let current: Document | undefined = document; current; ) {
    if (current.status === 'processing')
      throw new AppError('conflict', 'The document is being read already.');
    const bytes = await originalOf(database, current);
    const read = bytes && (await replaceReading(parts, current, { bytes, changed, signal }));
    if (read) return read;
    const next: Document | undefined = await findAgain(database, document.publicId);
    if (!bytes && next?.id === current.id) throw new AppError('unprocessable', lostOriginal);
    // It was read again in the meantime, also in the background, so the change is made to that.
    current = next;
  }
  throw new AppError('not_found', 'The document was deleted while it was read.');
}

/** The file of a document; undefined if it is not whole. */
export async function originalOf(
  database: Database<Tables>,
  document: Document,
): Promise<Uint8Array | undefined> {
  const bytes = Buffer.concat(await Array.fromAsync(contentOf(database, document)));
  return bytes.length === document.size ? bytes : undefined;
}

export const lostOriginal = 'The file of the document is no longer stored, so it cannot be read again.';

/** Reads a document into a successor, which takes its place. Undefined if the document was changed in the meantime. */
export async function replaceReading(
  parts: IngestParts,
  document: Document,
  { changed, ...work }: Work & { readonly changed: Changed },
): Promise<Document | undefined> {
  const { database, clock } = parts;
  const successor = await insertSuccessor(database, document, { nowMs: clock.now(), leaseMs, changed });
  let isDone = false;
  try {
    const shown = await readInto(parts, successor, work);
    isDone = await takeOver(database, document, { successor, changed, nowMs: clock.now() });
    if (!isDone) return undefined;
    parts.onIndexed?.();
    const { publicId, sha256, createdAtMs } = document;
    return { ...shown, publicId, sha256, createdAtMs, status: 'indexed' };
  } finally {
    await removeDocument(database, isDone ? document.id : successor.id);
  }
}

interface Work {
  readonly bytes: Uint8Array;
  readonly signal?: AbortSignal | undefined;
  /** True to leave the database to others at least half of the time. */
  readonly isIdle?: boolean;
}

/** Reads a stored document and publishes it, in the place of those that it replaces. */
async function index(parts: IngestParts, document: Document, work: Work): Promise<Document> {
  const { database, clock } = parts;
  const shown = await readInto(parts, document, work);
  const scope = scopeOf(parts.library, document);
  const replaced = await publish(database, document, { nowMs: clock.now(), scope });
  if (!replaced)
    throw new AppError('conflict', `${document.filename} was deleted or replaced while it was read.`);
  parts.onIndexed?.();
  for (const old of replaced) await removeDocument(database, old);
  return { ...shown, status: 'indexed' };
}

/** Stores the text and the chunks of a document. They are not found yet. */
async function readInto(parts: IngestParts, document: Document, work: Work): Promise<Document> {
  const { database, parser, clock, log } = parts;
  const { id, filename, mediaType, library, givenTitle } = document;
  let shown = document;
  const title = givenTitle ?? undefined;
  const request = { bytes: work.bytes, filename, mediaType, library, title, dialect: database.dialect };
  const renew = () => renewLease(database, id, clock.now() + leaseMs);
  using _renewing = runEvery(leaseMs / 3, renew, { log, failure: 'the lease of a document was not renewed' });
  await parser.parse(
    request,
    async (reply) => {
      work.signal?.throwIfAborted();
      if (reply.kind === 'chunks') return storeChunks(database, id, reply.chunks, work);
      const warnings = [...uploadWarnings(document), ...reply.warnings];
      await insertText(database, id, { ...reply, warnings });
      const { title, pages, chunkCount } = reply;
      shown = { ...shown, title, pages, chunkCount, warnings, readerVersion, textLength: reply.text.length };
    },
    work.signal,
  );
  return shown;
}

const idleSlice = 50;

async function storeChunks(
  database: Database<Tables>,
  document: number,
  chunks: readonly ParsedChunk[],
  { isIdle = false, signal }: Work,
): Promise<void> {
  if (!isIdle) return insertChunks(database, document, chunks);
  for (let first = 0; first < chunks.length; first += idleSlice) {
    const startMs = performance.now();
    await insertChunks(database, document, chunks.slice(first, first + idleSlice));
    await setTimeout(performance.now() - startMs, undefined, { signal });
  }
}

/** The warnings of a document that reading it again does not renew. */
export function uploadWarnings({ warnings }: Document): string[] {
  return warnings.filter((warning) => warning === namesakeWarning);
}

/** Indexes without a waiting caller; an error is stored with the document. */
export async function indexOrMark(parts: IngestParts, document: Document, work: Work): Promise<void> {
  try {
    await index(parts, document, work);
  } catch (error) {
    parts.log.info({ err: error, document: document.publicId }, 'a document was not indexed');
    const { message } = toAppError(error);
    await markFailed(parts.database, document.id, { error: message, nowMs: parts.clock.now() });
  }
}

/** Deletes a document. Nothing of it is left when this resolves. */
export async function deleteDocument({ database }: IngestParts, document: Document): Promise<void> {
  const hidden = await hideDocument(database, document);
  if (hidden !== undefined) await removeDocument(database, hidden);
}

/** Ends what processes that were killed had begun, now and every 30 seconds. */
export function resumeDocuments(parts: IngestParts): Disposable {
  const { log, background } = parts;
  const failure = 'abandoned documents could not be resumed';
  const resuming = runEvery(resumeEveryMs, () => resumeAbandoned(parts), { log, failure, startsNow: true });
  return {
    [Symbol.dispose]() {
      resuming[Symbol.dispose]();
      // `background` ends after the parser, which a run may be waiting for.
      background.run('resuming documents', async () => resuming[Symbol.asyncDispose]());
    },
  };
}

async function resumeAbandoned(parts: IngestParts): Promise<void> {
  const { database, clock } = parts;
  for (;;) {
    const document = await claimAbandoned(database, { nowMs: clock.now(), leaseMs });
    if (!document) return;
    // A successor has no bytes of its own before it takes over, and its document is still there.
    const isSuccessor = document.sha256 === document.publicId;
    if (document.status === 'deleting') {
      await removeDocument(database, document.id);
    } else if (isSuccessor) {
      // Hidden first, so that a process that was only slow does not publish a part of it.
      await deleteDocument(parts, document);
    } else {
      await clearChunks(database, document.id);
      const bytes = Buffer.concat(await Array.fromAsync(contentOf(database, document)));
      await indexOrMark(parts, document, { bytes });
    }
  }
}
