import type { Session } from '@octavo/data';
import type { Passage } from '@octavo/reader';
import { toQuestion } from '@octavo/reader/questions';
import { keywordMatches, passagesOf } from '../retrieval/index.ts';
import type { Tables } from '../tables.ts';

export type Store = Session<Tables>;

const titlesMax = 2_000;

/** A document as it is listed. */
export interface Listed {
  readonly id: number;
  readonly publicId: string;
  readonly title: string;
  readonly filename: string;
  readonly chunkCount: number;
}

/** The documents of libraries, newest first, or those of the given numbers; up to {@link titlesMax}. */
export async function listedDocuments(
  { kysely }: Store,
  libraries: readonly number[],
  only: readonly number[] | undefined,
): Promise<Listed[]> {
  let found = kysely
    .selectFrom('document')
    .select(['id', 'public_id as publicId', 'title', 'filename', 'chunk_count as chunkCount'])
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

/** The headings above the chunks of a document, in their order. */
export async function sectionsOf({ kysely }: Store, document: number, limit: number): Promise<string[]> {
  const rows = await kysely
    .selectFrom('chunk')
    .select('section')
    .where('document', '=', document)
    .orderBy('place')
    .limit(limit)
    .execute();
  return rows.map(({ section }) => section);
}

/** The passages with the telling words of a text, every one or any, best match first in each library. */
export async function passagesWith(
  store: Store,
  text: string,
  {
    match,
    libraries,
    only,
    limit,
  }: {
    readonly match: 'every' | 'any';
    readonly libraries: readonly number[];
    readonly only: readonly number[] | undefined;
    readonly limit: number;
  },
): Promise<Passage[]> {
  const wanted = toQuestion(text).terms.map((term) => ({ terms: [term], weight: 1 }));
  const query = { wanted, unwanted: [], match };
  const found = await Promise.all(
    libraries.map((library) => keywordMatches(store, query, { library, limit, only })),
  );
  return readPassages(
    store,
    found.flat().map(({ id }) => id),
  );
}

/** The first passages of a document. */
export async function openingOf(store: Store, document: number, limit: number): Promise<Passage[]> {
  return readPassages(store, await firstChunks(store, document, limit));
}

/** Databases return rows in any order, so it is that of the numbers. */
async function readPassages(store: Store, ids: readonly number[]): Promise<Passage[]> {
  if (ids.length === 0) return [];
  const read = await passagesOf(store, ids);
  return ids.flatMap((id) => read.get(id) ?? []);
}
