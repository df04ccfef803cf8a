import type { WriteSession } from '@octavo/data';
import { indexExpenses } from '../../store/expense-search-index.ts';
import type { Tables } from '../../store/tables.ts';
import {
  endMemberships,
  expensesOfBudget,
  type Inheritance,
  inheritances,
  moveBudget,
} from './store-inheritance.ts';

const indexedAtOnce = 500;

/**
 * Passes the shared budgets of an account that is erased to their editors of longest standing, with expenses and ledger, in the caller's
 * transaction; those without an editor stay. All other memberships end, its own too. It takes the locks of all accounts that are written.
 */
export async function passOnBudgets(session: WriteSession<Tables>, owner: number): Promise<void> {
  for (const each of await lockHeirs(session, owner)) await passOn(session, each);
  await endMemberships(session, owner);
}

/** Locks the account and its heirs in the order of their numbers, and returns what they inherit. */
async function lockHeirs(session: WriteSession<Tables>, owner: number): Promise<Inheritance[]> {
  const before = await inheritances(session, owner);
  const locked = new Set([owner, ...before.map(({ heir }) => heir)]);
  for (const account of [...locked].sort((one, other) => one - other))
    await session.lock(`account ${account}`);
  // A member who became an editor just now, and is not locked, does not inherit.
  return (await inheritances(session, owner)).filter(({ heir }) => locked.has(heir));
}

async function passOn(session: WriteSession<Tables>, inheritance: Inheritance): Promise<void> {
  const { heir } = inheritance;
  const number = await moveBudget(session, inheritance);
  for (let after = -1; ; ) {
    const rows = await expensesOfBudget(session, {
      owner: heir,
      budget: number,
      after,
      limit: indexedAtOnce,
    });
    await indexExpenses(session, heir, rows);
    if (rows.length < indexedAtOnce) break;
    after = rows.at(-1)?.number ?? after;
  }
}
