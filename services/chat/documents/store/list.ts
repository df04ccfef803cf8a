import type { Session } from '@octavo/data';
import type { Span } from '@octavo/documents';
import { type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '../../tables.ts';
import type { Document } from '../document.ts';
import { toDocument } from './find.ts';
import { textOf } from './store.ts';

type Store = Session<Tables>;

/** Documents that a person may see: those of libraries, and those that they added to their chats. */
export interface Reach {
  readonly owner: string;
  /** The keys of the libraries that serve their questions. */
  readonly libraryKeys: readonly string[];
}

/** Documents of a list. */
export interface Listing {
  readonly reach: Reach;
  /** True to list private documents of others, too, for an administrator who looks after them. */
  readonly hasOthers?: boolean;
}

export interface DocumentFilter {
  readonly limit: number;
  /** The last document of the page before. */
  readonly cursor?: string | undefined;
  readonly tag?: string | undefined;
  /** In the name or the title. */
  readonly q?: string | undefined;
}

/** True if a person may read a document, and gets answers from it. */
export function isWithin({ owner, libraryKeys }: Reach, document: Document): boolean {
  const isInChat = document.session !== null && document.owner === owner;
  return isInChat || libraryKeys.includes(document.libraryKey);
}

export async function findDocument(
  store: Store,
  { reach, hasOthers }: Listing,
  publicId: string,
): Promise<Document | undefined> {
  const row = await documents(store)
    .where('document.public_id', '=', publicId)
    .$if(!hasOthers, (query) => query.where(within(reach)))
    .executeTakeFirst();
  return row && toDocument(row);
}

/** Newest first, with one more than the limit if there are more. What others may not read is found by its name only. */
export async function listDocuments(
  store: Store,
  { reach, hasOthers = false }: Listing,
  { limit, cursor, tag, q }: DocumentFilter,
): Promise<{ documents: Document[]; total: number }> {
  const isRead = hasOthers && q !== undefined ? [within(reach)] : [];
  let found = documents(store);
  if (!hasOthers || tag !== undefined) found = found.where(within(reach));
  if (tag !== undefined) found = found.where(contains('document.tags', JSON.stringify(tag)));
  if (q !== undefined) {
    found = found.where((eb) => {
      const inTitle = eb.and([contains('document.title', q), ...isRead.map((condition) => condition(eb))]);
      return eb.or([contains('document.filename', q), inTitle]);
    });
  }
  const counted = await found
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirst();
  if (cursor !== undefined) found = found.where('document.public_id', '<', cursor);
  const rows = await found
    .orderBy('document.public_id', 'desc')
    .limit(limit + 1)
    .execute();
  return { documents: rows.map(toDocument), total: counted?.total ?? 0 };
}

const namesAtOnce = 500;

/** Those of the names that a document has which can be found in one of the libraries. */
export async function presentFilenames(
  store: Store,
  libraries: readonly number[],
  names: readonly string[],
): Promise<Set<string>> {
  const present = new Set<string>();
  for (let from = 0; from < names.length; from += namesAtOnce) {
    const rows = await store.kysely
      .selectFrom('document')
      .select('filename')
      .where('library', 'in', libraries)
      .where('status', '=', 'indexed')
      .where('filename', 'in', names.slice(from, from + namesAtOnce))
      .execute();
    for (const { filename } of rows) present.add(filename);
  }
  return present;
}

/** All documents of a library that can be found; of one owner, if that is given. */
export async function listLibrary(store: Store, libraryKey: string, owner?: string): Promise<Document[]> {
  const rows = await documents(store)
    .where('library.key', '=', libraryKey)
    .where('document.status', '=', 'indexed')
    .$if(owner !== undefined, (query) => query.where('document.owner', '=', owner as string))
    .orderBy('document.id')
    .execute();
  return rows.map(toDocument);
}

/** Chunks in the order of the document. */
export async function listChunks(
  store: Store,
  document: number,
  { limit, offset }: { limit: number; offset: number },
) {
  return store.kysely
    .selectFrom('chunk')
    .select(['public_id', 'place', 'section', 'page', 'start_offset', 'end_offset', 'text'])
    .where('document', '=', document)
    .orderBy('place')
    .limit(limit)
    .offset(offset)
    .execute();
}

/** The page that the text from an offset is on; undefined if the document has no pages. */
export async function pageAt(store: Store, document: number, offset: number): Promise<number | undefined> {
  const row = await store.kysely
    .selectFrom('chunk')
    .select('page')
    .where('document', '=', document)
    .where('page', 'is not', null)
    .where('end_offset', '>', offset)
    .orderBy('place')
    .limit(1)
    .executeTakeFirst();
  return row?.page ?? undefined;
}

/** The part of a passage that is on a page, in the text of that page; undefined if nothing of it is. */
export async function passageOnPage(
  store: Store,
  { id, textLength }: Document,
  { page, passage }: { page: number; passage: Span },
): Promise<(Span & { text: string }) | undefined> {
  const chunks = await store.kysely
    .selectFrom('chunk')
    .select(({ fn }) => [
      fn.max<number | null>('end_offset').filterWhere('page', '<', page).as('before'),
      fn.min<number | null>('start_offset').filterWhere('page', '>', page).as('after'),
    ])
    .where('document', '=', id)
    .executeTakeFirst();
  // Headings are in no chunk of a page, so a page goes from the one before it to the one after it.
  const [from, to] = [chunks?.before ?? 0, chunks?.after ?? textLength];
  const [start, end] = [Math.max(passage.start, from), Math.min(passage.end, to)];
  if (start >= end) return undefined;
  const text = (await textOf(store, id)).slice(from, to);
  return { text, start: start - from, end: end - from };
}

/** Counts the documents and chunks that a person may see, and those chunks whose vectors a model made. */
export async function countVisible(
  store: Store,
  reach: Reach,
  model = 0,
): Promise<{ documents: number; chunks: number; embedded: number }> {
  const row = await documents(store)
    .clearSelect()
    .select(({ fn }) => [
      fn.countAll<number>().as('documents'),
      fn.sum<number>('document.chunk_count').as('chunks'),
      fn
        .sum<number>('document.chunk_count')
        .filterWhere('document.embedding_model', '=', model)
        .as('embedded'),
    ])
    .where('document.status', '=', 'indexed')
    .where(within(reach))
    .executeTakeFirst();
  const { documents: total = 0, chunks, embedded } = row ?? {};
  return { documents: total, chunks: Number(chunks ?? 0), embedded: Number(embedded ?? 0) };
}

/** Documents that are not being deleted, with their libraries. */
export function documents(store: Store) {
  return store.kysely
    .selectFrom('document')
    .innerJoin('library', 'library.id', 'document.library')
    .selectAll('document')
    .select('library.key as library_key')
    .where('document.status', '!=', 'deleting');
}

/** Returns the condition that a person may read a document. */
export function within({ owner, libraryKeys }: Reach) {
  return ({ eb, or, and }: ExpressionBuilder<Tables, 'document' | 'library'>) =>
    or([
      eb('library.key', 'in', libraryKeys),
      and([eb('document.owner', '=', owner), eb('document.session', 'is not', null)]),
    ]);
}

/** Returns a condition that a column contains a text, without regard to case. */
function contains(column: string, text: string) {
  const pattern = `%${text.toLowerCase().replace(/[%_\\]/g, '\\$&')}%`;
  return sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}
