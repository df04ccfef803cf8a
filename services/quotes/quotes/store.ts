import { randomInt } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { type Dialect, type Session, statement } from '#kit/db/index.ts';
import type { Tables } from '../tables.ts';
import { keyOf, type Quote } from './quote.ts';

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

/** Which quotes to list: by the name of the author, by the name or the slug of the category. */
export interface QuoteFilter {
  readonly author?: string | undefined;
  readonly category?: string | undefined;
}

const byId = statement<Tables, { id: number }>()((db, p) => quotes(db).where('quote.id', '=', p('id')));

const likedById = statement<Tables, { id: number }>()((db, p, dialect) =>
  liked(db, dialect).where('quote.id', '=', p('id')),
);

const countedById = statement<Tables, { id: number }>()((db, p) =>
  counted(db).where('quote.id', '=', p('id')),
);

const likedPage = statement<Tables, { limit: number; offset: number }>()((db, p, dialect) =>
  liked(db, dialect)
    .where('quote.is_published', '=', 1)
    .orderBy('quote.id')
    .limit(p('limit'))
    .offset(p('offset')),
);

const publishedTotal = statement<Tables>()((db) =>
  db.selectFrom('category').select((e) => e.fn.sum<number | null>('quotes').as('total')),
);

const categoryPage = statement<Tables, { categoryId: number; limit: number; offset: number }>()((db, p) =>
  counted(db)
    .where('quote.category_id', '=', p('categoryId'))
    .where('quote.is_published', '=', 1)
    .orderBy('quote.id')
    .limit(p('limit'))
    .offset(p('offset')),
);

const authorPage = statement<Tables, { authorKey: string; limit: number }>()((db, p) =>
  counted(db)
    .where('quote.author_key', '=', p('authorKey'))
    .where('quote.is_published', '=', 1)
    .orderBy('quote.id', 'desc')
    .limit(p('limit')),
);

const publishedByIds = statement<Tables, { ids: string }>()((db, p, dialect) =>
  quotes(db)
    .where('quote.is_published', '=', 1)
    .where('quote.id', 'in', idsIn(dialect, p('ids'))),
);

const likedByIds = statement<Tables, { ids: string }>()((db, p, dialect) =>
  liked(db, dialect).where('quote.id', 'in', idsIn(dialect, p('ids'))),
);

const countedByIds = statement<Tables, { ids: string }>()((db, p, dialect) =>
  counted(db).where('quote.id', 'in', idsIn(dialect, p('ids'))),
);

/** The quote with this id, published or not; likewise below. */
export function findQuote(session: Session<Tables>, id: number): Promise<Quote | undefined> {
  return byId.first(session, { id });
}

export function findLikedQuote(session: Session<Tables>, id: number): Promise<LikedQuote | undefined> {
  return likedById.first(session, { id });
}

export function findCountedQuote(session: Session<Tables>, id: number): Promise<CountedQuote | undefined> {
  return countedById.first(session, { id });
}

/** Published quotes by ascending id, and how many there are. */
export async function listQuotes(
  session: Session<Tables>,
  filter: QuoteFilter,
  slice: Slice,
): Promise<{ quotes: LikedQuote[]; total: number }> {
  if (filter.author === undefined && filter.category === undefined) {
    const page = await likedPage.all(session, { ...slice });
    return { quotes: page, total: (await publishedTotal.first(session, {}))?.total ?? 0 };
  }
  const page = await matching(liked(session.kysely, session.dialect), filter)
    .orderBy('quote.id')
    .limit(slice.limit)
    .offset(slice.offset)
    .execute();
  const all = matching(quotes(session.kysely), filter).clearSelect();
  const total = await all.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirst();
  return { quotes: page, total: total?.total ?? 0 };
}

const idRange = statement<Tables>()((db) =>
  db
    .selectFrom('quote')
    .select((e) => [e.fn.min<number | null>('id').as('first'), e.fn.max<number | null>('id').as('last')])
    .where('is_published', '=', 1),
);

const firstFrom = statement<Tables, { id: number }>()((db, p) =>
  db
    .selectFrom('quote')
    .select('id')
    .where('is_published', '=', 1)
    .where('id', '>=', p('id'))
    .orderBy('id')
    .limit(1),
);

/** Any published quote. Quotes after a gap in the ids are a little more likely. */
export async function randomQuote(session: Session<Tables>): Promise<LikedQuote | undefined> {
  const { first, last } = (await idRange.first(session, {})) ?? { first: null, last: null };
  if (first === null || last === null) return undefined;
  for (let attempt = 1; ; attempt++) {
    const id = randomInt(first, last + 1);
    const found = await firstFrom.first(session, { id });
    if (!found || found.id === id || attempt === attemptsMax)
      return findLikedQuote(session, found?.id ?? first);
  }
}

const attemptsMax = 4;

/** The published quotes of a category by ascending id. */
export function quotesOfCategory(
  session: Session<Tables>,
  categoryId: number,
  slice: Slice,
): Promise<CountedQuote[]> {
  return categoryPage.all(session, { categoryId, ...slice });
}

/** Other published quotes of the same author, the newest first. */
export async function moreByAuthor(
  session: Session<Tables>,
  { id, author, limit }: { id: number; author: string; limit: number },
): Promise<CountedQuote[]> {
  const found = await authorPage.all(session, { authorKey: keyOf(author), limit: limit + 1 });
  return found.filter((quote) => quote.id !== id).slice(0, limit);
}

/** The published ones of these quotes, in the order of the ids. */
export async function publishedQuotes(session: Session<Tables>, ids: readonly number[]): Promise<Quote[]> {
  return inOrder(ids, await publishedByIds.all(session, { ids: listOf(ids) }));
}

/** These quotes as the API gives them, in the order of the ids. */
export async function likedQuotes(session: Session<Tables>, ids: readonly number[]): Promise<LikedQuote[]> {
  return inOrder(ids, await likedByIds.all(session, { ids: listOf(ids) }));
}

/** These quotes as pages show them, in the order of the ids. */
export async function countedQuotes(
  session: Session<Tables>,
  ids: readonly number[],
): Promise<CountedQuote[]> {
  return inOrder(ids, await countedByIds.all(session, { ids: listOf(ids) }));
}

function quotes(db: Kysely<Tables>) {
  return db
    .selectFrom('quote')
    .innerJoin('category', 'category.id', 'quote.category_id')
    .select([
      'quote.id',
      'quote.text',
      'quote.author',
      'category.name as category',
      'category.slug as categorySlug',
      'quote.source',
      'quote.attribution',
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
      sql<number>`(SELECT count(*) FROM quote_like WHERE quote_id = quote.id)`.as('likes'),
      sql<number>`(SELECT count(*) FROM comment WHERE quote_id = quote.id)`.as('comments'),
    ])
    .$castTo<CountedQuote>();
}

/** The published quotes of a query that a filter admits. */
function matching<Q extends ReturnType<typeof quotes> | ReturnType<typeof liked>>(
  query: Q,
  { author, category }: QuoteFilter,
): Q {
  let found = (query as ReturnType<typeof quotes>).where('quote.is_published', '=', 1);
  if (author !== undefined) found = found.where('quote.author_key', '=', keyOf(author));
  if (category !== undefined) {
    found = found.where((e) =>
      e.or([e('category.name_key', '=', keyOf(category)), e('category.slug', '=', category)]),
    );
  }
  return found as Q;
}

/** A list of ids as one parameter, so that the statement is the same for any number of them. */
function listOf(ids: readonly number[]): string {
  return JSON.stringify(ids);
}

function idsIn(dialect: Dialect, list: unknown) {
  return dialect === 'sqlite'
    ? sql<number>`(SELECT value FROM json_each(${list}))`
    : sql<number>`(SELECT value::bigint FROM jsonb_array_elements_text(${list}::jsonb))`;
}

function inOrder<Row extends Quote>(ids: readonly number[], rows: readonly Row[]): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
