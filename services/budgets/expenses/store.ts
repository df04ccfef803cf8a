import { type Dialect, type Mark, type ScanPlace, type Session, scan, statement } from '@octavo/data';
import { parseWordQuery } from '@octavo/data/terms';
import {
  type Expression,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import { categoryKey, usualSpellings } from '../store/categories.ts';
import { expenseWords } from '../store/expense-search-index.ts';
import { shownName } from '../store/shown-name.ts';
import type { ExpenseRow, Tables } from '../store/tables.ts';

type Writable = Omit<
  ExpenseRow,
  'number' | 'version' | 'updated_at_ms' | `file_${string}` | `restored_${string}`
>;

type Contents = Pick<
  ExpenseRow,
  | 'budget'
  | 'description'
  | 'amount_minor'
  | 'amount'
  | 'currency'
  | 'category'
  | 'tags'
  | 'spent_on'
  | 'notes'
  | 'external_id'
  | 'original_amount_minor'
  | 'original_currency'
  | 'rate'
  | 'rate_date'
  | 'transaction_id'
>;

/** The columns of an expense that are given when it is added and when it is changed. */
function contents(p: Mark<Contents>) {
  return {
    budget: p('budget'),
    description: p('description'),
    amount_minor: p('amount_minor'),
    amount: p('amount'),
    currency: p('currency'),
    category: p('category'),
    tags: p('tags'),
    spent_on: p('spent_on'),
    notes: p('notes'),
    external_id: p('external_id'),
    original_amount_minor: p('original_amount_minor'),
    original_currency: p('original_currency'),
    rate: p('rate'),
    rate_date: p('rate_date'),
    transaction_id: p('transaction_id'),
  };
}

export const insertExpense = statement<Tables, Writable>()((db, p) =>
  db
    .insertInto('expense')
    .values({
      id: p('id'),
      owner: p('owner'),
      ...contents(p),
      added_by: p('added_by'),
      created_at_ms: p('created_at_ms'),
      updated_at_ms: p('created_at_ms'),
      version: 1,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning([
      'number',
      person(sql`coalesce(cast(${p('added_by')} AS bigint), cast(${p('owner')} AS bigint))`).as('adder'),
    ]),
);

/** The id of an account and its name behind it; null once it is erased. */
function person(account: RawBuilder<unknown>) {
  return sql<
    string | null
  >`(SELECT adder.id || coalesce(${shownName('adder')}, '') FROM ${sql.table('account')} AS adder
    WHERE adder.number = ${account} AND adder.erased_at_ms IS NULL)`;
}

/** The account that added the expense `e`. With an owner from outside the rows, the account of the owner is read once for all of them. */
export function adderOf(owner: number | Expression<number> = sql.ref<number>('e.owner')) {
  const byOwner = person(sql`${owner}`);
  return sql<
    string | null
  >`CASE WHEN e.added_by IS NULL THEN ${byOwner} ELSE ${person(sql`e.added_by`)} END`.as('adder');
}

export const updateExpenseRow = statement<
  Tables,
  Omit<ExpenseRow, 'id' | 'added_by' | 'created_at_ms' | 'version'>
>()((db, p) =>
  db
    .updateTable('expense')
    .set((eb) => ({
      ...contents(p),
      updated_at_ms: p('updated_at_ms'),
      version: eb('version', '+', 1),
    }))
    .where('owner', '=', p('owner'))
    .where('number', '=', p('number')),
);

/** Inserts nothing if the id is there. */
export function insertOfflineId(
  { kysely }: Session<Tables>,
  { owner, externalId }: { owner: number; externalId: string },
) {
  return kysely
    .insertInto('offline_expense')
    .values({ owner, external_id: externalId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
}

/** Another debit is in force now. */
export const replaceDebit = statement<
  Tables,
  { owner: number; id: string; before: string; transactionId: string }
>()((db, p) =>
  db
    .updateTable('expense')
    .set({ transaction_id: p('transactionId') })
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .where('transaction_id', '=', p('before')),
);

export const deleteExpenseRow = statement<Tables, { owner: number; number: number }>()((db, p) =>
  db.deleteFrom('expense').where('owner', '=', p('owner')).where('number', '=', p('number')),
);

export const expenseById = statement<Tables, { owner: number; id: string }>()((db, p) =>
  withBudget(db, p('owner')).where('e.owner', '=', p('owner')).where('e.id', '=', p('id')),
);

/** An expense in a budget that is shared with an account, and the role of the account. */
export const sharedExpenseById = statement<Tables, { account: number; id: string }>()((db, p) =>
  inSharedBudgets(db).where('m.account', '=', p('account')).where('e.id', '=', p('id')),
);

/** Selects another expense of the budget with an external id. */
export const expenseWithExternalId = statement<
  Tables,
  { owner: number; budget: number; externalId: string; except: number }
>()((db, p) =>
  db
    .selectFrom('expense')
    .select('id')
    .where('owner', '=', p('owner'))
    .where('budget', '=', p('budget'))
    .where('external_id', '=', p('externalId'))
    .where('number', '!=', p('except')),
);

export const insertTag = statement<Tables, { owner: number; tag: string; expense: number }>()((db, p) =>
  db
    .insertInto('expense_tag')
    .values({ owner: p('owner'), tag: p('tag'), expense: p('expense') })
    .onConflict((conflict) => conflict.doNothing()),
);

export const deleteTags = statement<Tables, { owner: number; expense: number }>()((db, p) =>
  db.deleteFrom('expense_tag').where('owner', '=', p('owner')).where('expense', '=', p('expense')),
);

/** Conditions for listed expenses. */
export interface ExpenseFilter {
  /** The numbers of the budgets. */
  readonly budgets?: readonly number[] | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly minAmount?: number | undefined;
  readonly maxAmount?: number | undefined;
  /** All spellings of a category. */
  readonly categories?: readonly string[] | undefined;
  readonly tag?: string | undefined;
  /** Search words. */
  readonly q?: string | undefined;
  /** Id of an undone import, for the expenses that it left. */
  readonly undoneImport?: string | undefined;
}

/** Mark of expenses that an import made and its undo left, in place of its id. */
export function undoneTask(task: string): string {
  return `undone/${task}`;
}

export const sortColumns = { spentOn: 'spent_on', amount: 'amount', createdAt: 'number' } as const;
export type SortField = keyof typeof sortColumns;

/** The place after which a page starts: the value of the sorted column, and the number of the expense. */
export type Place = readonly [value: string | number, number: number];

export interface ExpensePage {
  readonly sort: SortField;
  readonly isDescending: boolean;
  readonly after: Place | undefined;
  readonly limit: number;
}

/** Selects a page of an owner's expenses, sorted by a column and then by their number. */
export function selectExpenses(
  { kysely, dialect }: Session<Tables>,
  owner: number,
  filter: ExpenseFilter,
  { sort, isDescending, after, limit }: ExpensePage,
) {
  const column = `e.${sortColumns[sort]}` as const;
  const direction = isDescending ? 'desc' : 'asc';
  let query = matching(withBudget(kysely, owner).where('e.owner', '=', owner), filter, { owner, dialect });
  if (after) {
    const [value, number] = after;
    const beyond = sql.raw(isDescending ? '<' : '>');
    query =
      column === 'e.number'
        ? query.where(sql<SqlBool>`e.number ${beyond} ${number}`)
        : query.where(sql<SqlBool>`(${sql.ref(column)}, e.number) ${beyond} (${value}, ${number})`);
  }
  if (column !== 'e.number') query = query.orderBy(column, direction);
  return query.orderBy('e.number', direction).limit(limit);
}

/** The newest expense before an id: ids are ordered by time. */
export const expenseBeforeId = statement<Tables, { owner: number; id: string }>()((db, p) =>
  db
    .selectFrom('expense')
    .select('number')
    .where('owner', '=', p('owner'))
    .where('id', '<', p('id'))
    .orderBy('number', 'desc')
    .limit(1),
);

export async function countExpenses(
  place: ScanPlace<Tables>,
  owner: number,
  filter: ExpenseFilter,
): Promise<number> {
  const { kysely, dialect } = place.session;
  const query = matching(
    kysely
      .selectFrom('expense as e')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where('e.owner', '=', owner),
    filter,
    { owner, dialect },
  );
  const [counted] = await scan(query, place);
  return counted?.total ?? 0;
}

/** Counts all expenses, from the totals of the days. */
export const countAllExpenses = statement<Tables, { owner: number }>()((db, p) =>
  db
    .selectFrom('budget')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('expenses'), sql<number>`0`).as('total'))
    .where('owner', '=', p('owner')),
);

/** All columns of expenses, as `e`, with the id of their budget, which is null for unassigned ones. */
export function withBudget(db: Kysely<Tables>, owner?: number | Expression<number>) {
  return db
    .selectFrom('expense as e')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'e.owner').onRef('b.number', '=', 'e.budget'),
    )
    .selectAll('e')
    .select([budgetId.as('budget_id'), adderOf(owner)]);
}

/** Expenses in budgets that are shared with an account `m`. */
export function inSharedBudgets(db: Kysely<Tables>) {
  return withBudget(db)
    .innerJoin('budget_member as m', (join) =>
      join.onRef('m.owner', '=', 'e.owner').onRef('m.budget', '=', 'e.budget'),
    )
    .select('m.role as member_role');
}

/** The id of the budget `b`, which is null for unassigned expenses. */
export const budgetId = sql<string | null>`CASE b.unassigned WHEN 0 THEN b.id END`;

/** Adds the conditions of a filter to a query over `e`. */
export function matching<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  { budgets, from, to, minAmount, maxAmount, categories, tag, q, undoneImport }: ExpenseFilter,
  { owner, dialect }: { owner: number; dialect: Dialect },
): SelectQueryBuilder<DB, TB, O> {
  const found = (text: string) =>
    expenseWords.matches(dialect, parseWordQuery(text, { isLastPrefix: true }), owner);
  const conditions = [
    budgets === undefined ? undefined : isAmong('e.budget', budgets),
    from === undefined ? undefined : sql<SqlBool>`e.spent_on >= ${from}`,
    to === undefined ? undefined : sql<SqlBool>`e.spent_on <= ${to}`,
    minAmount === undefined ? undefined : sql<SqlBool>`e.amount >= ${minAmount}`,
    maxAmount === undefined ? undefined : sql<SqlBool>`e.amount <= ${maxAmount}`,
    categories === undefined ? undefined : isAmong('e.category', categories),
    undoneImport === undefined ? undefined : sql<SqlBool>`e.file_task = ${undoneTask(undoneImport)}`,
    q === undefined ? undefined : sql<SqlBool>`e.number IN (SELECT id FROM ${found(q)} AS found)`,
    tag === undefined
      ? undefined
      : sql<SqlBool>`EXISTS (SELECT 1 FROM expense_tag t WHERE t.owner = e.owner AND t.tag = ${tag} AND t.expense = e.number)`,
  ];
  return conditions.reduce((all, condition) => (condition ? all.where(condition) : all), query);
}

/** False for an empty list, which is no SQL. */
function isAmong(column: string, values: readonly (string | number)[]): RawBuilder<SqlBool> {
  if (values.length === 0) return sql<SqlBool>`1 = 0`;
  return sql<SqlBool>`${sql.ref(column)} IN (${sql.join(values)})`;
}

/** The currency of an owner's newest budget, or of the newest expense. */
export async function newestCurrency(
  { kysely }: Session<Tables>,
  owner: number,
): Promise<string | undefined> {
  const budget = await kysely
    .selectFrom('budget')
    .select('currency')
    .where('owner', '=', owner)
    .where('unassigned', '=', 0)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (budget) return budget.currency;
  const expense = await kysely
    .selectFrom('expense')
    .select('currency')
    .where('owner', '=', owner)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return expense?.currency;
}

/** Number of latest expenses read. */
const recentExpenses = 500;

/** The categories that are in use, each as it is spelled most. */
export async function recentCategories({ kysely }: Session<Tables>, owner: number): Promise<string[]> {
  const rows = await kysely
    .selectFrom((eb) =>
      eb
        .selectFrom('expense')
        .select('category')
        .where('owner', '=', owner)
        .orderBy('number', 'desc')
        .limit(recentExpenses)
        .as('recent'),
    )
    .select((eb) => ['category', eb.fn.countAll<number>().as('expenses')])
    .where('category', 'is not', null)
    .groupBy('category')
    .orderBy('category')
    .execute();
  const usual = new Set(usualSpellings(rows).values());
  return rows.flatMap(({ category }) => (category !== null && usual.has(category) ? [category] : []));
}

/** The spellings of a category that an owner uses. One entry of an index is read for each category. */
export async function spellingsOf(
  place: ScanPlace<Tables>,
  owner: number,
  category: string,
): Promise<string[]> {
  const query = sql<{ category: string }>`WITH RECURSIVE known (category) AS (
    SELECT min(category) FROM ${sql.table('expense')} WHERE owner = ${owner}
    UNION ALL
    SELECT (SELECT min(e.category) FROM ${sql.table('expense')} AS e WHERE e.owner = ${owner} AND e.category > known.category)
    FROM known WHERE known.category IS NOT NULL)
    SELECT category FROM known WHERE category IS NOT NULL`;
  const rows = await scan(query, place);
  const key = categoryKey(category);
  return rows.map((row) => row.category).filter((spelling) => categoryKey(spelling) === key);
}
