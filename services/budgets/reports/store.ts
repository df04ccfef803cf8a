import { sql } from 'kysely';
import type { Session } from '#kit/db/index.ts';
import type { Tables } from '../tables.ts';
import type { ReportRange } from './report.ts';

const first = '0000-01-01';
const last = '9999-12-31';

export async function sumsByCategory({ kysely }: Session<Tables>, owner: number, { from, to }: ReportRange) {
  return kysely
    .selectFrom('expense')
    .select((eb) => [
      'category',
      'currency',
      eb.fn.sum<number>('amount_minor').as('minor'),
      eb.fn.countAll<number>().as('expenses'),
    ])
    .where('owner', '=', owner)
    .where('spent_on', '>=', from ?? first)
    .where('spent_on', '<=', to ?? last)
    .groupBy(['currency', 'category'])
    .orderBy('currency')
    .orderBy('minor', 'desc')
    .orderBy('category')
    .execute();
}

/** From the totals of the days. */
export async function sumsByMonth({ kysely }: Session<Tables>, owner: number, { from, to }: ReportRange) {
  return kysely
    .selectFrom('budget_day as d')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'd.owner').onRef('b.number', '=', 'd.budget'),
    )
    .select((eb) => [
      sql<string>`substr(d.day, 1, 7)`.as('month'),
      'b.currency',
      eb.fn.sum<number>('d.amount_minor').as('minor'),
      eb.fn.sum<number>('d.expenses').as('expenses'),
    ])
    .where('d.owner', '=', owner)
    .where('d.day', '>=', from ?? first)
    .where('d.day', '<=', to ?? last)
    .where('d.expenses', '>', 0)
    .groupBy(['month', 'b.currency'])
    .orderBy('b.currency')
    .orderBy('month')
    .execute();
}

export async function largest(
  { kysely }: Session<Tables>,
  owner: number,
  { from, to, limit }: ReportRange & { readonly limit: number },
) {
  return kysely
    .selectFrom('expense as e')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'e.owner').onRef('b.number', '=', 'e.budget'),
    )
    .select([
      'e.id',
      'b.id as budgetId',
      'e.description',
      'e.category',
      'e.currency',
      'e.amount_minor as minor',
    ])
    .select('e.spent_on as spentOn')
    .where('e.owner', '=', owner)
    .where('e.spent_on', '>=', from ?? first)
    .where('e.spent_on', '<=', to ?? last)
    .orderBy('e.amount', 'desc')
    .orderBy('e.number', 'desc')
    .limit(limit)
    .execute();
}
