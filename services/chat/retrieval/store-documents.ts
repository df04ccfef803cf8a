import type { Session } from '@octavo/data';
import type { Documents, ListedDocument, Passage } from '@octavo/reader';
import { toQuestion } from '@octavo/reader/questions';
import type { Tables } from '../tables.ts';
import { type Filters, filteredDocuments, keywordMatches, passagesOf } from './store.ts';

type Store = Session<Tables>;

const titlesMax = 2_000;

/** The documents of libraries that pass the filters, for replies about them; up to {@link titlesMax} are listed. */
export async function documentsOf(
  store: Store,
  libraries: readonly number[],
  filters: Filters | undefined,
): Promise<Documents> {
  const filtered = filters && (await filteredDocuments(store, libraries, filters));
  return {
    list: async () => (libraries.length === 0 ? [] : listedDocuments(store, libraries, filtered)),
    async passagesWith(text, { match, limit, only = filtered }) {
      const wanted = toQuestion(text).terms.map((term) => ({ terms: [term], weight: 1 }));
      const query = { wanted, unwanted: [], match };
      const found = await Promise.all(
        libraries.map((library) => keywordMatches(store, query, { library, limit, only })),
      );
      return readPassages(
        store,
        found.flat().map(({ id }) => id),
      );
    },
    openingOf: async (document, limit) => readPassages(store, await firstChunks(store, document, limit)),
    sectionsOf: (document, limit) => sectionsOf(store, document, limit),
  };
}

/** Newest first. */
async function listedDocuments(
  { kysely }: Store,
  libraries: readonly number[],
  only: readonly number[] | undefined,
): Promise<ListedDocument[]> {
  let found = kysely
    .selectFrom('document')
    .select(['id', 'title', 'filename', 'chunk_count as chunkCount'])
    .where('library', 'in', libraries)
    .where('status', '=', 'indexed');
  if (only) found = found.where('id', 'in', only);
  return found.orderBy('id', 'desc').limit(titlesMax).execute();
}

/** The numbers of the first chunks of a document. */
async function firstChunks({ kysely }: Store, document: number, limit: number): Promise<number[]> {
  const rows = await kysely
    .selectFrom('chunk')
    .select('id')
    .where('document', '=', document)
    .orderBy('place')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

async function sectionsOf({ kysely }: Store, document: number, limit: number): Promise<string[]> {
  const rows = await kysely
    .selectFrom('chunk')
    .select('section')
    .where('document', '=', document)
    .orderBy('place')
    .limit(limit)
    .execute();
  return rows.map(({ section }) => section);
}

/** Databases return rows in any order, so it is that of the numbers. */
async function readPassages(store: Store, ids: readonly number[]): Promise<Passage[]> {
  if (ids.length === 0) return [];
  const read = await passagesOf(store, ids);
  return ids.flatMap((id) => read.get(id) ?? []);
}
