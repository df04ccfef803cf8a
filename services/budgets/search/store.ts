import { type ScanPlace, scan } from '@octavo/data';
import type { WordQuery } from '@octavo/data/terms';
import { sql } from 'kysely';
import { adderOf, budgetId, type ExpenseFilter, matching } from '../expenses/index.ts';
import { expenseWords } from '../store/expense-search-index.ts';
import type { Store, Tables } from '../store/tables.ts';

export interface SearchPage {
  readonly words: WordQuery;
  readonly filter: ExpenseFilter;
  readonly byDate: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** One page of the matching expenses, best or newest first. */
export function findPage(
  place: ScanPlace<Tables>,
  owner: number,
  { words, filter, byDate, limit, offset }: SearchPage,
) {
  const { dialect } = place.session;
  const found = expensesFound(place, owner, words)
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'e.owner').onRef('b.number', '=', 'e.budget'),
    )
    .selectAll('e')
    .select([budgetId.as('budget_id'), adderOf(owner)]);
  const query = matching(found, filter, { owner, dialect });
  const sorted = byDate
    ? query.orderBy('e.spent_on', 'desc')
    : query.orderBy('found.score', 'desc').orderBy('e.spent_on', 'desc');
  return scan(sorted.orderBy('e.number', 'desc').limit(limit).offset(offset), place);
}

/** The matching expenses, as `e`. SQLite reads the tables of a cross join in this order, so it looks into the index once, and not for each expense. */
function expensesFound({ session }: ScanPlace<Tables>, owner: number, words: WordQuery) {
  return session.kysely
    .selectFrom(expenseWords.matches(session.dialect, words, owner).as('found'))
    .crossJoin('expense as e')
    .whereRef('e.number', '=', 'found.id')
    .where('e.owner', '=', owner);
}

/** Counts the matching expenses. Without a filter, the index alone is read. */
export async function countFound(
  place: ScanPlace<Tables>,
  owner: number,
  { words, filter }: Pick<SearchPage, 'words' | 'filter'>,
): Promise<number> {
  const { kysely, dialect } = place.session;
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const query = isFiltered
    ? matching(
        expensesFound(place, owner, words).select((eb) => eb.fn.countAll<number>().as('total')),
        filter,
        { owner, dialect },
      )
    : kysely
        .selectFrom(expenseWords.matches(dialect, words, owner).as('found'))
        .select((eb) => eb.fn.countAll<number>().as('total'));
  const [counted] = await scan(query, place);
  return counted?.total ?? 0;
}

/** Expenses of an owner in the order of their numbers, some at a time, to index them again. */
export function expensesAfter(
  { kysely }: Store,
  { owner, afterNumber, limit }: { owner: number; afterNumber: number; limit: number },
) {
  return kysely
    .selectFrom('expense')
    .select(['number', 'description', 'category', 'tags', 'notes'])
    .where('owner', '=', owner)
    .where('number', '>', afterNumber)
    .orderBy('number')
    .limit(limit)
    .execute();
}

/** Takes the expenses of an owner out of the index, some at a time. */
export function clearIndex(
  { kysely, dialect }: Store,
  given: { owner: number; afterNumber: number; upToNumber: number },
) {
  return sql`DELETE FROM expense_words WHERE ${sql.raw(dialect === 'sqlite' ? 'rowid' : 'id')} IN (
      SELECT number FROM expense WHERE owner = ${given.owner} AND number > ${given.afterNumber} AND number <= ${given.upToNumber})`.execute(
    kysely,
  );
}
