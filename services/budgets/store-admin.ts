import { type Expression, sql } from 'kysely';
import type { WriteSession } from '#kit/db/index.ts';
import type { Tables } from './tables.ts';

/** How many expenses an account has, beside its row. */
export const expensesOfAccount: Expression<number> = sql<number>`(
  SELECT coalesce(sum(b.expenses), 0) FROM budget b WHERE b.owner = account.number)`;

type Kysely = Pick<WriteSession<Tables>, 'kysely'>;

/** Disables accounts. Their sessions are refused as those of disabled accounts, until {@link enable} ends them. */
export async function disable({ kysely }: Kysely, accounts: readonly number[]): Promise<void> {
  await kysely.updateTable('account').set({ disabled: 1 }).where('number', 'in', accounts).execute();
}

/** Lets those of the accounts that are disabled sign in again. */
export async function enable(session: Kysely, accounts: readonly number[]): Promise<void> {
  const rows = await session.kysely
    .updateTable('account')
    .set({ disabled: 0 })
    .where('number', 'in', accounts)
    .where('disabled', '=', 1)
    .returning('number')
    .execute();
  const enabled = rows.map(({ number }) => number);
  if (enabled.length > 0) await endSessions(session, enabled);
}

export async function endSessions({ kysely }: Kysely, accounts: readonly number[]): Promise<void> {
  await kysely.deleteFrom('session').where('owner', 'in', accounts).execute();
}
