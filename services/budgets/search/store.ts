import type { Session } from '@octavo/data';
import type { WordQuery } from '@octavo/data/terms';
import { sql } from 'kysely';
import { type ExpenseFilter, type ExpenseWithBudget, matching, withBudget } from '../expenses/index.ts';
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
  { kysely, dialect }: Session<Tables>,
  owner: number,
  { words, filter, byDate, limit, offset }: SearchPage,
): Promise<ExpenseWithBudget[]> {
  const found = withBudget(kysely)
    .innerJoin(expenseWords.matches(dialect, words, owner).as('found'), 'found.id', 'e.number')
    .where('e.owner', '=', owner);
  const query = matching(found, filter, { owner, dialect });
  const sorted = byDate
    ? query.orderBy('e.spent_on', 'desc')
    : query.orderBy('found.score', 'desc').orderBy('e.spent_on', 'desc');
  return sorted.orderBy('e.number', 'desc').limit(limit).offset(offset).execute();
}

/** Counts the matching expenses. Without a filter, the index alone is read. */
export async function countFound(
  { kysely, dialect }: Session<Tables>,
  owner: number,
  { words, filter }: Pick<SearchPage, 'words' | 'filter'>,
): Promise<number> {
  const matches = expenseWords.matches(dialect, words, owner).as('found');
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const query = isFiltered
    ? matching(
        kysely
          .selectFrom('expense as e')
          .innerJoin(matches, 'found.id', 'e.number')
          .select((eb) => eb.fn.countAll<number>().as('total'))
          .where('e.owner', '=', owner),
        filter,
        { owner, dialect },
      )
    : kysely.selectFrom(matches).select((eb) => eb.fn.countAll<number>().as('total'));
  return (await query.executeTakeFirstOrThrow()).total;
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
