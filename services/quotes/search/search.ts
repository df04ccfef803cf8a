import type { Session } from '@octavo/data';
import { rankDocuments, type WordMatch } from '@octavo/data/search';
import type { WordQuery } from '@octavo/data/terms';
import { publishedQuotes, type QuoteFilter, type Slice } from '../quotes/index.ts';
import type { Tables } from '../tables.ts';
import { quoteWords } from '../words.ts';
import type { SignedQuery } from './signed-words.ts';
import { filteredMatches } from './store.ts';

/** Most matches that are ranked: the first in the order of the index. */
const rankedMax = 200;
/** Most matches of one search that can be listed. */
export const listedMax = 10_000;
/** Authors and categories come first anyway, so this decides between those that match in both. */
const weights = { author: 100, category: 100, text: 1 };

/** A part of what matches. */
export interface Found {
  /** The ids of quotes in their order. */
  readonly ids: readonly number[];
  /** Number of matches that were read: all, or more than the slice needs. */
  readonly seen: number;
  /** True if those are all matches. */
  readonly isAll: boolean;
}

/**
 * The published quotes that match: those whose author or category matches before the others, and the first 200 by how well they match.
 * The rest is in the order of ids.
 */
export async function findMatches(
  session: Session<Tables>,
  query: SignedQuery,
  { limit, offset, ...filter }: Slice & QuoteFilter,
): Promise<Found> {
  const end = Math.min(offset + limit, listedMax);
  const wanted = Math.max(rankedMax, end) + 1;
  const matches = isFiltered(query, filter)
    ? await filteredMatches(session, query, { ...filter, limit: wanted })
    : await quoteWords.first(session, query, wanted);
  const found = { seen: Math.min(matches.length, wanted - 1), isAll: matches.length < wanted };
  if (offset >= rankedMax) return { ...found, ids: matches.slice(offset, end).map(({ id }) => id) };
  const window = matches.slice(0, rankedMax);
  const ranked = [
    ...(await inRank(session, query, window, true)),
    ...(await inRank(session, query, window, false)),
    ...matches.slice(rankedMax, end).map(({ id }) => id),
  ];
  return { ...found, ids: ranked.slice(offset, end) };
}

/** Counts the matching quotes, at most {@link listedMax}. */
export async function countMatches(
  session: Session<Tables>,
  query: SignedQuery,
  filter: QuoteFilter,
): Promise<number> {
  if (!isFiltered(query, filter)) return quoteWords.count(session, query, listedMax);
  return (await filteredMatches(session, query, { ...filter, limit: listedMax })).length;
}

function isFiltered({ signed }: SignedQuery, { author, category }: QuoteFilter): boolean {
  return author !== undefined || category !== undefined || signed.length > 0;
}

async function inRank(
  session: Session<Tables>,
  query: WordQuery,
  matches: readonly WordMatch[],
  isLead: boolean,
): Promise<number[]> {
  const ids = matches.filter((match) => match.isLead === isLead).map(({ id }) => id);
  if (ids.length === 0) return [];
  const quotes = await publishedQuotes(session, ids);
  // In those that do not lead, nothing matches but the text.
  const counted = isLead ? weights : { text: weights.text };
  return rankDocuments(quotes, query, { textsOf: (quote) => quote, weights: counted }).map(({ id }) => id);
}
