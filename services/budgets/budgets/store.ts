import { type ScanPlace, type Session, scan, statement } from '@octavo/data';
import { type Expression, sql } from 'kysely';
import { bulkInsert } from '../store/store-bulk.ts';
import { addedTo, sumOf } from '../store/sums.ts';
import type { BudgetRow, Tables } from '../store/tables.ts';
import { type AccessedBudget, sharedBudgets } from './access/store.ts';
import { planColumns } from './budget.ts';

export const insertBudget = statement<
  Tables,
  Omit<
    BudgetRow,
    | 'number'
    | 'updated_at_ms'
    | 'version'
    | 'spent_minor'
    | 'spent_high'
    | 'expenses'
    | 'unassigned'
    | 'shared'
  >
>()((db, p) =>
  db
    .insertInto('budget')
    .values({
      id: p('id'),
      owner: p('owner'),
      name: p('name'),
      limit_minor: p('limit_minor'),
      currency: p('currency'),
      period: p('period'),
      period_day: p('period_day'),
      start_date: p('start_date'),
      rollover: p('rollover'),
      thresholds: p('thresholds'),
      spent_minor: 0,
      spent_high: 0,
      expenses: 0,
      unassigned: 0,
      shared: 0,
      created_at_ms: p('created_at_ms'),
      updated_at_ms: p('created_at_ms'),
      version: 1,
    })
    .returningAll(),
);

export const budgetById = statement<Tables, { owner: number; id: string }>()((db, p) =>
  db
    .selectFrom('budget')
    .selectAll()
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .where('unassigned', '=', 0),
);

export const budgetByNumber = statement<Tables, { owner: number; number: number }>()((db, p) =>
  db.selectFrom('budget').selectAll().where('owner', '=', p('owner')).where('number', '=', p('number')),
);

/** The budgets with some ids that an account may read. */
export async function budgetsWithIds(
  { kysely }: Session<Tables>,
  account: number,
  ids: readonly string[],
): Promise<AccessedBudget[]> {
  if (ids.length === 0) return [];
  const own = await kysely
    .selectFrom('budget')
    .selectAll()
    .where('owner', '=', account)
    .where('id', 'in', ids)
    .where('unassigned', '=', 0)
    .execute();
  if (own.length === ids.length) return own;
  const shared = sharedBudgets(kysely, sql<number>`${account}`).where('b.id', 'in', ids);
  return [...own, ...(await shared.execute())];
}

export const budgetsPage = statement<Tables, { owner: number; before: number; limit: number }>()((db, p) =>
  db
    .selectFrom('budget')
    .selectAll()
    .select(isMember(p('owner')))
    .where('owner', '=', p('owner'))
    .where('number', '<', p('before'))
    .where('unassigned', '=', 0)
    .orderBy('number', 'desc')
    .limit(p('limit')),
);

/** 1 if budgets are shared with an account, and null if none are: then a list does not look for them. */
function isMember(account: Expression<number>) {
  return sql<
    number | null
  >`(SELECT 1 FROM ${sql.table('budget_member')} WHERE account = ${account} LIMIT 1)`.as('is_member');
}

/** The budgets that are shared with an account, below a number, the newest first. */
export const sharedBudgetsPage = statement<Tables, { account: number; before: number; limit: number }>()(
  (db, p) =>
    sharedBudgets(db, p('account'))
      .where('b.number', '<', p('before'))
      .orderBy('b.number', 'desc')
      .limit(p('limit')),
);

/** Selects fewer columns: each costs as much as a step to the next row. */
export const plansPage = statement<Tables, { owner: number; before: number; limit: number }>()((db, p) =>
  db
    .selectFrom('budget')
    .select(['number', ...planColumns])
    .select(isMember(p('owner')))
    .where('owner', '=', p('owner'))
    .where('number', '<', p('before'))
    .where('unassigned', '=', 0)
    .orderBy('number', 'desc')
    .limit(p('limit')),
);

/** The newest budget before an id: ids are ordered by time. */
export const budgetBeforeId = statement<Tables, { owner: number; id: string }>()((db, p) =>
  db
    .selectFrom('budget')
    .select('number')
    .where('owner', '=', p('owner'))
    .where('id', '<', p('id'))
    .orderBy('number', 'desc')
    .limit(1),
);

export const countBudgets = statement<Tables, { owner: number }>()((db, p) =>
  db
    .selectFrom('budget')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', p('owner'))
    .where('unassigned', '=', 0),
);

/** The columns that a change may write: every one that is not named here. */
export type ChangedColumn = Exclude<
  keyof BudgetRow,
  | 'number'
  | 'id'
  | 'owner'
  | 'spent_minor'
  | 'spent_high'
  | 'expenses'
  | 'unassigned'
  | 'shared'
  | 'created_at_ms'
  | 'updated_at_ms'
  | 'version'
>;

export const updateBudgetRow = statement<
  Tables,
  Omit<
    BudgetRow,
    'id' | 'created_at_ms' | 'version' | 'spent_minor' | 'spent_high' | 'expenses' | 'unassigned' | 'shared'
  >
>()((db, p) =>
  db
    .updateTable('budget')
    .set(
      (eb) =>
        ({
          name: p('name'),
          limit_minor: p('limit_minor'),
          currency: p('currency'),
          period: p('period'),
          period_day: p('period_day'),
          start_date: p('start_date'),
          rollover: p('rollover'),
          thresholds: p('thresholds'),
          updated_at_ms: p('updated_at_ms'),
          version: eb('version', '+', 1),
        }) satisfies Record<ChangedColumn | 'updated_at_ms' | 'version', unknown>,
    )
    .where('owner', '=', p('owner'))
    .where('number', '=', p('number'))
    .returningAll(),
);

export const deleteBudgetRow = statement<Tables, { owner: number; number: number }>()((db, p) =>
  db.deleteFrom('budget').where('owner', '=', p('owner')).where('number', '=', p('number')),
);

/** Any expenses of a budget. In no order, so that they cost what they are, however many there are and whatever index is used. */
export const someExpenses = statement<Tables, { owner: number; budget: number; limit: number }>()((db, p) =>
  db
    .selectFrom('expense')
    .select(['number', 'transaction_id', 'spent_on', 'amount_minor'])
    .where('owner', '=', p('owner'))
    .where('budget', '=', p('budget'))
    .limit(p('limit')),
);

/** Deletes expenses by their numbers, given as JSON. With an array, PostgreSQL looks up each. */
export const deleteExpenses = statement<Tables, { owner: number; numbers: string }>()((_db, p, dialect) => {
  const chosen =
    dialect === 'sqlite'
      ? sql`IN (SELECT value FROM json_each(${p('numbers')}))`
      : sql`= ANY (ARRAY(SELECT value::bigint FROM jsonb_array_elements_text(${p('numbers')}::jsonb) AS each (value)))`;
  return sql`DELETE FROM expense WHERE owner = ${p('owner')} AND number ${chosen}`;
});

type Added = { owner: number; budget: number; high: number; low: number; expenses: number };

/** Adds to the totals of a budget. */
export const addToBudget = statement<Tables, Added>()((db, p) => {
  const spent = addedTo({ high: 'spent_high', low: 'spent_minor' }, { high: p('high'), low: p('low') });
  return db
    .updateTable('budget')
    .set((eb) => ({
      spent_minor: spent.low,
      spent_high: spent.high,
      expenses: eb('expenses', '+', p('expenses')),
    }))
    .where('owner', '=', p('owner'))
    .where('number', '=', p('budget'));
});

const daySum = { high: 'budget_day.amount_high', low: 'budget_day.amount_minor' };

export const addToDay = statement<Tables, Added & { day: string }>()((db, p) => {
  const spent = addedTo(daySum, { high: p('high'), low: p('low') });
  return db
    .insertInto('budget_day')
    .values({
      owner: p('owner'),
      budget: p('budget'),
      day: p('day'),
      amount_minor: p('low'),
      amount_high: p('high'),
      expenses: p('expenses'),
    })
    .onConflict((conflict) =>
      conflict.columns(['owner', 'budget', 'day']).doUpdateSet((eb) => ({
        amount_minor: spent.low,
        amount_high: spent.high,
        expenses: eb('budget_day.expenses', '+', p('expenses')),
      })),
    );
});

const manyAdded = addedTo(daySum, {
  high: sql.ref('excluded.amount_high'),
  low: sql.ref('excluded.amount_minor'),
});

/** Adds to many days at once: owner, budget, day, both parts of the amount, number of expenses. */
export const addToDays = bulkInsert(
  'budget_day',
  {
    owner: 'bigint',
    budget: 'bigint',
    day: 'text',
    amount_high: 'bigint',
    amount_minor: 'bigint',
    expenses: 'bigint',
  },
  sql`ON CONFLICT (owner, budget, day) DO UPDATE SET
    amount_high = ${manyAdded.high}, amount_minor = ${manyAdded.low}, expenses = budget_day.expenses + excluded.expenses`,
);

const stored = { high: 'amount_high', low: 'amount_minor' };

type InBudget = { owner: number; budget: number };

export const sumBetween = statement<Tables, InBudget & { from: string; to: string }>()((db, p) =>
  db
    .selectFrom('budget_day')
    .select(sumOf(stored))
    .select((eb) => [eb.fn.coalesce(eb.fn.sum<number>('expenses'), sql<number>`0`).as('expenses')])
    .where('owner', '=', p('owner'))
    .where('budget', '=', p('budget'))
    .where('day', '>=', p('from'))
    .where('day', '<=', p('to')),
);

export function sumByCategory(
  place: ScanPlace<Tables>,
  { owner, budget, from, to }: InBudget & { readonly from: string; readonly to: string },
) {
  const query = place.session.kysely
    .selectFrom('expense')
    .select((eb) => ['category', eb.fn.countAll<number>().as('expenses')])
    .select(sumOf({ low: 'amount_minor' }))
    .where('owner', '=', owner)
    .where('budget', '=', budget)
    .where('spent_on', '>=', from)
    .where('spent_on', '<=', to)
    .groupBy('category')
    .orderBy('category');
  return scan(query, place);
}

type OfPeriod = InBudget & { period: string };

export const reachedThresholds = statement<Tables, OfPeriod>()((db, p) =>
  db
    .selectFrom('budget_threshold')
    .select('threshold')
    .where('owner', '=', p('owner'))
    .where('budget', '=', p('budget'))
    .where('period', '=', p('period')),
);

export const reachThreshold = statement<Tables, OfPeriod & { threshold: number }>()((db, p) =>
  db
    .insertInto('budget_threshold')
    .values({ owner: p('owner'), budget: p('budget'), period: p('period'), threshold: p('threshold') })
    .onConflict((conflict) => conflict.doNothing()),
);

export const armThreshold = statement<Tables, OfPeriod & { threshold: number }>()((db, p) =>
  db
    .deleteFrom('budget_threshold')
    .where('owner', '=', p('owner'))
    .where('budget', '=', p('budget'))
    .where('period', '=', p('period'))
    .where('threshold', '=', p('threshold')),
);
