import { toAppError } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { JobQueue } from '@octavo/data/jobs';
import { readerVersion, unreadable } from '@octavo/documents';
import { type ParsedChunk, type ParsedText, Parser } from '../extraction/index.ts';
import type { Document } from './document.ts';
import { type IngestParts, lostOriginal, originalOf, replaceReading, uploadWarnings } from './ingest.ts';
import { listChunks } from './store/list.ts';
import { nextOutdated, noteReading } from './store/readings.ts';
import { textOf } from './store/store.ts';

/** Interval of the search for documents of an earlier version, which a replica of that version may still add. */
const lookEveryMs = 60_000;
/** The database or the machine may be in trouble for days. */
const attemptsMax = 1_000_000;
/** A replica of an earlier version does not take the job of a later one. */
const kind = `reread-${readerVersion}`;
const isAsBefore = 'Its text is as an earlier version read it.';
/** Errors of a file, which would be the same again. */
const ofFile: readonly string[] = ['unprocessable', 'unsupported_media_type', 'conflict'];

/**
 * Reads documents again that an earlier version of the reader has read, in the background until disposed of: one after another, by one
 * replica at a time, in a process of low priority. A document is found as it was until the new text is whole, and stays as it is if the text is the same.
 */
export function rereadDocuments(
  { log, ...given }: Omit<IngestParts, 'parser' | 'onIndexed'>,
  queue: JobQueue,
): AsyncDisposable {
  const parser = new Parser({ log, isIdle: true });
  const parts: IngestParts = { ...given, log, parser };
  const worker = queue.work({ kind, concurrency: 1, attemptsMax }, (_job, signal) =>
    rereadAll(parts, signal),
  );
  const look = async () => {
    if (await nextOutdated(parts.database)) await queue.add([{ id: kind, kind, payload: new Uint8Array() }]);
  };
  const failure = 'documents of an earlier version could not be looked for';
  const looking = runEvery(lookEveryMs, look, { log, failure, startsNow: true });
  return {
    async [Symbol.asyncDispose]() {
      await looking[Symbol.asyncDispose]();
      await worker[Symbol.asyncDispose]();
      await parser[Symbol.asyncDispose]();
    },
  };
}

async function rereadAll(parts: IngestParts, signal: AbortSignal): Promise<void> {
  let document = await nextOutdated(parts.database);
  let count = 0;
  for (; document; count++) {
    signal.throwIfAborted();
    await reread(parts, document, signal);
    document = await nextOutdated(parts.database, document.id);
  }
  parts.log.info(
    { event: 'documents_reread', documents: count, reader: readerVersion },
    'documents were read again',
  );
}

async function reread(parts: IngestParts, document: Document, signal: AbortSignal): Promise<void> {
  const { database, log } = parts;
  try {
    const bytes = await originalOf(database, document);
    if (!bytes) throw unreadable(lostOriginal);
    const work = { bytes, signal, isIdle: true };
    const { isSame, warnings } = await compareReading(parts, document, work);
    if (isSame)
      await noteReading(database, document, { warnings: [...uploadWarnings(document), ...warnings] });
    else await replaceReading(parts, document, { ...work, changed: {} });
  } catch (thrown) {
    signal.throwIfAborted();
    const { code, message } = toAppError(thrown);
    if (code === 'not_found') return;
    if (!ofFile.includes(code)) throw thrown;
    log.info({ err: thrown, document: document.publicId }, 'a document was not read again');
    const warnings = [...uploadWarnings(document), `${message} ${isAsBefore}`];
    await noteReading(database, document, document.status === 'failed' ? { error: message } : { warnings });
  }
}

/**
 * Reads a document without storing anything, and compares text and passages with those that are there. Throws `unprocessable` if all text
 * would be gone.
 */
async function compareReading(
  { database, parser }: IngestParts,
  document: Document,
  { bytes, signal }: { bytes: Uint8Array; signal: AbortSignal },
): Promise<{ isSame: boolean; warnings: readonly string[] }> {
  const { id, filename, mediaType, library, givenTitle } = document;
  const title = givenTitle ?? undefined;
  const request = { bytes, filename, mediaType, library, title, dialect: database.dialect };
  let isSame = document.status === 'indexed';
  let warnings: readonly string[] = [];
  await parser.parse(
    request,
    async (reply) => {
      if (reply.kind === 'text') {
        if (reply.chunkCount === 0 && document.chunkCount > 0)
          throw unreadable('The file has no text anymore.');
        warnings = reply.warnings;
        isSame &&= isTextOf(document, reply) && (await textOf(database, id)) === reply.text;
      } else if (isSame) {
        const [first] = reply.chunks;
        const page = { offset: first?.place ?? 0, limit: reply.chunks.length };
        const known = await listChunks(database, id, page);
        isSame =
          known.length === reply.chunks.length && reply.chunks.every((chunk, n) => isChunk(known[n], chunk));
      }
    },
    signal,
  );
  return { isSame, warnings };
}

function isTextOf(document: Document, { title, pages, chunkCount }: ParsedText): boolean {
  return document.title === title && document.pages === pages && document.chunkCount === chunkCount;
}

function isChunk(
  known: Awaited<ReturnType<typeof listChunks>>[number] | undefined,
  { section, page, start, end }: ParsedChunk,
): boolean {
  return (
    known?.start_offset === start &&
    known.end_offset === end &&
    known.section === section &&
    known.page === page
  );
}
