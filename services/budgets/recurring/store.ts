import { type Kysely, sql } from 'kysely';
import type { RecurringRow, Store, Tables } from '../store/tables.ts';
import type { Occurrence } from './recurrence.ts';

type Columns = Omit<RecurringRow, 'created_at_ms' | 'version'>;

export function insertRecurring({ kysely }: Store, given: Columns) {
  return kysely
    .insertInto('recurring')
    .values({
      owner: given.owner,
      id: given.id,
      budget: given.budget,
      description: given.description,
      amount_minor: given.amount_minor,
      currency: given.currency,
      category: given.category,
      freq: given.freq,
      every: given.every,
      by_day: given.by_day,
      by_month_day: given.by_month_day,
      on_weekend: given.on_weekend,
      start_on: given.start_on,
      end_on: given.end_on,
      count: given.count,
      timezone: given.timezone,
      since_on: given.since_on,
      made: given.made,
      next_on: given.next_on,
      next_at_ms: given.next_at_ms,
      created_at_ms: given.updated_at_ms,
      updated_at_ms: given.updated_at_ms,
      version: 1,
    })
    .execute();
}

export function updateRecurringRow({ kysely }: Store, given: Columns) {
  return kysely
    .updateTable('recurring')
    .set((eb) => ({
      budget: given.budget,
      description: given.description,
      amount_minor: given.amount_minor,
      currency: given.currency,
      category: given.category,
      freq: given.freq,
      every: given.every,
      by_day: given.by_day,
      by_month_day: given.by_month_day,
      on_weekend: given.on_weekend,
      start_on: given.start_on,
      end_on: given.end_on,
      count: given.count,
      timezone: given.timezone,
      since_on: given.since_on,
      made: given.made,
      next_on: given.next_on,
      next_at_ms: given.next_at_ms,
      updated_at_ms: given.updated_at_ms,
      version: eb('version', '+', 1),
    }))
    .where('owner', '=', given.owner)
    .where('id', '=', given.id)
    .execute();
}

/** Sets the next occurrence. Its owner changed nothing, so the version stays. */
export function setNext(
  { kysely }: Store,
  given: Pick<RecurringRow, 'owner' | 'id' | 'next_on' | 'next_at_ms'>,
) {
  return kysely
    .updateTable('recurring')
    .set({ next_on: given.next_on, next_at_ms: given.next_at_ms })
    .where('owner', '=', given.owner)
    .where('id', '=', given.id)
    .execute();
}

/** Looks at it again later. */
export function postpone(
  { kysely }: Store,
  { owner, id, next_at_ms }: { owner: number; id: string; next_at_ms: number },
) {
  return kysely
    .updateTable('recurring')
    .set({ next_at_ms })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .execute();
}

export function recurringById({ kysely }: Store, owner: number, id: string) {
  return withBudgetId(kysely).where('r.owner', '=', owner).where('r.id', '=', id).executeTakeFirst();
}

export function recurringPage(
  { kysely }: Store,
  given: { owner: number; beforeMs: number; beforeId: string; limit: number },
) {
  return withBudgetId(kysely)
    .where('r.owner', '=', given.owner)
    .where(
      sql<boolean>`(${sql.ref('r.created_at_ms')}, ${sql.ref('r.id')}) < (${given.beforeMs}, ${given.beforeId})`,
    )
    .orderBy('r.created_at_ms', 'desc')
    .orderBy('r.id', 'desc')
    .limit(given.limit)
    .execute();
}

export function deleteRecurringRow({ kysely }: Store, owner: number, id: string) {
  return kysely.deleteFrom('recurring').where('owner', '=', owner).where('id', '=', id).execute();
}

/** Recurring expenses with a due occurrence, the longest due first. */
export function dueRecurring({ kysely }: Store, nowMs: number, limit: number) {
  return kysely
    .selectFrom('recurring')
    .innerJoin('account', 'account.number', 'recurring.owner')
    .select(['recurring.owner', 'recurring.id', 'account.id as userId'])
    .where(sql<boolean>`recurring.next_at_ms IS NOT NULL`)
    .where('recurring.next_at_ms', '<=', nowMs)
    .orderBy('recurring.next_at_ms')
    .limit(limit)
    .execute();
}

/** Claims an occurrence; of several who add it, or that fall on the same day, one does. */
export function claimOccurrence(
  { kysely }: Store,
  { owner, id, nominal, day }: { owner: number; id: string } & Occurrence,
) {
  return kysely
    .insertInto('recurring_occurrence')
    .values({ owner, recurring_id: id, day: nominal, moved_to: day })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
}

/** The occurrences that were added, from a nominal day on. */
export function occurrencesFrom(
  { kysely }: Store,
  { owner, id, from }: { owner: number; id: string; from: string },
) {
  return kysely
    .selectFrom('recurring_occurrence')
    .select((eb) => ['day as nominal', eb.fn.coalesce('moved_to', 'day').as('day')])
    .where('owner', '=', owner)
    .where('recurring_id', '=', id)
    .where('day', '>=', from)
    .execute();
}

function withBudgetId(db: Kysely<Tables>) {
  return db
    .selectFrom('recurring as r')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'r.owner').onRef('b.number', '=', 'r.budget'),
    )
    .selectAll('r')
    .select('b.id as budget_id');
}
