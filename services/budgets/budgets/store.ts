import { type Expression, sql } from 'kysely';
import { type Session, statement } from '#kit/db/index.ts';
import { type PeriodKind, periodAt, periodKinds } from '../periods.ts';
import { bulkInsert } from '../store-bulk.ts';
import type { BudgetRow, Tables } from '../tables.ts';
import { planColumns } from './budget.ts';

export const insertBudget = statement<
  Tables,
  Omit<BudgetRow, 'number' | 'updated_at_ms' | 'version' | 'spent_minor' | 'expenses'>
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

/** The same with fewer columns: each costs as much as a step to the next row. */
export const plansPage = statement<Tables, { owner: number; before: number; limit: number }>()((db, p) =>
  db
    .selectFrom('budget')
    .select(planColumns)
    .where('owner', '=', p('owner'))
    .where('number', '<', p('before'))
    .orderBy('number', 'desc')
    .limit(p('limit')),
);

export const countBudgets = statement<Tables, { owner: number }>()((db, p) =>
  db
    .selectFrom('budget')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', p('owner')),
);

export const updateBudgetRow = statement<
  Tables,
  Omit<BudgetRow, 'id' | 'created_at_ms' | 'version' | 'spent_minor' | 'expenses'>
>()((db, p) =>
  db
    .updateTable('budget')
    .set((eb) => ({
      name: p('name'),
      limit_minor: p('limit_minor'),
      currency: p('currency'),
      period: p('period'),
      start_date: p('start_date'),
      rollover: p('rollover'),
      thresholds: p('thresholds'),
      updated_at_ms: p('updated_at_ms'),
      version: eb('version', '+', 1),
    }))
    .where('owner', '=', p('owner'))
    .where('number', '=', p('number'))
    .returningAll(),
);

export const deleteBudgetRow = statement<Tables, { owner: number; number: number }>()((db, p) =>
  db.deleteFrom('budget').where('owner', '=', p('owner')).where('number', '=', p('number')),
);

type Added = { owner: number; budget: number; minor: number; expenses: number };

/** Adds to the totals of a budget, as long as the sum is an exact number. */
export const addToBudget = statement<Tables, Added & { max: number }>()((db, p) =>
  db
    .updateTable('budget')
    .set((eb) => ({
      spent_minor: eb('spent_minor', '+', p('minor')),
      expenses: eb('expenses', '+', p('expenses')),
    }))
    .where('owner', '=', p('owner'))
    .where('number', '=', p('budget'))
    .where((eb) => eb(eb('spent_minor', '+', p('minor')), '<=', p('max'))),
);

export const addToDay = statement<Tables, Added & { day: string }>()((db, p) =>
  db
    .insertInto('budget_day')
    .values({
      owner: p('owner'),
      budget: p('budget'),
      day: p('day'),
      amount_minor: p('minor'),
      expenses: p('expenses'),
    })
    .onConflict((conflict) =>
      conflict.columns(['owner', 'budget', 'day']).doUpdateSet((eb) => ({
        amount_minor: eb('budget_day.amount_minor', '+', p('minor')),
        expenses: eb('budget_day.expenses', '+', p('expenses')),
      })),
    ),
);

/** Adds to many days at once: owner, budget, day, amount, number of expenses. */
export const addToDays = bulkInsert(
  'budget_day',
  { owner: 'bigint', budget: 'bigint', day: 'text', amount_minor: 'bigint', expenses: 'bigint' },
  sql`ON CONFLICT (owner, budget, day) DO UPDATE SET
    amount_minor = budget_day.amount_minor + excluded.amount_minor, expenses = budget_day.expenses + excluded.expenses`,
);

type InBudget = { owner: number; budget: number };

export const sumBetween = statement<Tables, InBudget & { from: string; to: string }>()((db, p) =>
  db
    .selectFrom('budget_day')
    .select((eb) => [
      eb.fn.coalesce(eb.fn.sum<number>('amount_minor'), sql<number>`0`).as('minor'),
      eb.fn.coalesce(eb.fn.sum<number>('expenses'), sql<number>`0`).as('expenses'),
    ])
    .where('owner', '=', p('owner'))
    .where('budget', '=', p('budget'))
    .where('day', '>=', p('from'))
    .where('day', '<=', p('to')),
);

/** What was spent before a day: by day, or by month where periods are longer. */
export const spendingBefore = statement<Tables, InBudget & { before: string; length: number }>()((db, p) =>
  db
    .selectFrom('budget_day')
    .select((eb) => [
      sql<string>`substr(day, 1, ${p('length')})`.as('bucket'),
      eb.fn.sum<number>('amount_minor').as('minor'),
    ])
    .where('owner', '=', p('owner'))
    .where('budget', '=', p('budget'))
    .where('day', '<', p('before'))
    .groupBy('bucket'),
);

export const sumByCategory = statement<Tables, InBudget & { from: string; to: string }>()((db, p) =>
  db
    .selectFrom('expense')
    .select((eb) => ['category', eb.fn.sum<number>('amount_minor').as('minor')])
    .where('owner', '=', p('owner'))
    .where('budget', '=', p('budget'))
    .where('spent_on', '>=', p('from'))
    .where('spent_on', '<=', p('to'))
    .groupBy('category')
    .orderBy('minor', 'desc')
    .orderBy('category'),
);

type Edges = Readonly<Record<`${PeriodKind}_${'from' | 'to'}`, string>>;

/** By the numbers of the budgets, which are next to each other on a page. */
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
    .select((eb) => ['d.budget', eb.fn.sum<number>('d.amount_minor').as('minor')])
    .where('d.owner', '=', p('owner'))
    .where('d.budget', '>=', p('first'))
    .where('d.budget', '<=', p('last'))
    .whereRef('d.day', '>=', edge('from') as never)
    .whereRef('d.day', '<=', edge('to') as never)
    .groupBy('d.budget');
});

/**
 * What several budgets, and those between them, have spent in their periods of a day. Those without a period have it in their row.
 */
export async function sumsNow(
  session: Session<Tables>,
  owner: number,
  budgets: readonly number[],
  day: string,
): Promise<{ budget: number; minor: number }[]> {
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

/** What several budgets have spent before their periods of a day, by day, or by month where periods are longer. */
export async function sumsBefore(
  { kysely }: Session<Tables>,
  owner: number,
  budgets: readonly number[],
  day: string,
): Promise<{ budget: number; bucket: string; minor: number }[]> {
  if (budgets.length === 0) return [];
  return kysely
    .selectFrom('budget_day as d')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'd.owner').onRef('b.number', '=', 'd.budget'),
    )
    .select((eb) => [
      'd.budget',
      sql<string>`substr(d.day, 1, CASE WHEN b.period IN ('daily', 'weekly') THEN 10 ELSE 7 END)`.as(
        'bucket',
      ),
      eb.fn.sum<number>('d.amount_minor').as('minor'),
    ])
    .where('d.owner', '=', owner)
    .where('d.budget', 'in', budgets)
    .whereRef('d.day', '<', byKind(day, 'from') as never)
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
