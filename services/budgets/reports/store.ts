import type { Session } from '@octavo/data';
import { sql } from 'kysely';
import { sumOf } from '../store/sums.ts';
import type { Tables } from '../store/tables.ts';
import type { ReportFilter } from './report.ts';

const first = '0000-01-01';
const last = '9999-12-31';

export async function sumsByCategory(
  { kysely }: Session<Tables>,
  owner: number,
  { from, to, budget }: ReportFilter,
) {
  return kysely
    .selectFrom('expense')
    .select((eb) => ['category', 'currency', eb.fn.countAll<number>().as('expenses')])
    .select(sumOf({ low: 'amount_minor' }))
    .where('owner', '=', owner)
    .where('spent_on', '>=', from ?? first)
    .where('spent_on', '<=', to ?? last)
    .$if(budget !== undefined, (query) => query.where('budget', '=', budget as number))
    .groupBy(['currency', 'category'])
    .orderBy('currency')
    .orderBy('category')
    .execute();
}

/** Sums from the totals of the days. */
export async function sumsByMonth(
  { kysely }: Session<Tables>,
  owner: number,
  { from, to, budget }: ReportFilter,
) {
  return kysely
    .selectFrom('budget_day as d')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'd.owner').onRef('b.number', '=', 'd.budget'),
    )
    .select((eb) => [
      sql<string>`substr(d.day, 1, 7)`.as('month'),
      'b.currency',
      eb.fn.sum<number>('d.expenses').as('expenses'),
    ])
    .select(sumOf({ high: 'd.amount_high', low: 'd.amount_minor' }))
    .where('d.owner', '=', owner)
    .where('d.day', '>=', from ?? first)
    .where('d.day', '<=', to ?? last)
    .where('d.expenses', '>', 0)
    .$if(budget !== undefined, (query) => query.where('d.budget', '=', budget as number))
    .groupBy(['month', 'b.currency'])
    .orderBy('b.currency')
    .orderBy('month')
    .execute();
}

/** The largest expenses of each currency. */
export async function largest(
  { kysely }: Session<Tables>,
  owner: number,
  { from, to, budget, limit }: ReportFilter & { readonly limit: number },
) {
  return kysely
    .selectFrom((eb) =>
      eb
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
          'e.number',
          'e.spent_on as spentOn',
        ])
        .select(
          sql<number>`row_number() OVER (PARTITION BY e.currency ORDER BY e.amount_minor DESC, e.number DESC)`.as(
            'place',
          ),
        )
        .where('e.owner', '=', owner)
        .where('e.spent_on', '>=', from ?? first)
        .where('e.spent_on', '<=', to ?? last)
        .$if(budget !== undefined, (query) => query.where('e.budget', '=', budget as number))
        .as('ranked'),
    )
    .select(['id', 'budgetId', 'description', 'category', 'currency', 'minor', 'spentOn'])
    .where('place', '<=', limit)
    .orderBy('currency')
    .orderBy('place')
    .execute();
}
