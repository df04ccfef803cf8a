import { type Static, Type } from '@octavo/core';
import { highlight } from '@octavo/data/search';
import { parseWordQuery, type WordQuery } from '@octavo/data/terms';
import { numberedScope } from '../budgets/index.ts';
import type { Caller, Context } from '../commands.ts';
import { createParser } from '../edges/schema-parser.ts';
import { Day, Reference } from '../edges/schemas.ts';
import { checkRange, countAllExpenses, Expense, toExpense } from '../expenses/index.ts';
import { indexExpenses } from '../store/expense-search-index.ts';
import { clearIndex, countFound, expensesAfter, findPage } from './store.ts';

export const SearchRequest = Type.Object(
  {
    query: Type.String({
      minLength: 1,
      maxLength: 256,
      format: 'text',
      description:
        'Words, all of which must be found; the last may be unfinished. "A phrase" in quotes, -without',
      examples: ['coffee'],
    }),
    page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
    size: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
    from: Type.Optional(Day),
    to: Type.Optional(Day),
    budgetId: Type.Optional(Reference),
    sort: Type.Enum(['relevance', 'date'], { default: 'relevance' }),
  },
  { title: 'SearchRequest' },
);
export type SearchRequest = Static<typeof SearchRequest>;

const Highlight = Type.Object(
  {
    description: Type.Optional(Type.String({ examples: ['<mark>Coffee</mark> &amp; cake'] })),
    category: Type.Optional(Type.String()),
    notes: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Array(Type.String())),
  },
  { title: 'Highlight', description: 'Fields that match, as HTML with the matches in <mark>' },
);
type Highlight = Static<typeof Highlight>;

export const SearchResult = Type.Object(
  {
    total: Type.Integer(),
    page: Type.Integer(),
    size: Type.Integer(),
    took: Type.Integer({ description: 'Milliseconds' }),
    expenses: Type.Array(
      Type.Object({ ...Expense.properties, highlight: Highlight }, { title: 'FoundExpense' }),
    ),
  },
  { title: 'SearchResult' },
);
export type SearchResult = Static<typeof SearchResult>;

/** Parses input that does not come through a route with the schema. Throws `validation_failed`. */
export const parseSearchRequest = createParser(SearchRequest);

/** Finds expenses of the caller, or of a budget that is shared with it, by words, including every acknowledged one. */
export async function searchExpenses(
  { db }: Context,
  caller: Caller,
  given: SearchRequest,
): Promise<SearchResult> {
  const startedMs = performance.now();
  const { query, page, size, from, to, budgetId, sort } = given;
  checkRange(from, to);
  const words = parseWordQuery(query, { isLastPrefix: true });
  const found = await db.read(async (session) => {
    const { owner, budgets } = await numberedScope(session, caller.owner, budgetId);
    const filter = { from, to, budgets };
    const all = (await countAllExpenses.first(session, { owner }))?.total ?? 0;
    const place = { database: db, session, touched: all };
    const total = await countFound(place, owner, { words, filter });
    const wanted = { words, filter, byDate: sort === 'date', limit: size, offset: (page - 1) * size };
    return { total, rows: wanted.offset < total ? await findPage(place, owner, wanted) : [] };
  });
  const expenses = found.rows.map((row) => {
    const expense = toExpense(row);
    return { ...expense, highlight: highlightOf(expense, words) };
  });
  const took = Math.round(performance.now() - startedMs);
  return { total: found.total, page, size, took, expenses };
}

const batch = 500;

/**
 * Indexes the expenses of an account again, in slices, so that other requests get their turn. What is written meanwhile is indexed
 * as always. `onProgress` gets how many are done.
 */
export async function reindexExpenses(
  { db }: Context,
  { owner }: Pick<Caller, 'owner'>,
  { signal, onProgress }: { signal?: AbortSignal; onProgress?: (done: number) => Promise<void> } = {},
): Promise<number> {
  let done = 0;
  for (let afterNumber = 0; ; ) {
    signal?.throwIfAborted();
    const slice = await db.write(async (session) => {
      await session.lock(`account ${owner}`);
      const rows = await expensesAfter(session, { owner, afterNumber, limit: batch });
      const upToNumber = rows.at(-1)?.number ?? afterNumber;
      await clearIndex(session, { owner, afterNumber, upToNumber });
      await indexExpenses(session, owner, rows);
      return { count: rows.length, upToNumber };
    });
    done += slice.count;
    afterNumber = slice.upToNumber;
    await onProgress?.(done);
    if (slice.count < batch) return done;
  }
}

function highlightOf({ description, category, notes, tags }: Expense, words: WordQuery): Highlight {
  const marked = { description, category, notes };
  const fields = Object.entries(marked).flatMap(([name, text]) => {
    const shown = text === null ? undefined : markedText(text, words);
    return shown === undefined ? [] : [[name, shown]];
  });
  const shownTags = tags.map((tag) => markedText(tag, words));
  const hasTag = shownTags.some((tag) => tag !== undefined);
  const all = shownTags.map((tag, index) => tag ?? escaped(tags[index] ?? ''));
  return { ...Object.fromEntries(fields), ...(hasTag && { tags: all }) };
}

/** HTML, or nothing for a text without a match. */
function markedText(text: string, words: WordQuery): string | undefined {
  const parts = highlight(text, words);
  if (!parts.some(({ isMatch }) => isMatch)) return undefined;
  return parts
    .map((part) => (part.isMatch ? `<mark>${escaped(part.text)}</mark>` : escaped(part.text)))
    .join('');
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign);
}
