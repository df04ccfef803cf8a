import { type Expression, sql } from 'kysely';
import type { WriteSession } from '#kit/db/index.ts';
import type { Tables } from './tables.ts';

/** How many expenses an account has, beside its row. */
export const expensesOfAccount: Expression<number> = sql<number>`(
  SELECT coalesce(sum(b.expenses), 0) FROM budget b WHERE b.owner = account.number)`;

/** Disables accounts and ends their sessions, or lets them sign in again. */
export async function setDisabled(
  { kysely }: Pick<WriteSession<Tables>, 'kysely'>,
  accounts: readonly number[],
  disabled: 0 | 1,
): Promise<void> {
  await kysely.updateTable('account').set({ disabled }).where('number', 'in', accounts).execute();
  if (disabled === 1) await kysely.deleteFrom('session').where('owner', 'in', accounts).execute();
}
