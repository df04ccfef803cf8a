import type { Session } from '#kit/db/index.ts';
import type { Answer } from '../answers/index.ts';
import type { Passage } from '../retrieval/index.ts';
import type { Tables } from '../tables.ts';

type Store = Session<Tables>;

const titlesMax = 2_000;

/** A document as it is listed. */
export interface Listed {
  readonly id: number;
  readonly publicId: string;
  readonly title: string;
  readonly filename: string;
  readonly chunkCount: number;
}

/** A reply from the contents of the library. Citations refer to the passages by position, from 1. */
export interface Reply extends Answer {
  readonly passages: readonly Passage[];
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
export async function firstChunks({ kysely }: Store, document: number, limit: number): Promise<number[]> {
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
