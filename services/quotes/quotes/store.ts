import { randomInt } from 'node:crypto';
import type { Dialect } from '@octavo/data';
import { type Kysely, sql } from 'kysely';
import type { Store, Tables } from '../tables.ts';
import { contentNames, keyOf, type Quote } from './quote.ts';

/** A quote as the API gives it: with the ids of its likes in ascending order, separated by commas. */
export interface LikedQuote extends Quote {
  readonly likeIds: string;
}

/** A quote as pages show it. */
export interface CountedQuote extends Quote {
  readonly likes: number;
  readonly comments: number;
}

export interface Slice {
  readonly limit: number;
  readonly offset: number;
}

/** Filters of the list: by the name of the author, by the name or the slug of the category. */
export interface QuoteFilter {
  readonly author?: string | undefined;
  readonly category?: string | undefined;
}

/** The quote with this id, published or not; likewise below. */
export function findQuote(session: Store, id: number): Promise<Quote | undefined> {
  return quotes(session.kysely).where('quote.id', '=', id).executeTakeFirst();
}

/** Published quotes with a higher id, by ascending id. */
export function publishedAfter({ kysely }: Store, id: number, limit: number): Promise<Quote[]> {
  const found = quotes(kysely).where('quote.is_published', '=', 1).where('quote.id', '>', id);
  return found.orderBy('quote.id').limit(limit).execute();
}

export function findLikedQuote(session: Store, id: number): Promise<LikedQuote | undefined> {
  return liked(session.kysely, session.dialect).where('quote.id', '=', id).executeTakeFirst();
}

export function findCountedQuote(session: Store, id: number): Promise<CountedQuote | undefined> {
  return counted(session.kysely).where('quote.id', '=', id).executeTakeFirst();
}

/** Published quotes by ascending id, and how many there are. */
export async function listQuotes(
  { kysely, dialect }: Store,
  filter: QuoteFilter,
  slice: Slice,
): Promise<{ quotes: LikedQuote[]; total: number }> {
  const found = matchingIds(kysely, filter);
  const page = await liked(kysely, dialect)
    .where('quote.id', 'in', found.orderBy('quote.id').limit(slice.limit).offset(slice.offset))
    .orderBy('quote.id')
    .execute();
  const isFiltered = filter.author !== undefined || filter.category !== undefined;
  const counted = isFiltered
    ? found.clearSelect().select((e) => e.fn.countAll<number>().as('total'))
    : kysely.selectFrom('category').select((e) => e.fn.sum<number | null>('quotes').as('total'));
  const { total } = await counted.executeTakeFirstOrThrow();
  return { quotes: page, total: total ?? 0 };
}

/** Any published quote. Quotes after a gap in the ids are a little more likely. */
export async function randomQuote(session: Store): Promise<LikedQuote | undefined> {
  // SQLite finds one of both at an end of the index, but reads all of it for two in one query.
  const published = session.kysely.selectFrom('quote').where('is_published', '=', 1);
  const { first } = await published
    .select((e) => e.fn.min<number | null>('id').as('first'))
    .executeTakeFirstOrThrow();
  const { last } = await published
    .select((e) => e.fn.max<number | null>('id').as('last'))
    .executeTakeFirstOrThrow();
  if (first === null || last === null) return undefined;
  for (let attempt = 1; ; attempt++) {
    const id = randomInt(first, last + 1);
    const found = await session.kysely
      .selectFrom('quote')
      .select('id')
      .where('is_published', '=', 1)
      .where('id', '>=', id)
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    if (!found || found.id === id || attempt === attemptsMax)
      return findLikedQuote(session, found?.id ?? first);
  }
}

const attemptsMax = 4;

/** Orders of a list of quotes on a page. */
export type QuoteOrder = 'newest' | 'liked' | 'oldest';

/** Published quotes that a page lists: of a category or an author, those that a reader likes, or all. */
export interface ListedQuotes {
  readonly categoryId?: number;
  readonly author?: string;
  readonly likedBy?: number;
}

/** A page of published quotes. Of equal likes, the newest comes first. */
export async function listedQuotes(
  { kysely }: Store,
  listed: ListedQuotes,
  { order, limit, offset }: Slice & { order: QuoteOrder },
): Promise<CountedQuote[]> {
  const direction = order === 'oldest' ? 'asc' : 'desc';
  const ids = listedIds(kysely, listed);
  const sorted = (order === 'liked' ? ids.orderBy(likeCount, 'desc') : ids).orderBy('quote.id', direction);
  const page = counted(kysely).where('quote.id', 'in', sorted.limit(limit).offset(offset));
  const inOrder = order === 'liked' ? page.orderBy(likeCount, 'desc') : page;
  return inOrder.orderBy('quote.id', direction).execute();
}

/** The number of published quotes that a page lists. */
export async function countListed({ kysely }: Store, listed: ListedQuotes): Promise<number> {
  const found = listedIds(kysely, listed).clearSelect();
  const { total } = await found.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return total;
}

/** The name of an author as their first published quote has it. */
export async function authorNamed({ kysely }: Store, name: string): Promise<string | undefined> {
  const found = listedIds(kysely, { author: name }).clearSelect().select('quote.author');
  return (await found.orderBy('quote.id').limit(1).executeTakeFirst())?.author;
}

function listedIds(db: Kysely<Tables>, { categoryId, author, likedBy }: ListedQuotes) {
  let found = publishedIds(db);
  if (categoryId !== undefined) found = found.where('quote.category_id', '=', categoryId);
  if (author !== undefined) found = found.where('quote.author_key', '=', keyOf(author));
  if (likedBy !== undefined) {
    const likes = db.selectFrom('quote_like').select('quote_like.quote_id');
    found = found.where('quote.id', 'in', likes.where('quote_like.user_id', '=', likedBy));
  }
  return found;
}

const likeCount = sql<number>`(SELECT count(*) FROM quote_like WHERE quote_id = quote.id)`;

/** Other published quotes of the same author, the newest first. */
export async function moreByAuthor(
  session: Store,
  { id, author, limit }: { id: number; author: string; limit: number },
): Promise<CountedQuote[]> {
  const found = await counted(session.kysely)
    .where('quote.author_key', '=', keyOf(author))
    .where('quote.is_published', '=', 1)
    .orderBy('quote.id', 'desc')
    .limit(limit + 1)
    .execute();
  return found.filter((quote) => quote.id !== id).slice(0, limit);
}

/** The published ones of these quotes, in the order of the ids. */
export async function publishedQuotes(session: Store, ids: readonly number[]): Promise<Quote[]> {
  const rows = await quotes(session.kysely)
    .where('quote.is_published', '=', 1)
    .where('quote.id', 'in', ids)
    .execute();
  return inOrder(ids, rows);
}

/** Returns quotes as the API gives them, in the order of the ids. */
export async function likedQuotes(session: Store, ids: readonly number[]): Promise<LikedQuote[]> {
  const rows = await liked(session.kysely, session.dialect).where('quote.id', 'in', ids).execute();
  return inOrder(ids, rows);
}

/** Returns quotes as pages show them, in the order of the ids. */
export async function countedQuotes(session: Store, ids: readonly number[]): Promise<CountedQuote[]> {
  const rows = await counted(session.kysely).where('quote.id', 'in', ids).execute();
  return inOrder(ids, rows);
}

/** The columns of what readers write; a category is a row of its own. */
const contentColumns = contentNames
  .filter((name) => name !== 'category')
  .map((name) => `quote.${name}` as const);

function quotes(db: Kysely<Tables>) {
  return db
    .selectFrom('quote')
    .innerJoin('category', 'category.id', 'quote.category_id')
    .select([
      'quote.id',
      ...contentColumns,
      'category.name as category',
      'category.slug as categorySlug',
      'quote.is_published as isPublished',
      'quote.created_by as createdBy',
      'quote.created_at_ms as createdAtMs',
      'quote.updated_at_ms as updatedAtMs',
    ])
    .$castTo<Quote>();
}

function liked(db: Kysely<Tables>, dialect: Dialect) {
  const joined =
    dialect === 'sqlite'
      ? sql`group_concat(id, ',' ORDER BY id)`
      : sql`string_agg(id::text, ',' ORDER BY id)`;
  const likeIds = sql<string>`coalesce((SELECT ${joined} FROM quote_like WHERE quote_id = quote.id), '')`;
  return quotes(db).select(likeIds.as('likeIds')).$castTo<LikedQuote>();
}

function counted(db: Kysely<Tables>) {
  return quotes(db)
    .select([
      likeCount.as('likes'),
      sql<number>`(SELECT count(*) FROM comment WHERE quote_id = quote.id)`.as('comments'),
    ])
    .$castTo<CountedQuote>();
}

function matchingIds(db: Kysely<Tables>, { author, category }: QuoteFilter) {
  let found = publishedIds(db);
  if (author !== undefined) found = found.where('quote.author_key', '=', keyOf(author));
  if (category !== undefined) {
    found = found.where('quote.category_id', 'in', (e) =>
      e
        .selectFrom('category')
        .select('category.id')
        .where((c) => c.or([c('name_key', '=', keyOf(category)), c('slug', '=', category)])),
    );
  }
  return found;
}

/** Ids alone: those before a page are read from an index, without their rows. */
function publishedIds(db: Kysely<Tables>) {
  return db.selectFrom('quote').select('quote.id').where('quote.is_published', '=', 1);
}

function inOrder<Row extends Quote>(ids: readonly number[], rows: readonly Row[]): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Counts of all quotes and of open reports. */
export async function countAll({ kysely }: Store) {
  const { rows } = await sql<{ published: number; waiting: number; reports: number }>`SELECT
    (SELECT coalesce(sum(quotes), 0) FROM category) AS published,
    (SELECT count(*) FROM quote WHERE is_published = 0) AS waiting,
    (SELECT count(*) FROM report WHERE status = 'open') AS reports`.execute(kysely);
  return rows[0] ?? { published: 0, waiting: 0, reports: 0 };
}
