import type { Session } from '@octavo/data';
import { decodeCursor, encodeCursor } from '@octavo/web/rest';
import { sql } from 'kysely';
import { budgetsWithIds } from '../budgets/index.ts';
import type { Caller, Context } from '../commands.ts';
import type { BudgetRow, Tables } from '../store/tables.ts';
import { type Expense, type ExpenseWithBudget, toExpense } from './expense.ts';
import { withBudget } from './store.ts';

/** The first expenses of one budget. */
export interface ExpensesOfBudget {
  readonly edges: { readonly cursor: string; readonly node: Expense }[];
  readonly hasMore: boolean;
  /** Number of expenses on all pages. */
  readonly total: number;
}

/** The newest expenses of each of several budgets that the caller may read, by id, in one statement. `after` is the cursor of an edge. */
export async function listExpensesOf(
  { db }: Context,
  { owner }: Caller,
  budgetIds: readonly string[],
  { first, after }: { first: number; after: string | undefined },
): Promise<Map<string, ExpensesOfBudget>> {
  const [before = Number.MAX_SAFE_INTEGER] = decodeCursor(after, ['integer']) as [number?];
  return db.read(async (session) => {
    const budgets = await budgetsWithIds(session, owner, budgetIds);
    const rows = await newestOf(session, budgets, { before, limit: first + 1 });
    const byBudget = Map.groupBy(rows, ({ budget }) => budget);
    return new Map(
      budgets.map(({ id, number, expenses: total }) => {
        const own = byBudget.get(number) ?? [];
        const edges = own.slice(0, first).map((row) => ({
          cursor: encodeCursor([row.number]),
          node: toExpense(row),
        }));
        return [id, { edges, hasMore: own.length > first, total }];
      }),
    );
  });
}

/** Reads the newest of each budget, with as many rows of the index as it gives, however many it has. */
async function newestOf(
  { kysely }: Session<Tables>,
  budgets: readonly BudgetRow[],
  { before, limit }: { before: number; limit: number },
): Promise<ExpenseWithBudget[]> {
  if (budgets.length === 0) return [];
  const parts = budgets.map(({ owner, number }) => {
    const newest = withBudget(kysely, owner)
      .where('e.owner', '=', owner)
      .where('e.budget', '=', number)
      .where('e.number', '<', before)
      .orderBy('e.number', 'desc')
      .limit(limit);
    return sql`SELECT * FROM (${newest}) AS part`;
  });
  const { rows } = await sql<ExpenseWithBudget>`${sql.join(parts, sql` UNION ALL `)}`.execute(kysely);
  return rows;
}
