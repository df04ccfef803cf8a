import type { WriteSession } from '@octavo/data';
import { refilledBy, WordIndex } from '@octavo/data/search';
import type { ExpenseRow, Tables } from './tables.ts';

/** The words of expenses. The owner is their scope, so that a search finds no others, and costs what one's own cost. */
export const expenseWords = new WordIndex({
  table: 'expense_words',
  weights: { description: 8, category: 4, tags: 4, notes: 1 },
});

const expensesAtOnce = 1_000;

type IndexedRow = Pick<ExpenseRow, 'number' | 'description' | 'category' | 'tags' | 'notes'>;

/** Indexes an expense in the transaction that writes it. Its row leaves the index when it is deleted. */
export async function indexExpense(
  session: WriteSession<Tables>,
  row: IndexedRow & { readonly owner: number },
): Promise<void> {
  await expenseWords.put(session, row.number, textsOf(row), row.owner);
}

/** Like {@link indexExpense} for many expenses of one owner. */
export async function indexExpenses(
  session: WriteSession<Tables>,
  owner: number,
  rows: readonly IndexedRow[],
): Promise<void> {
  const documents = rows.map((row) => ({ id: row.number, texts: textsOf(row) }));
  await expenseWords.putAll(session, documents, owner);
}

/** Puts the words of all expenses into an empty index. */
export const refilledWords = refilledBy<Tables, IndexedRow & { readonly id: number; readonly owner: number }>(
  ({ kysely }, after) =>
    kysely
      .selectFrom('expense')
      .select(['number as id', 'number', 'owner', 'description', 'category', 'tags', 'notes'])
      .where('number', '>', after)
      .orderBy('number')
      .limit(expensesAtOnce)
      .execute(),
  async (session, rows) => {
    for (const [owner, ofOwner] of Map.groupBy(rows, (row) => row.owner))
      await indexExpenses(session, owner, ofOwner);
  },
);

function textsOf({ description, category, tags, notes }: IndexedRow) {
  const tagText = tags === '[]' ? '' : (JSON.parse(tags) as string[]).join(' , ');
  return { description, category: category ?? '', tags: tagText, notes: notes ?? '' };
}
