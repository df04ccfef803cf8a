import type { Database } from '@octavo/data';
import { withBestPlaces } from '@octavo/reader';
import { countUnread, knownLibraries } from '../documents/index.ts';
import { type LibraryRules, librariesOf } from '../library.ts';
import type { Owner } from '../owner.ts';
import type { Found, Retriever } from '../retrieval/index.ts';
import type { Tables } from '../tables.ts';
import type { TurnRequest } from './turn.ts';

export interface SearchParts {
  readonly database: Database<Tables>;
  readonly retriever: Retriever;
  readonly library: LibraryRules;
}

interface Asker {
  readonly owner: Owner;
  readonly session: string | undefined;
}

/** The passages for a question with their best places, in the documents that serve its owner and the session. */
export async function searchPassages(
  parts: SearchParts,
  fields: SearchFields,
  owner: Owner,
  sessionId: string | undefined,
): Promise<Found> {
  return withBestPlaces(await findPassages(parts, fields, { owner, session: sessionId }));
}

/** The passages for a question in the order of retrieval. A warning tells of documents that are not read yet. */
export async function findPassages(
  { database, retriever, library }: SearchParts,
  { query, withoutContext, strategy, topK, rerank = true, filters }: SearchFields,
  { owner, session: sessionId }: Asker,
): Promise<Found> {
  const libraries = await knownLibraries(database, librariesOf(library, owner, sessionId));
  const found = await retriever.search({ query, withoutContext, strategy, topK, rerank, filters, libraries });
  const unread = await countUnread(database, libraries);
  if (unread === 0) return found;
  const warning =
    unread === 1
      ? 'A document is still being read and was not searched.'
      : `${unread} documents are still being read and were not searched.`;
  return { ...found, warnings: [...found.warnings, warning] };
}

export interface SearchFields extends Pick<TurnRequest, 'query' | 'strategy' | 'rerank' | 'filters'> {
  readonly topK: number;
  /** The question without its context, if that differs. */
  readonly withoutContext?: string;
}
