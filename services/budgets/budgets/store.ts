import { type Session, statement } from '@octavo/data';
import { type Expression, sql } from 'kysely';
import { type PeriodKind, periodAt, periodKinds } from '../money/periods.ts';
import { bulkInsert } from '../store/store-bulk.ts';
import { addedTo, type SummedParts, sumOf } from '../store/sums.ts';
import type { BudgetRow, Tables } from '../store/tables.ts';
import { planColumns } from './budget.ts';

export const insertBudget = statement<
  Tables,
  Omit<BudgetRow, 'number' | 'updated_at_ms' | 'version' | 'spent_minor' | 'spent_high' | 'expenses'>
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
      start_date: p('start_date'),
      rollover: p('rollover'),
      thresholds: p('thresholds'),
      spent_minor: 0,
      spent_high: 0,
      expenses: 0,
      created_at_ms: p('created_at_ms'),
      updated_at_ms: p('created_at_ms'),
      version: 1,
    })
    .returningAll(),
);

export const budgetById = statement<Tables, { owner: number; id: string }>()((db, p) =>
  db.selectFrom('budget').selectAll().where('owner', '=', p('owner')).where('id', '=', p('id')),
);

export const budgetByNumber = statement<Tables, { owner: number; number: number }>()((db, p) =>
  db.selectFrom('budget').selectAll().where('owner', '=', p('owner')).where('number', '=', p('number')),
);

export async function budgetsWithIds(
  { kysely }: Session<Tables>,
  owner: number,
  ids: readonly string[],
): Promise<BudgetRow[]> {
  if (ids.length === 0) return [];
  return kysely.selectFrom('budget').selectAll().where('owner', '=', owner).where('id', 'in', ids).execute();
}

export const budgetsPage = statement<Tables, { owner: number; before: number; limit: number }>()((db, p) =>
  db
    .selectFrom('budget')
    .selectAll()
    .where('owner', '=', p('owner'))
    .where('number', '<', p('before'))
    .orderBy('number', 'desc')
    .limit(p('limit')),
);

/** Selects fewer columns: each costs as much as a step to the next row. */
export const plansPage = statement<Tables, { owner: number; before: number; limit: number }>()((db, p) =>
  db
    .selectFrom('budget')
    .select(planColumns)
    .where('owner', '=', p('owner'))
    .where('number', '<', p('before'))
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
    .where('owner', '=', p('owner')),
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
  | 'created_at_ms'
  | 'updated_at_ms'
  | 'version'
>;

export const updateBudgetRow = statement<
  Tables,
  Omit<BudgetRow, 'id' | 'created_at_ms' | 'version' | 'spent_minor' | 'spent_high' | 'expenses'>
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

/** Sums the spending before a day: by day, or by month for longer periods. */
export const spendingBefore = statement<Tables, InBudget & { before: string; length: number }>()((db, p) =>
  db
    .selectFrom('budget_day')
    .select(sql<string>`substr(day, 1, ${p('length')})`.as('bucket'))
    .select(sumOf(stored))
    .where('owner', '=', p('owner'))
    .where('budget', '=', p('budget'))
    .where('day', '<', p('before'))
    .groupBy('bucket'),
);

export const sumByCategory = statement<Tables, InBudget & { from: string; to: string }>()((db, p) =>
  db
    .selectFrom('expense')
    .select((eb) => ['category', eb.fn.countAll<number>().as('expenses')])
    .select(sumOf({ low: 'amount_minor' }))
    .where('owner', '=', p('owner'))
    .where('budget', '=', p('budget'))
    .where('spent_on', '>=', p('from'))
    .where('spent_on', '<=', p('to'))
    .groupBy('category')
    .orderBy('category'),
);

type Edges = Readonly<Record<`${PeriodKind}_${'from' | 'to'}`, string>>;

/** Sums by the numbers of the budgets, which are next to each other on a page. */
const sumsInRange = statement<Tables, { owner: number; first: number; last: number } & Edges>()((db, p) => {
  const edge = (end: 'from' | 'to') => {
    const cases = periodKinds.map((kind) => sql`WHEN ${sql.lit(kind)} THEN ${p(`${kind}_${end}`)}`);
    return sql<string>`CASE b.period ${sql.join(cases, sql` `)} END`;
  };
  return db
    .selectFrom('budget_day as d')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'd.owner').onRef('b.number', '=', 'd.budget'),
    )
    .select('d.budget')
    .select(sumOf({ high: 'd.amount_high', low: 'd.amount_minor' }))
    .where('d.owner', '=', p('owner'))
    .where('d.budget', '>=', p('first'))
    .where('d.budget', '<=', p('last'))
    .where('d.day', '>=', edge('from'))
    .where('d.day', '<=', edge('to'))
    .groupBy('d.budget');
});

/**
 * Sums the spending of several budgets, and those between them, in their periods of a day. Those without a period have it in
 * their row.
 */
export async function sumsNow(
  session: Session<Tables>,
  owner: number,
  budgets: readonly number[],
  day: string,
): Promise<(SummedParts & { budget: number })[]> {
  if (budgets.length === 0) return [];
  const [first, last] = [Math.min(...budgets), Math.max(...budgets)];
  return sumsInRange.all(session, { owner, first, last, ...edgesAt(day) });
}

let recentEdges: { readonly day: string; readonly edges: Edges } | undefined;

function edgesAt(day: string): Edges {
  if (recentEdges?.day !== day) recentEdges = { day, edges: findEdges(day) };
  return recentEdges.edges;
}

function findEdges(day: string): Edges {
  const edges = periodKinds.flatMap((kind) => {
    const { from, to } = periodAt(kind, day);
    return [
      [`${kind}_from`, from ?? ''],
      [`${kind}_to`, to ?? ''],
    ];
  });
  return Object.fromEntries(edges);
}

/** Sums the spending of several budgets before their periods of a day, by day, or by month for longer periods. */
export async function sumsBefore(
  { kysely }: Session<Tables>,
  owner: number,
  budgets: readonly number[],
  day: string,
): Promise<(SummedParts & { budget: number; bucket: string })[]> {
  if (budgets.length === 0) return [];
  return kysely
    .selectFrom('budget_day as d')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'd.owner').onRef('b.number', '=', 'd.budget'),
    )
    .select([
      'd.budget',
      sql<string>`substr(d.day, 1, CASE WHEN b.period IN ('daily', 'weekly') THEN 10 ELSE 7 END)`.as(
        'bucket',
      ),
    ])
    .select(sumOf({ high: 'd.amount_high', low: 'd.amount_minor' }))
    .where('d.owner', '=', owner)
    .where('d.budget', 'in', budgets)
    .where('d.day', '<', byKind(day, 'from'))
    .groupBy(['d.budget', 'bucket'])
    .execute();
}

/** The first or last day of the period that a day is in, for each kind of budget. */
function byKind(day: string, end: 'from' | 'to'): Expression<string> {
  const cases = periodKinds.map((kind: PeriodKind) => {
    const edge = periodAt(kind, day)[end] ?? '';
    return sql`WHEN ${sql.lit(kind)} THEN ${edge}`;
  });
  return sql<string>`CASE b.period ${sql.join(cases, sql` `)} END`;
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
