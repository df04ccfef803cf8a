import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../../store/tables.ts';

/** A shared budget, and the editor who gets it. */
export interface Inheritance {
  readonly owner: number;
  readonly budget: number;
  readonly budgetId: string;
  readonly heir: number;
}

/** The shared budgets of an account that have an editor, each with the one of longest standing. */
export async function inheritances({ kysely }: Store, owner: number): Promise<Inheritance[]> {
  const rows = await kysely
    .selectFrom('budget_member as m')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'm.owner').onRef('b.number', '=', 'm.budget'),
    )
    .innerJoin('account as a', 'a.number', 'm.account')
    .select(['m.owner', 'm.budget', 'b.id as budgetId', 'm.account as heir'])
    .where('m.owner', '=', owner)
    .where('m.role', '=', 'editor')
    .where('a.disabled', '=', 0)
    .where('a.erased_at_ms', 'is', null)
    .orderBy('m.budget')
    .orderBy('m.created_at_ms')
    .orderBy('m.id')
    .execute();
  return rows.filter((row, index) => rows[index - 1]?.budget !== row.budget);
}

/** The columns of a table besides owner and budget, which a copy in another account has too. */
const copied = {
  budget_day: ['day', 'amount_minor', 'amount_high', 'expenses'],
  budget_threshold: ['period', 'threshold'],
  budget_past_terms: ['until_day', 'limit_minor', 'period', 'period_day', 'rollover'],
} as const;

/**
 * Moves a budget with its expenses, members and ledger into the account of its heir, and returns its new number. It keeps its id, as its
 * expenses and transactions do. The owner, who is erased, is still the one who added expenses.
 */
export async function moveBudget(
  { kysely, dialect }: Store,
  { owner, budget, budgetId, heir }: Inheritance,
): Promise<number> {
  const run = (query: RawBuilder<unknown>) => query.execute(kysely);
  const mine = sql`owner = ${owner} AND budget = ${budget}`;
  const columns = sql.raw(
    'id, name, limit_minor, currency, period, period_day, start_date, rollover, thresholds, spent_minor, spent_high, expenses, unassigned, shared, created_at_ms, updated_at_ms, version',
  );
  const added = await sql<{ number: number }>`INSERT INTO budget (owner, ${columns})
    SELECT ${heir}, ${columns} FROM budget WHERE owner = ${owner} AND number = ${budget} RETURNING number`.execute(
    kysely,
  );
  const number = Number(added.rows[0]?.number);
  for (const [table, names] of Object.entries(copied)) {
    const others = sql.join(names.map((name) => sql.ref(name)));
    await run(sql`INSERT INTO ${sql.table(table)} (owner, budget, ${others})
      SELECT ${heir}, ${number}, ${others} FROM ${sql.table(table)} WHERE ${mine}`);
  }
  await copyLedger(run, { owner, budget, budgetId, heir });
  await run(sql`INSERT INTO offline_expense (owner, external_id)
    SELECT ${heir}, external_id FROM expense WHERE ${mine} AND external_id LIKE 'offline:%' ON CONFLICT DO NOTHING`);
  await run(
    sql`DELETE FROM expense_tag WHERE owner = ${owner} AND expense IN (SELECT number FROM expense WHERE ${mine})`,
  );
  await run(
    sql`UPDATE expense SET added_by = coalesce(added_by, owner), owner = ${heir}, budget = ${number} WHERE ${mine}`,
  );
  const tags =
    dialect === 'sqlite'
      ? sql`expense e, json_each(e.tags) AS tag WHERE`
      : sql`expense e, jsonb_array_elements_text(e.tags::jsonb) AS tag (value) WHERE`;
  await run(sql`INSERT INTO expense_tag (owner, tag, expense)
    SELECT DISTINCT e.owner, tag.value, e.number FROM ${tags} e.owner = ${heir} AND e.budget = ${number} AND e.tags <> '[]'`);
  await run(sql`INSERT INTO budget_member (account, owner, budget, id, email, role, created_at_ms)
    SELECT account, ${heir}, ${number}, id, email, role, created_at_ms FROM budget_member WHERE ${mine} AND account <> ${heir}`);
  await run(sql`DELETE FROM budget WHERE owner = ${owner} AND number = ${budget}`);
  return number;
}

/** Copies the transactions of a budget's expenses. Those of the owner are deleted with the account. */
async function copyLedger(
  run: (query: RawBuilder<unknown>) => Promise<unknown>,
  { owner, budget, budgetId, heir }: Inheritance,
): Promise<void> {
  const which = sql`t.owner = ${owner} AND ((t.budget_id = ${budgetId} AND t.expense_id IS NOT NULL)
    OR t.id IN (SELECT transaction_id FROM expense WHERE owner = ${owner} AND budget = ${budget}))`;
  const columns = sql.raw(
    't.id, t.type, t.description, t.amount_minor, t.currency, t.budget_id, t.expense_id, t.reverses, t.created_at_ms',
  );
  await run(sql`INSERT INTO ledger_transaction
      (owner, id, type, description, amount_minor, currency, budget_id, expense_id, reverses, created_at_ms)
    SELECT ${heir}, ${columns} FROM ledger_transaction t WHERE ${which}`);
  await run(sql`INSERT INTO ledger_entry (owner, transaction_id, position, account, side, amount_minor)
    SELECT ${heir}, n.transaction_id, n.position, n.account, n.side, n.amount_minor
    FROM ledger_transaction t JOIN ledger_entry n ON n.owner = t.owner AND n.transaction_id = t.id WHERE ${which}`);
}

/** Expenses of a budget in the order of their numbers, some at a time, to index them. */
export function expensesOfBudget(
  { kysely }: Store,
  { owner, budget, after, limit }: { owner: number; budget: number; after: number; limit: number },
) {
  return kysely
    .selectFrom('expense')
    .select(['number', 'description', 'category', 'tags', 'notes'])
    .where('owner', '=', owner)
    .where('budget', '=', budget)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .execute();
}

/** Ends the memberships of an account, and those of others in its budgets. */
export function endMemberships({ kysely }: Store, account: number): Promise<unknown> {
  return kysely
    .deleteFrom('budget_member')
    .where((eb) => eb.or([eb('account', '=', account), eb('owner', '=', account)]))
    .execute();
}
