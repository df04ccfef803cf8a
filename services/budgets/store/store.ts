import type { WriteSession } from '@octavo/data';
import { type Expression, sql } from 'kysely';
import type { Store, Tables } from './tables.ts';

export function findIdempotencyKey(
  { kysely }: Store,
  { owner, key, sinceMs }: { owner: number; key: string; sinceMs: number },
) {
  return kysely
    .selectFrom('idempotency_key')
    .select(['digest', 'result'])
    .where('owner', '=', owner)
    .where('key', '=', key)
    .where('created_at_ms', '>', sinceMs)
    .executeTakeFirst();
}

/** Replaces one that has expired. */
export function putIdempotencyKey(
  { kysely }: Store,
  { nowMs, ...row }: { owner: number; key: string; digest: string; result: string; nowMs: number },
) {
  const { digest, result } = row;
  return kysely
    .insertInto('idempotency_key')
    .values({ ...row, created_at_ms: nowMs })
    .onConflict((conflict) =>
      conflict.columns(['owner', 'key']).doUpdateSet({ digest, result, created_at_ms: nowMs }),
    )
    .execute();
}

/** Deletes at most 1,000 of the keys that have expired. */
export function sweepIdempotencyKeys({ kysely }: Store, beforeMs: number) {
  return kysely
    .deleteFrom('idempotency_key')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('owner', 'key'),
        'in',
        selectFrom('idempotency_key')
          .select(['owner', 'key'])
          .where('created_at_ms', '<', beforeMs)
          .limit(1_000)
          .$asTuple('owner', 'key'),
      ),
    )
    .execute();
}

/** Number of an account's expenses, beside its row. */
export const expensesOfAccount: Expression<number> = sql<number>`(
  SELECT coalesce(sum(b.expenses), 0) FROM budget b WHERE b.owner = account.number)`;

/** Both parts of the spending of a budget, with a space between them. */
export const spentOfBudget: Expression<string> = sql<string>`spent_high || ' ' || spent_minor`;

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
