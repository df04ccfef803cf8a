import type { Database, Session } from '@octavo/data';
import { WordIndex } from '@octavo/data/search';
import type { WordQuery } from '@octavo/data/terms';
import type { Passage } from '@octavo/reader';
import { unpackMeaning } from '@octavo/reader/meaning';
import { unpackVector } from '../embeddings/index.ts';
import { packedMeaningOf, unpackFeatures, wordLayout, wordTable } from '../indexing.ts';
import { type Visibility, visibilityOf } from '../library.ts';
import type { Tables } from '../tables.ts';
import type { DenseIndex } from './dense/index-of-vectors.ts';
import type { VectorIndex } from './sparse-index.ts';
import type { Match } from './top-k.ts';

type Store = Session<Tables>;

const words = new WordIndex({ table: wordTable, ...wordLayout });
const sliceChunks = 500;
const sliceDocuments = 500;

export interface Filters {
  readonly documentIds?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly mediaTypes?: readonly string[] | undefined;
  readonly visibility?: Visibility | undefined;
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

/** Returns the content of chunks, by their numbers. */
export async function passagesOf({ kysely }: Store, ids: readonly number[]): Promise<Map<number, Passage>> {
  const rows = await kysely
    .selectFrom('chunk')
    .innerJoin('document', 'document.id', 'chunk.document')
    .select(['chunk.id', 'chunk.public_id as chunkId', 'chunk.document'])
    .select(['document.public_id as documentId', 'document.filename', 'document.title'])
    .select(['chunk.section', 'chunk.page', 'chunk.place'])
    .select(['chunk.start_offset as start', 'chunk.end_offset as end', 'chunk.text'])
    .where('document.status', '=', 'indexed')
    .where('chunk.id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Adds to each passage those just before and after it in its document that are not passages themselves. */
export async function withNeighbors<R extends { readonly passage: Passage }>(
  { kysely }: Store,
  ranked: readonly R[],
): Promise<(R & { readonly neighbors: readonly Passage[] })[]> {
  const known = new Set(ranked.map(({ passage }) => passage.id));
  const found = new Map<number, Passage[]>();
  for (const { passage } of ranked) {
    const rows = await kysely
      .selectFrom('chunk')
      .select(['id', 'public_id as chunkId', 'section', 'page', 'place'])
      .select(['start_offset as start', 'end_offset as end', 'text'])
      .where('document', '=', passage.document)
      .where('place', 'in', [passage.place - 1, passage.place + 1])
      .orderBy('place')
      .execute();
    const others = rows.filter(({ id }) => !known.has(id));
    for (const { id } of others) known.add(id);
    found.set(
      passage.id,
      others.map((row) => ({ ...passage, ...row })),
    );
  }
  return ranked.map((each) => ({ ...each, neighbors: found.get(each.passage.id) ?? [] }));
}

/** The last headings above passages of the newest documents, a few of each, that say more than a word or a number. */
export async function headingsOf(
  { kysely }: Store,
  libraries: readonly number[],
  limit: number,
): Promise<string[]> {
  if (libraries.length === 0) return [];
  const newest = await kysely
    .selectFrom('document')
    .select(['id', 'title'])
    .where('library', 'in', libraries)
    .where('status', '=', 'indexed')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  const headings = new Set<string>();
  for (const { id, title } of newest) {
    const rows = await kysely
      .selectFrom('chunk')
      .select('section')
      .where('document', '=', id)
      .orderBy('place')
      .limit(headingsEach * 4)
      .execute();
    const own = rows.map(({ section }) => section.split(' > ').at(-1)?.trim() ?? '');
    const telling = own.filter((each) => each !== title && /^\p{L}.{4,70}$/u.test(each));
    for (const heading of [...new Set(telling)].slice(0, headingsEach)) headings.add(heading);
  }
  return [...headings].slice(0, limit);
}

const headingsEach = 4;

/** Returns the version of a library, which every change raises. */
export async function versionOf({ kysely }: Store, library: number): Promise<number> {
  const row = await kysely
    .selectFrom('library')
    .select('version')
    .where('id', '=', library)
    .executeTakeFirst();
  return row?.version ?? 0;
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

/** Methods that keep an index in memory up to date. */
export interface LibraryIndex {
  readonly documents: Iterable<number>;
  /** True if it should be built again. */
  readonly isMostlyRemoved: boolean;
  readonly bytes: number;
  hasDocument(document: number): boolean;
  /** Notes a document, which may have no chunk. */
  addDocument(document: number): void;
  removeDocument(document: number): void;
}

/** Brings the built-in vectors of a library up to date with its documents. */
export function syncVectors(store: Store, library: number, index: VectorIndex): Promise<void> {
  return syncIndex(store, { library }, index, async (slice) => {
    const rows = await chunksOf(store, slice).select(['id', 'document', 'features']).execute();
    for (const { id, document, features } of rows) index.add(id, document, unpackFeatures(features));
  });
}

/** Brings the vectors of a model up to date with those documents of a library that have all of theirs. */
export function syncDense(
  store: Store,
  { library, model }: { library: number; model: number },
  index: DenseIndex,
): Promise<void> {
  return syncIndex(store, { library, model }, index, async (slice) => {
    const rows = await chunksOf(store, slice)
      .innerJoin('chunk_embedding', 'chunk_embedding.chunk', 'chunk.id')
      .where('chunk_embedding.model', '=', model)
      .select(['id', 'document', 'vector'])
      .execute();
    for (const { id, document, vector } of rows) index.add(id, document, unpackVector(vector));
  });
}

/** Brings the vectors of meaning of a library up to date. Chunks of an earlier version get theirs now, which are kept. */
export function syncMeaning(database: Database<Tables>, library: number, index: DenseIndex): Promise<void> {
  return syncIndex(database, { library }, index, async (slice) => {
    const rows = await chunksOf(database, slice).select(['id', 'document', 'meaning']).execute();
    const without = rows.filter(({ meaning }) => meaning === null).map(({ id }) => id);
    const made = without.length === 0 ? new Map<number, Uint8Array>() : await addMeanings(database, without);
    for (const { id, document, meaning } of rows)
      index.add(id, document, unpackMeaning(meaning ?? made.get(id) ?? new Uint8Array(0)));
  });
}

async function addMeanings(
  database: Database<Tables>,
  ids: readonly number[],
): Promise<Map<number, Uint8Array>> {
  const chunks = await database.kysely
    .selectFrom('chunk')
    .innerJoin('document', 'document.id', 'chunk.document')
    .select(['chunk.id', 'document.title', 'chunk.section', 'chunk.text'])
    .where('chunk.id', 'in', ids)
    .execute();
  const made = new Map(chunks.map(({ id, ...texts }) => [id, packedMeaningOf(texts)]));
  await database.write(async ({ kysely }) => {
    for (const [id, meaning] of made)
      await kysely.updateTable('chunk').set({ meaning }).where('id', '=', id).execute();
  });
  return made;
}

async function syncIndex(
  store: Store,
  { library, model }: { library: number; model?: number },
  index: LibraryIndex,
  load: (slice: Slice) => Promise<void>,
): Promise<void> {
  const indexed = store.kysely
    .selectFrom('document')
    .where('library', '=', library)
    .where('status', '=', 'indexed');
  const wanted = model === undefined ? indexed : indexed.where('embedding_model', '=', model);
  const rows = await wanted.select(['id', 'chunk_count']).execute();
  const present = new Set(rows.map(({ id }) => id));
  for (const document of [...index.documents]) if (!present.has(document)) index.removeDocument(document);
  const missing = rows.filter(({ id }) => !index.hasDocument(id));
  for (const slice of slicesOf(missing)) {
    await load(slice);
    if (slice.isLast) for (const document of slice.documents) index.addDocument(document);
  }
}

/** Documents whose chunks are read together: a part of a long one, or several short ones. */
interface Slice {
  readonly documents: readonly number[];
  /** The number of the first chunk. */
  readonly from: number;
  readonly isLast: boolean;
}

function* slicesOf(
  documents: readonly { readonly id: number; readonly chunk_count: number }[],
): Generator<Slice> {
  let short: number[] = [];
  let room = sliceChunks;
  for (const { id, chunk_count: count } of documents) {
    if (count > sliceChunks) {
      for (let from = 0; from < count; from += sliceChunks)
        yield { documents: [id], from, isLast: from + sliceChunks >= count };
      continue;
    }
    if (count > room || short.length === sliceDocuments) {
      yield { documents: short, from: 0, isLast: true };
      [short, room] = [[], sliceChunks];
    }
    short.push(id);
    room -= count;
  }
  if (short.length > 0) yield { documents: short, from: 0, isLast: true };
}

function chunksOf(store: Store, { documents, from }: Slice) {
  return store.kysely
    .selectFrom('chunk')
    .where('document', 'in', documents)
    .where('place', '>=', from)
    .where('place', '<', from + sliceChunks);
}

/** The documents of libraries that pass the filters; undefined if nothing is filtered. */
export async function filteredDocuments(
  store: Store,
  libraries: readonly number[],
  { documentIds, tags, mediaTypes, visibility }: Filters,
): Promise<number[] | undefined> {
  if (!documentIds && !tags && !mediaTypes && !visibility) return undefined;
  let found = store.kysely
    .selectFrom('document')
    .innerJoin('library', 'library.id', 'document.library')
    .select(['document.id', 'tags', 'library.key'])
    .where('library', 'in', libraries)
    .where('status', '=', 'indexed');
  if (documentIds) found = found.where('public_id', 'in', documentIds);
  if (mediaTypes) found = found.where('media_type', 'in', mediaTypes);
  const rows = await found.execute();
  const wanted = tags && new Set(tags);
  const tagged = (text: string) => (JSON.parse(text) as string[]).some((tag) => wanted?.has(tag));
  return rows
    .filter(({ key }) => visibility === undefined || visibilityOf(key) === visibility)
    .filter((row) => !wanted || tagged(row.tags))
    .map(({ id }) => id);
}
