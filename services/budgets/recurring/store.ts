import { type Kysely, sql } from 'kysely';
import { statement } from '#kit/db/index.ts';
import type { RecurringRow, Tables } from '../tables.ts';

type Columns = Omit<RecurringRow, 'created_at_ms' | 'version'>;

export const insertRecurring = statement<Tables, Columns>()((db, p) =>
  db.insertInto('recurring').values({
    owner: p('owner'),
    id: p('id'),
    budget: p('budget'),
    description: p('description'),
    amount_minor: p('amount_minor'),
    currency: p('currency'),
    category: p('category'),
    freq: p('freq'),
    every: p('every'),
    by_day: p('by_day'),
    by_month_day: p('by_month_day'),
    start_on: p('start_on'),
    end_on: p('end_on'),
    count: p('count'),
    timezone: p('timezone'),
    next_on: p('next_on'),
    next_at_ms: p('next_at_ms'),
    created_at_ms: p('updated_at_ms'),
    updated_at_ms: p('updated_at_ms'),
    version: 1,
  }),
);

export const updateRecurringRow = statement<Tables, Columns>()((db, p) =>
  db
    .updateTable('recurring')
    .set((eb) => ({
      budget: p('budget'),
      description: p('description'),
      amount_minor: p('amount_minor'),
      currency: p('currency'),
      category: p('category'),
      freq: p('freq'),
      every: p('every'),
      by_day: p('by_day'),
      by_month_day: p('by_month_day'),
      start_on: p('start_on'),
      end_on: p('end_on'),
      count: p('count'),
      timezone: p('timezone'),
      next_on: p('next_on'),
      next_at_ms: p('next_at_ms'),
      updated_at_ms: p('updated_at_ms'),
      version: eb('version', '+', 1),
    }))
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id')),
);

/** What comes next. It is no change that its owner made, so the version stays. */
export const setNext = statement<Tables, Pick<RecurringRow, 'owner' | 'id' | 'next_on' | 'next_at_ms'>>()(
  (db, p) =>
    db
      .updateTable('recurring')
      .set({ next_on: p('next_on'), next_at_ms: p('next_at_ms') })
      .where('owner', '=', p('owner'))
      .where('id', '=', p('id')),
);

/** Looks at it again later. */
export const postpone = statement<Tables, { owner: number; id: string; next_at_ms: number }>()((db, p) =>
  db
    .updateTable('recurring')
    .set({ next_at_ms: p('next_at_ms') })
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id')),
);

export const recurringById = statement<Tables, { owner: number; id: string }>()((db, p) =>
  withBudgetId(db).where('r.owner', '=', p('owner')).where('r.id', '=', p('id')),
);

export const recurringPage = statement<
  Tables,
  { owner: number; beforeMs: number; beforeId: string; limit: number }
>()((db, p) =>
  withBudgetId(db)
    .where('r.owner', '=', p('owner'))
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('r.created_at_ms', 'r.id'), '<', tuple(p('beforeMs'), p('beforeId')) as never),
    )
    .orderBy('r.created_at_ms', 'desc')
    .orderBy('r.id', 'desc')
    .limit(p('limit')),
);

export const countRecurring = statement<Tables, { owner: number }>()((db, p) =>
  db
    .selectFrom('recurring')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', p('owner')),
);

export const deleteRecurringRow = statement<Tables, { owner: number; id: string }>()((db, p) =>
  db.deleteFrom('recurring').where('owner', '=', p('owner')).where('id', '=', p('id')),
);

/** Those with an occurrence that is due, the longest first. */
export const dueRecurring = statement<Tables, { nowMs: number; limit: number }>()((db, p) =>
  db
    .selectFrom('recurring')
    .innerJoin('account', 'account.number', 'recurring.owner')
    .select(['recurring.owner', 'recurring.id', 'account.id as userId'])
    .where(sql<boolean>`recurring.next_at_ms IS NOT NULL`)
    .where('recurring.next_at_ms', '<=', p('nowMs'))
    .orderBy('recurring.next_at_ms')
    .limit(p('limit')),
);

/** Of several who add the same occurrence, one does. */
export const claimOccurrence = statement<Tables, { owner: number; id: string; day: string }>()((db, p) =>
  db
    .insertInto('recurring_occurrence')
    .values({ owner: p('owner'), recurring_id: p('id'), day: p('day') })
    .onConflict((conflict) => conflict.doNothing()),
);

function withBudgetId(db: Kysely<Tables>) {
  return db
    .selectFrom('recurring as r')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'r.owner').onRef('b.number', '=', 'r.budget'),
    )
    .selectAll('r')
    .select('b.id as budget_id');
}
