import { statement } from '#kit/db/index.ts';
import { withBudget } from '../expenses/index.ts';
import type { Tables } from '../tables.ts';

type Range = { owner: number; from: string; to: string };

/** All expenses of a range, by day. */
export const expensesByDay = statement<Tables, Range>()((db, p) =>
  withBudget(db)
    .select('b.name as budget_name')
    .where('e.owner', '=', p('owner'))
    .where('e.spent_on', '>=', p('from'))
    .where('e.spent_on', '<=', p('to'))
    .orderBy('e.spent_on')
    .orderBy('e.number'),
);

/** The same by budget. */
export const expensesByBudget = statement<Tables, Range>()((db, p) =>
  withBudget(db)
    .select('b.name as budget_name')
    .where('e.owner', '=', p('owner'))
    .where('e.spent_on', '>=', p('from'))
    .where('e.spent_on', '<=', p('to'))
    .orderBy('e.budget')
    .orderBy('e.spent_on')
    .orderBy('e.number'),
);
