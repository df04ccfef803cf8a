import { sql } from 'kysely';
import type { Database, Session } from '#kit/db/index.ts';
import { type Mark, statement } from '#kit/db/index.ts';
import { WordIndex, type WordQuery } from '#kit/search/index.ts';
import { unpackFeatures, wordLayout, wordTable } from '../indexing.ts';
import type { Tables } from '../tables.ts';
import type { Match, VectorIndex } from './vectors.ts';

type Store = Session<Tables>;

const words = new WordIndex({ table: wordTable, ...wordLayout });
const batchRows = 2_000;

/** A chunk with what is shown of it. */
export interface Passage {
  readonly id: number;
  readonly chunkId: string;
  readonly document: number;
  readonly documentId: string;
  readonly filename: string;
  readonly title: string;
  readonly section: string;
  readonly page: number | null;
  /** Its number in the document, from 0. */
  readonly place: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface Filters {
  readonly documentIds?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly mediaTypes?: readonly string[] | undefined;
}

/** Chunks of a library that have a word of the query, best first, of all documents or of the given ones. */
export async function keywordMatches(
  store: Store,
  query: WordQuery,
  { library, limit, only }: { library: number; limit: number; only?: readonly number[] | undefined },
): Promise<Match[]> {
  const found = store.kysely.selectFrom(words.matches(store.dialect, query, library).as('found'));
  const within =
    only === undefined
      ? found
      : found.where('found.id', 'in', (from) =>
          from.selectFrom('chunk').select('id').where('document', 'in', only),
        );
  return within
    .select(['found.id', 'found.score'])
    .orderBy('found.score', 'desc')
    .orderBy('found.id')
    .limit(limit)
    .execute();
}

const passagesByIds = statement<Tables, { ids: string }>()((db, p, dialect) =>
  db
    .selectFrom('chunk')
    .innerJoin('document', 'document.id', 'chunk.document')
    .select(['chunk.id', 'chunk.public_id as chunkId', 'chunk.document'])
    .select(['document.public_id as documentId', 'document.filename', 'document.title'])
    .select(['chunk.section', 'chunk.page', 'chunk.place'])
    .select(['chunk.start_offset as start', 'chunk.end_offset as end', 'chunk.text'])
    .where('document.status', '=', 'indexed')
    .where(
      'chunk.id',
      'in',
      dialect === 'sqlite'
        ? sql<number>`(SELECT value FROM json_each(${p('ids')}))`
        : sql<number>`(SELECT value::bigint FROM jsonb_array_elements_text(${p('ids')}::jsonb))`,
    ),
);

/** What is shown of chunks, by their numbers. */
export async function passagesOf(store: Store, ids: readonly number[]): Promise<Map<number, Passage>> {
  if (ids.length === 0) return new Map();
  const rows = await passagesByIds.all(store, { ids: JSON.stringify(ids) });
  return new Map(rows.map((row) => [row.id, row]));
}

const libraryVersion = statement<Tables, { library: number }>()((db, p: Mark<{ library: number }>) =>
  db.selectFrom('library').select('version').where('id', '=', p('library')),
);

/** What changes when a library does. */
export async function versionOf(store: Store, library: number): Promise<number> {
  return (await libraryVersion.first(store, { library }))?.version ?? 0;
}

/** The libraries with the most chunks, largest first; not those of single chats. */
export async function largestLibraries(store: Store, limit: number): Promise<number[]> {
  const rows = await store.kysely
    .selectFrom('document')
    .innerJoin('library', 'library.id', 'document.library')
    .select('library.id')
    .where('document.status', '=', 'indexed')
    .where('library.key', 'not like', 'session:%')
    .groupBy('library.id')
    .orderBy(({ fn }) => fn.sum('document.chunk_count'), 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Brings the vectors of a library up to date with its documents. */
export async function syncVectors(
  database: Database<Tables>,
  library: number,
  index: VectorIndex,
): Promise<void> {
  const rows = await database.kysely
    .selectFrom('document')
    .select('id')
    .where('library', '=', library)
    .where('status', '=', 'indexed')
    .execute();
  const present = new Set(rows.map(({ id }) => id));
  for (const document of [...index.documents]) if (!present.has(document)) index.removeDocument(document);
  const missing = rows.filter(({ id }) => !index.hasDocument(id)).map(({ id }) => id);
  for (let first = 0; first < missing.length; first += batchDocuments) {
    await addVectors(database, missing.slice(first, first + batchDocuments), index);
  }
}

const batchDocuments = 500;

async function addVectors(store: Store, documents: readonly number[], index: VectorIndex): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await store.kysely
      .selectFrom('chunk')
      .select(['id', 'document', 'features'])
      .where('document', 'in', documents)
      .where('id', '>', after)
      .orderBy('id')
      .limit(batchRows)
      .execute();
    for (const { id, document, features } of rows) index.add(id, document, unpackFeatures(features));
    const last = rows.at(-1);
    if (!last || rows.length < batchRows) break;
    after = last.id;
  }
  for (const document of documents) index.addDocument(document);
}

/** The documents of libraries that pass the filters; undefined if nothing is filtered. */
export async function filteredDocuments(
  store: Store,
  libraries: readonly number[],
  { documentIds, tags, mediaTypes }: Filters,
): Promise<number[] | undefined> {
  if (!documentIds && !tags && !mediaTypes) return undefined;
  let found = store.kysely
    .selectFrom('document')
    .select(['id', 'tags'])
    .where('library', 'in', libraries)
    .where('status', '=', 'indexed');
  if (documentIds) found = found.where('public_id', 'in', [...documentIds, '']);
  if (mediaTypes) found = found.where('media_type', 'in', [...mediaTypes, '']);
  const rows = await found.execute();
  const wanted = tags && new Set(tags);
  const tagged = (text: string) => (JSON.parse(text) as string[]).some((tag) => wanted?.has(tag));
  return rows.filter((row) => !wanted || tagged(row.tags)).map(({ id }) => id);
}
