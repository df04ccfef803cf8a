import type { Session } from '@octavo/data';
import type { WordMatch } from '@octavo/data/search';
import { sql } from 'kysely';
import { keyOf, type QuoteFilter } from '../quotes/index.ts';
import type { Tables } from '../tables.ts';
import { quoteWords } from '../words.ts';
import type { SignedQuery } from './signed-words.ts';

/** The first matches by one author, in one category or with signed words, by ascending id. */
export async function filteredMatches(
  session: Session<Tables>,
  query: SignedQuery,
  { author, category, limit }: QuoteFilter & { limit: number },
): Promise<WordMatch[]> {
  let matching = session.kysely
    .selectFrom(quoteWords.matchingIds(session.dialect, query).as('found'))
    .innerJoin('quote', 'quote.id', 'found.id')
    .innerJoin('category', 'category.id', 'quote.category_id')
    .select('quote.id');
  if (author !== undefined) matching = matching.where('quote.author_key', '=', keyOf(author));
  if (category !== undefined) {
    matching = matching.where((e) =>
      e.or([e('category.name_key', '=', keyOf(category)), e('category.slug', '=', category)]),
    );
  }
  for (const { word, isWanted } of query.signed) {
    const fields = [sql.ref('quote.text'), sql.ref('quote.author'), sql.ref('category.name')];
    const all = sql`lower(${sql.join(fields, sql` || ' ' || `)})`;
    matching = matching.where(sql<boolean>`${all} ${isWanted ? sql`like` : sql`not like`} ${`%${word}%`}`);
  }
  const rows = await matching.orderBy('quote.id').limit(limit).execute();
  return rows.map(({ id }) => ({ id, isLead: false }));
}
