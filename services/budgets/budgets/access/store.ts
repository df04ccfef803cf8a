import type { Expression, Kysely } from 'kysely';
import { sql } from 'kysely';
import { shownName } from '../../store/shown-name.ts';
import type { BudgetRow, MemberRow, Store, Tables } from '../../store/tables.ts';

/** Columns of a budget that is shared with the account that reads it. */
export interface MemberColumns {
  readonly member_role: MemberRow['role'];
  readonly owner_id: string;
  readonly owner_username: string | null;
}

/** A budget as one account has it: its own, or one that is shared with it. */
export type AccessedBudget = BudgetRow & Partial<MemberColumns>;

/** The budgets that are shared with an account, as `b`, with its role `m` and their owner `a`. */
export function sharedBudgets(db: Kysely<Tables>, account: Expression<number>) {
  return db
    .selectFrom('budget_member as m')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'm.owner').onRef('b.number', '=', 'm.budget'),
    )
    .innerJoin('account as a', 'a.number', 'm.owner')
    .where('m.account', '=', account)
    .where('a.erased_at_ms', 'is', null)
    .selectAll('b')
    .select(['m.role as member_role', 'a.id as owner_id', shownName('a').as('owner_username')]);
}

/** A budget that is shared with an account. */
export function sharedBudgetById({ kysely }: Store, { account, id }: { account: number; id: string }) {
  return sharedBudgets(kysely, sql<number>`${account}`).where('b.id', '=', id).executeTakeFirst();
}

export async function countSharedBudgets({ kysely }: Store, account: number): Promise<number> {
  const { total } = await kysely
    .selectFrom('budget_member')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('account', '=', account)
    .executeTakeFirstOrThrow();
  return total;
}

/** The newest budget before an id that is shared with an account. */
export function sharedBudgetBeforeId({ kysely }: Store, { account, id }: { account: number; id: string }) {
  return sharedBudgets(kysely, sql<number>`${account}`)
    .where('b.id', '<', id)
    .orderBy('b.number', 'desc')
    .limit(1)
    .executeTakeFirst();
}
