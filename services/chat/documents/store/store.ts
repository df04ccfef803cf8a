import { AppError, newOrderedId, notFound } from '@octavo/core';
import type { Database, Session, WriteSession } from '@octavo/data';
import { WordIndex } from '@octavo/data/search';
import { readerVersion } from '@octavo/documents';
import { sql } from 'kysely';
import type { ParsedChunk, ParsedChunks, ParsedText } from '../../extraction/index.ts';
import { wordLayout, wordTable } from '../../indexing.ts';
import { everyoneKey } from '../../library.ts';
import type { Owner } from '../../owner.ts';
import { endSharesQuoting } from '../../sharing/index.ts';
import type { Tables } from '../../tables.ts';
import type { Document, Scope } from '../document.ts';
import { findByBytes, findByName, libraryKeyOf, toDocument } from './find.ts';

type Store = Session<Tables>;
type Write = WriteSession<Tables>;

const words = new WordIndex({ table: wordTable, ...wordLayout });
const partBytes = 1024 * 1024;
/** Length from which a text gets a commit of its own, so that it delays no other write. */
const longText = 100_000;
const shortList = 50;

export interface NewDocument {
  readonly library: number;
  readonly owner: string;
  readonly session: string | null;
  readonly filename: string;
  readonly mediaType: string;
  readonly sha256: string;
  readonly bytes: Uint8Array;
  readonly tags: readonly string[];
  readonly warnings: readonly string[];
  readonly replaces?: boolean;
}

/** Stores an upload, to be parsed before the lease ends. Undefined if its owner already has the same bytes in the library. */
export async function insertDocument(
  session: Write,
  document: NewDocument,
  { nowMs, leaseMs }: { nowMs: number; leaseMs: number },
): Promise<Document | undefined> {
  const { library, owner, filename, mediaType, sha256, bytes, replaces = false } = document;
  const row = await session.kysely
    .insertInto('document')
    .values({
      public_id: newOrderedId(),
      library,
      owner,
      session: document.session,
      filename,
      media_type: mediaType,
      size: bytes.length,
      sha256,
      title: filename,
      status: 'processing',
      error: null,
      pages: null,
      chunk_count: 0,
      text_length: 0,
      lease_until_ms: nowMs + leaseMs,
      tags: JSON.stringify(document.tags),
      warnings: JSON.stringify(document.warnings),
      created_at_ms: nowMs,
      updated_at_ms: nowMs,
      replaces: replaces ? 1 : 0,
      given_title: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .returning(libraryKeyOf)
    .executeTakeFirst();
  if (!row) return undefined;
  for (let part = 0; part * partBytes < bytes.length; part++) {
    const slice = bytes.subarray(part * partBytes, (part + 1) * partBytes);
    const values = { document: row.id, part, bytes: slice };
    await session.kysely.insertInto('document_content').values(values).execute();
  }
  return toDocument(row);
}

/** The bytes as they were uploaded, in parts. They may be handed on to a successor in between. */
export async function* contentOf(store: Store, { publicId }: Document): AsyncGenerator<Uint8Array> {
  for (let part = 0; ; part++) {
    const row = await store.kysely
      .selectFrom('document_content')
      .innerJoin('document', 'document.id', 'document_content.document')
      .select('bytes')
      .where('document.public_id', '=', publicId)
      .where('part', '=', part)
      .executeTakeFirst();
    if (!row) return;
    yield row.bytes;
  }
}

export async function textOf(store: Store, document: number): Promise<string> {
  const query = store.kysely.selectFrom('document_text').select('text').where('document', '=', document);
  return (await query.executeTakeFirst())?.text ?? '';
}

export async function insertText(
  database: Database<Tables>,
  document: number,
  { text, title, pages, warnings, chunkCount }: ParsedText & { warnings: readonly string[] },
): Promise<void> {
  await database.write(
    async ({ kysely }) => {
      await kysely.deleteFrom('document_text').where('document', '=', document).execute();
      await kysely.insertInto('document_text').values({ document, text }).execute();
      const given = { title, pages, chunk_count: chunkCount, text_length: text.length };
      const changed = { ...given, reader_version: readerVersion, warnings: JSON.stringify(warnings) };
      await kysely.updateTable('document').set(changed).where('id', '=', document).execute();
    },
    { alone: text.length > longText },
  );
}

/** Adds chunks with their words. They are found once the document is published. */
export async function insertChunks(
  database: Database<Tables>,
  document: number,
  chunks: readonly ParsedChunk[],
): Promise<void> {
  if (chunks.length === 0) return;
  await database.write(
    async (session) => {
      const rows = chunks.map(({ place, section, page, start, end, text, features, meaning }) => ({
        public_id: newOrderedId(),
        document,
        place,
        section,
        page,
        text,
        features,
        meaning,
        start_offset: start,
        end_offset: end,
      }));
      const inserted = await session.kysely
        .insertInto('chunk')
        .values(rows)
        .returning(['id', 'place'])
        .execute();
      const ids = new Map(inserted.map(({ id, place }) => [place, id]));
      for (const { place, words: prepared } of chunks)
        await words.putPrepared(session, ids.get(place) as number, prepared);
    },
    { alone: chunks.length > shortList },
  );
}

/**
 * Lets a document be found, and takes those that it replaces out in the same moment, which are returned. Undefined if it is gone, or if a
 * later one has replaced it already.
 */
export function publish(
  database: Database<Tables>,
  document: Document,
  { nowMs, scope }: { nowMs: number; scope: Scope },
): Promise<number[] | undefined> {
  return database.write(async (session) => {
    const { kysely } = session;
    // First, so that documents of a library are published one after another.
    await touchLibrary(kysely, document.library);
    const namesakes = document.replaces ? await findByName(session, scope, document.filename) : [];
    if (namesakes.some((each) => each.replaces && each.uploadNumber > document.uploadNumber))
      return undefined;
    const published = await kysely
      .updateTable('document')
      .set({ status: 'indexed', error: null, lease_until_ms: 0, updated_at_ms: nowMs })
      .where('id', '=', document.id)
      .where('status', '=', 'processing')
      .executeTakeFirst();
    if (Number(published.numUpdatedRows) === 0) return undefined;
    const earlier = namesakes.filter(({ uploadNumber }) => uploadNumber < document.uploadNumber);
    const replaced = earlier.map(({ id }) => id);
    if (replaced.length > 0) {
      const gone = { status: 'deleting', lease_until_ms: nowMs } as const;
      await kysely.updateTable('document').set(gone).where('id', 'in', replaced).execute();
    }
    return replaced;
  });
}

/** Columns that become different when a document is read again. */
export interface Changed {
  readonly library?: number;
  readonly given_title?: string;
  readonly title?: string;
  /** JSON: an array of texts. */
  readonly tags?: string;
  readonly was_shared?: 0;
}

/** Changes what is not indexed with its words. */
export async function updateDocument(
  database: Database<Tables>,
  { publicId, library }: Document,
  changed: Changed,
): Promise<void> {
  await database.write(async ({ kysely }) => {
    // After a successor that is taking over, which has the id then.
    await kysely
      .updateTable('library')
      .set({ version: sql<number>`version` })
      .where('id', '=', library)
      .execute();
    await kysely.updateTable('document').set(changed).where('public_id', '=', publicId).execute();
  });
}

/** A staging place for the new version of a document, until {@link takeOver} replaces the old one. Throws `not_found` if it is gone. */
export async function insertSuccessor(
  database: Database<Tables>,
  document: Document,
  { nowMs, leaseMs, changed }: { nowMs: number; leaseMs: number; changed: Changed },
): Promise<Document> {
  return database.write(async ({ kysely }) => {
    const found = await kysely
      .selectFrom('document')
      .selectAll()
      .where('id', '=', document.id)
      .executeTakeFirst();
    if (!found) throw notFound('document', document.publicId);
    const { id, ...row } = found;
    const publicId = newOrderedId();
    const staged = { public_id: publicId, sha256: publicId, status: 'processing' } as const;
    const unread = { chunk_count: 0, embedding_model: 0, first_id: row.first_id ?? id };
    const values = { ...row, ...changed, ...staged, ...unread, lease_until_ms: nowMs + leaseMs };
    const inserted = await kysely
      .insertInto('document')
      .values(values)
      .returningAll()
      .returning(libraryKeyOf)
      .executeTakeFirstOrThrow();
    return toDocument(inserted);
  });
}

/**
 * Puts a successor in the place of its document, under the same id, in one moment. False if the document is gone, was moved, or has another
 * successor already. Throws `conflict` if the library that it goes into has the same bytes of that owner, `unavailable` if the successor was
 * given up in the meantime.
 */
export function takeOver(
  database: Database<Tables>,
  document: Document,
  { successor, changed, nowMs }: { successor: Document; changed: Changed; nowMs: number },
): Promise<boolean> {
  return database.write(async (session) => {
    const { kysely } = session;
    // First and in order, so that changes and deletions wait until they find the successor.
    const libraries = [...new Set([document.library, successor.library])].sort((one, other) => one - other);
    for (const library of libraries) await touchLibrary(kysely, library);
    const old = await kysely
      .updateTable('document')
      .set({ status: 'deleting', public_id: newOrderedId(), lease_until_ms: nowMs })
      .where('id', '=', document.id)
      .where('status', '=', document.status)
      .where('library', '=', document.library)
      .returning(['tags', 'was_shared'])
      .executeTakeFirst();
    if (!old) return false;
    if (await findByBytes(session, successor, document.sha256))
      throw new AppError('conflict', `The same file as ${document.filename} is there already.`);
    const moved = { document: successor.id };
    await kysely.updateTable('document_content').set(moved).where('document', '=', document.id).execute();
    const { numUpdatedRows } = await kysely
      .updateTable('document')
      .set({ public_id: document.publicId, sha256: document.sha256, status: 'indexed', error: null })
      .set({ created_at_ms: document.createdAtMs, updated_at_ms: nowMs, lease_until_ms: 0 })
      .set({ tags: changed.tags ?? old.tags, was_shared: changed.was_shared ?? old.was_shared })
      .where('id', '=', successor.id)
      .where('status', '=', 'processing')
      .executeTakeFirst();
    if (Number(numUpdatedRows) === 0)
      throw new AppError('unavailable', 'Reading the document took too long. Try again.');
    if (libraries.length > 1 && successor.libraryKey !== everyoneKey)
      await endSharesQuoting(session, document.publicId);
    return true;
  });
}

/** Takes a document out of every answer at once, and returns its number, which may be another one since; undefined if it was gone. */
export function hideDocument(database: Database<Tables>, document: Document): Promise<number | undefined> {
  return database.write(async ({ kysely }) => {
    await touchLibrary(kysely, document.library);
    const hidden = await kysely
      .updateTable('document')
      .set({ status: 'deleting', lease_until_ms: 0 })
      .where('public_id', '=', document.publicId)
      .where('status', '!=', 'deleting')
      .returning('id')
      .executeTakeFirst();
    return hidden?.id;
  });
}

/** Takes all documents of an owner out of every answer at once, for all readers. They are removed like any hidden document. */
export async function hideDocumentsOf(database: Database<Tables>, owner: Owner): Promise<void> {
  await database.write(async ({ kysely }) => {
    const own = kysely.selectFrom('document').where('owner', '=', owner).where('status', '!=', 'deleting');
    const libraries = await own.select('library').distinct().execute();
    await kysely
      .updateTable('document')
      .set({ status: 'deleting', lease_until_ms: 0 })
      .where('owner', '=', owner)
      .where('status', '!=', 'deleting')
      .execute();
    for (const { library } of libraries) await touchLibrary(kysely, library);
  });
}

export async function markFailed(
  database: Database<Tables>,
  document: number,
  { error, nowMs }: { error: string; nowMs: number },
): Promise<void> {
  await database.write(({ kysely }) =>
    kysely
      .updateTable('document')
      .set({
        status: 'failed',
        error,
        lease_until_ms: 0,
        updated_at_ms: nowMs,
        reader_version: readerVersion,
      })
      .where('id', '=', document)
      .where('status', '=', 'processing')
      .execute(),
  );
}

/** Says that this process still works on a document. */
export async function renewLease(
  database: Database<Tables>,
  document: number,
  untilMs: number,
): Promise<void> {
  await database.write(({ kysely }) =>
    kysely
      .updateTable('document')
      .set({ lease_until_ms: untilMs })
      .where('id', '=', document)
      .where('status', '=', 'processing')
      .execute(),
  );
}

/** Takes over a document whose process ended before it was done. */
export async function claimAbandoned(
  database: Database<Tables>,
  { nowMs, leaseMs }: { nowMs: number; leaseMs: number },
): Promise<Document | undefined> {
  return database.write(async ({ kysely }) => {
    const row = await kysely
      .updateTable('document')
      .set({ lease_until_ms: nowMs + leaseMs })
      .where('id', '=', (from) =>
        from
          .selectFrom('document')
          .select('id')
          .where('status', 'in', ['processing', 'deleting'])
          .where('lease_until_ms', '<=', nowMs)
          .orderBy('id')
          .limit(1),
      )
      .where('lease_until_ms', '<=', nowMs)
      .returningAll()
      .returning(libraryKeyOf)
      .executeTakeFirst();
    return row && toDocument(row);
  });
}

function touchLibrary(kysely: Write['kysely'], library: number): Promise<unknown> {
  const raised = { version: sql<number>`version + 1` };
  return kysely.updateTable('library').set(raised).where('id', '=', library).execute();
}

/** Stores a document that was read in this process, and lets it be found. */
export async function insertParsed(
  database: Database<Tables>,
  document: NewDocument,
  parsed: AsyncIterable<ParsedText | ParsedChunks>,
): Promise<void> {
  const times = { nowMs: 0, leaseMs: 0 };
  const inserted = await database.write((session) => insertDocument(session, document, times));
  if (!inserted) throw new AppError('conflict', `${document.filename} is there twice`);
  for await (const reply of parsed) {
    if (reply.kind === 'text') await insertText(database, inserted.id, reply);
    else await insertChunks(database, inserted.id, reply.chunks);
  }
  await publish(database, inserted, { nowMs: 0, scope: inserted });
}
