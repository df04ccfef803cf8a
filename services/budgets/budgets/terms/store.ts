import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Session } from '@octavo/data';
import { sql } from 'kysely';
import { type SummedParts, sumOf } from '../../store/sums.ts';
import type { BudgetRow, PastTermsRow, Tables } from '../../store/tables.ts';

const termsColumns = ['until_day', 'limit_minor', 'period', 'period_day', 'rollover'] as const;

type OfBudget = { owner: number; budget: number };

/** The terms of budgets that are over, oldest first. Numbers of budgets are unique in all accounts. */
export async function pastTermsOf(
  { kysely }: Session<Tables>,
  owners: readonly number[],
  budgets: readonly number[],
): Promise<(PastTermsRow & { budget: number })[]> {
  if (budgets.length === 0) return [];
  return kysely
    .selectFrom('budget_past_terms')
    .select(['budget', ...termsColumns])
    .where('owner', 'in', owners)
    .where('budget', 'in', budgets)
    .orderBy('until_day')
    .execute();
}

/** Forgets the terms that held until a day or longer. */
export async function deletePastTerms(
  { kysely }: Session<Tables>,
  { owner, budget, until_day }: OfBudget & { until_day: string },
): Promise<void> {
  await kysely
    .deleteFrom('budget_past_terms')
    .where('owner', '=', owner)
    .where('budget', '=', budget)
    .where('until_day', '>=', until_day)
    .execute();
}

export async function insertPastTerms(
  { kysely }: Session<Tables>,
  row: OfBudget & PastTermsRow,
): Promise<void> {
  await kysely.insertInto('budget_past_terms').values(row).execute();
}

/** Days of a budget. */
export interface DaysOfBudget {
  readonly owner: number;
  readonly budget: number;
  readonly from: string;
  readonly to: string;
}

/** Sums the spending of several budgets, each in days of its own. */
export async function sumsOfDays(
  { kysely, dialect }: Session<Tables>,
  days: readonly DaysOfBudget[],
): Promise<(SummedParts & { budget: number })[]> {
  if (days.length === 0) return [];
  const given = JSON.stringify(days);
  const ranges =
    dialect === 'sqlite'
      ? sql`(SELECT value ->> 'owner' AS owner, value ->> 'budget' AS budget, value ->> 'from' AS first, value ->> 'to' AS last FROM json_each(${given}))`
      : sql`(SELECT owner, budget, "from" AS first, "to" AS last FROM jsonb_to_recordset(${given}::jsonb) AS each (owner bigint, budget bigint, "from" text, "to" text))`;
  // SQLite reads the tables of a cross join in this order.
  const { rows } = await sql<
    SummedParts & { budget: number }
  >`SELECT r.budget, ${sql.join(sumOf({ high: 'd.amount_high', low: 'd.amount_minor' }))}
    FROM ${ranges} AS r CROSS JOIN ${sql.table('budget_day')} AS d
    WHERE d.owner = r.owner AND d.budget = r.budget AND d.day >= r.first AND d.day <= r.last GROUP BY r.budget`.execute(
    kysely,
  );
  return rows;
}

export function ownersOf(rows: readonly BudgetRow[]): number[] {
  return [...new Set(rows.map(({ owner }) => owner))];
}

/** Days that one statement adds up: SQLite does it on the event loop. */
const daysAtOnce = { sqlite: 500, postgres: 10_000 };

export type BucketSum = SummedParts & { readonly budget: number; readonly bucket: string };

/**
 * The spending of several budgets before a day, by day, or by month (`length` of the day's text is 10 or 7), in order of time for each
 * budget. Those of a month may come in two parts. Others get their turn between the slices, so that a budget of a thousand years does not hold them up.
 */
export async function* sumsBefore(
  session: Session<Tables>,
  { budgets, before, length }: { budgets: readonly BudgetRow[]; before: string; length: number },
): AsyncGenerator<readonly BucketSum[]> {
  const { dialect } = session;
  const most = daysAtOnce[dialect];
  const expenses = budgets.reduce((all, budget) => all + budget.expenses, 0);
  if (dialect === 'postgres' && expenses < most) {
    yield await bucketSums(session, budgets, { after: '', before, length });
    return;
  }
  for (const budget of budgets)
    for (let after: string | undefined = ''; after !== undefined; ) {
      const slice = await bucketSums(session, [budget], { after, before, length, most });
      yield slice;
      const days = slice.reduce((all, sum) => all + sum.days, 0);
      after = days < most ? undefined : slice.at(-1)?.last;
      if (after !== undefined) await nextTurn();
    }
}

function bucketSums(
  { kysely }: Session<Tables>,
  budgets: readonly BudgetRow[],
  { after, before, length, most }: { after: string; before: string; length: number; most?: number },
) {
  const numbers = budgets.map(({ number }) => number);
  let days = kysely
    .selectFrom('budget_day')
    .select(['budget', 'day', 'amount_high', 'amount_minor'])
    .where('owner', 'in', ownersOf(budgets))
    .where('budget', 'in', numbers)
    .where('day', '>', after)
    .where('day', '<', before);
  if (most !== undefined) days = days.orderBy('day').limit(most);
  return kysely
    .selectFrom(days.as('days'))
    .select(['budget', sql<string>`substr(day, 1, ${sql.lit(length)})`.as('bucket')])
    .select((eb) => [eb.fn.countAll<number>().as('days'), eb.fn.max('day').as('last')])
    .select(sumOf({ high: 'amount_high', low: 'amount_minor' }))
    .groupBy(['budget', 'bucket'])
    .orderBy('budget')
    .orderBy('bucket')
    .execute();
}
