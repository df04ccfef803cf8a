import { type ScanPlace, type Session, scan } from '@octavo/data';
import { type SqlBool, sql } from 'kysely';
import { sumOf } from '../store/sums.ts';
import type { Tables } from '../store/tables.ts';
import type { ReportFilter } from './report.ts';

/** Transfers between own accounts are no spending. */
const isCounted = sql<SqlBool>`b.unassigned <> 2`;
export const firstDay = '0000-01-01';
export const lastDay = '9999-12-31';

/** The expenses of a filter that are spending. */
function spending({ session }: ScanPlace<Tables>, owner: number, { from, to, budgets }: ReportFilter) {
  return session.kysely
    .selectFrom('expense as e')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'e.owner').onRef('b.number', '=', 'e.budget'),
    )
    .where('e.owner', '=', owner)
    .where('e.spent_on', '>=', from ?? firstDay)
    .where('e.spent_on', '<=', to ?? lastDay)
    .where(isCounted)
    .$if(budgets !== undefined, (query) => query.where('e.budget', 'in', budgets as number[]));
}

export function sumsByCategory(place: ScanPlace<Tables>, owner: number, filter: ReportFilter) {
  const query = spending(place, owner, filter)
    .select((eb) => ['e.category', 'e.currency', eb.fn.countAll<number>().as('expenses')])
    .select(sumOf({ low: 'e.amount_minor' }))
    .groupBy(['e.currency', 'e.category'])
    .orderBy('e.currency')
    .orderBy('e.category');
  return scan(query, place);
}

/** Sums by description. */
export function sumsByDescription(place: ScanPlace<Tables>, owner: number, filter: ReportFilter) {
  const query = spending(place, owner, filter)
    .select((eb) => ['e.description', 'e.currency', eb.fn.countAll<number>().as('expenses')])
    .select(sumOf({ low: 'e.amount_minor' }))
    .groupBy(['e.currency', 'e.description'])
    .orderBy('e.currency')
    .orderBy('e.description');
  return scan(query, place);
}

/** Sums by tag. */
export function sumsByTag(place: ScanPlace<Tables>, owner: number, filter: ReportFilter) {
  const query = spending(place, owner, filter)
    .innerJoin('expense_tag as t', (join) =>
      join.onRef('t.owner', '=', 'e.owner').onRef('t.expense', '=', 'e.number'),
    )
    .select((eb) => ['t.tag', 'e.currency', eb.fn.countAll<number>().as('expenses')])
    .select(sumOf({ low: 'e.amount_minor' }))
    .groupBy(['e.currency', 't.tag'])
    .orderBy('e.currency')
    .orderBy('t.tag');
  return scan(query, place);
}

/** Sums from the totals of the days. */
export async function sumsByMonth(
  { kysely }: Session<Tables>,
  owner: number,
  { from, to, budgets }: ReportFilter,
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
    .where('d.day', '>=', from ?? firstDay)
    .where('d.day', '<=', to ?? lastDay)
    .where('d.expenses', '>', 0)
    .where(isCounted)
    .$if(budgets !== undefined, (query) => query.where('d.budget', 'in', budgets as number[]))
    .groupBy(['month', 'b.currency'])
    .orderBy('b.currency')
    .orderBy('month')
    .execute();
}

/** The largest expenses of each currency, without refunds. */
export function largest(
  place: ScanPlace<Tables>,
  owner: number,
  { limit, ...filter }: ReportFilter & { readonly limit: number },
) {
  const ranked = spending(place, owner, filter)
    .select([
      'e.id',
      sql<string | null>`CASE b.unassigned WHEN 0 THEN b.id END`.as('budgetId'),
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
    .where('e.amount_minor', '>', 0);
  const query = place.session.kysely
    .selectFrom(ranked.as('ranked'))
    .select(['id', 'budgetId', 'description', 'category', 'currency', 'minor', 'spentOn'])
    .where('place', '<=', limit)
    .orderBy('currency')
    .orderBy('place');
  return scan(query, place);
}
