import {
  type Database,
  type Dialect,
  type Mark,
  placeFor,
  type Session,
  scan,
  statement,
} from '@octavo/data';
import { type RawBuilder, sql } from 'kysely';
import { bulkInsert } from '../store/store-bulk.ts';
import type { LedgerEntryRow, LedgerTransactionRow, Tables } from '../store/tables.ts';

/** Adds a transaction, unless it reverses one that was already reversed. */
export const insertTransaction = statement<Tables, LedgerTransactionRow>()((db, p) =>
  db
    .insertInto('ledger_transaction')
    .values({
      owner: p('owner'),
      id: p('id'),
      type: p('type'),
      description: p('description'),
      amount_minor: p('amount_minor'),
      currency: p('currency'),
      budget_id: p('budget_id'),
      expense_id: p('expense_id'),
      order_id: p('order_id'),
      reverses: p('reverses'),
      created_at_ms: p('created_at_ms'),
    })
    .onConflict((conflict) => conflict.doNothing()),
);

export const insertEntry = statement<Tables, LedgerEntryRow>()((db, p) =>
  db.insertInto('ledger_entry').values({
    owner: p('owner'),
    transaction_id: p('transaction_id'),
    position: p('position'),
    account: p('account'),
    side: p('side'),
    amount_minor: p('amount_minor'),
  }),
);

export const transactionById = statement<Tables, { owner: number; id: string }>()((db, p) =>
  db.selectFrom('ledger_transaction').selectAll().where('owner', '=', p('owner')).where('id', '=', p('id')),
);

export const transactionsPage = statement<
  Tables,
  { owner: number; beforeMs: number; beforeId: string; limit: number }
>()((db, p) =>
  db
    .selectFrom('ledger_transaction')
    .selectAll()
    .where('owner', '=', p('owner'))
    .where(
      sql<boolean>`(${sql.ref('created_at_ms')}, ${sql.ref('id')}) < (${p('beforeMs')}, ${p('beforeId')})`,
    )
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(p('limit')),
);

export async function countTransactions(
  database: Database<Tables>,
  session: Session<Tables>,
  owner: number,
): Promise<number> {
  const all = session.kysely.selectFrom('ledger_transaction').where('owner', '=', owner);
  const place = await placeFor(database, session, all.select('id'));
  const [counted] = await scan(
    all.select((eb) => eb.fn.countAll<number>().as('total')),
    place,
  );
  return counted?.total ?? 0;
}

/** The entries of some transactions, in order. */
export async function entriesOfAll(
  { kysely }: Session<Tables>,
  owner: number,
  ids: readonly string[],
): Promise<LedgerEntryRow[]> {
  if (ids.length === 0) return [];
  return kysely
    .selectFrom('ledger_entry')
    .selectAll()
    .where('owner', '=', owner)
    .where('transaction_id', 'in', ids)
    .orderBy('position')
    .execute();
}

/** The sum of the entries of each account and currency, debits minus credits. */
export const balances = statement<Tables, { owner: number }>()((db, p) =>
  db
    .selectFrom('ledger_entry as e')
    .innerJoin('ledger_transaction as t', (join) =>
      join.onRef('t.owner', '=', 'e.owner').onRef('t.id', '=', 'e.transaction_id'),
    )
    .select((eb) => [
      'e.account',
      't.currency',
      eb.fn
        .sum<number>(
          eb
            .case()
            .when('e.side', '=', 'debit')
            .then(eb.ref('e.amount_minor'))
            .else(eb.neg(eb.ref('e.amount_minor')))
            .end(),
        )
        .as('minor'),
    ])
    .where('e.owner', '=', p('owner'))
    .groupBy(['e.account', 't.currency']),
);

/** Many transactions at once: owner, id, type, description, amount, currency, budget, expense, time. */
export const insertTransactions = bulkInsert('ledger_transaction', {
  owner: 'bigint',
  id: 'text',
  type: 'text',
  description: 'text',
  amount_minor: 'bigint',
  currency: 'text',
  budget_id: 'text',
  expense_id: 'text',
  created_at_ms: 'bigint',
});

/** Inserts entries: owner, transaction, position, account, side, amount. */
export const insertEntries = bulkInsert('ledger_entry', {
  owner: 'bigint',
  transaction_id: 'text',
  position: 'smallint',
  account: 'text',
  side: 'text',
  amount_minor: 'bigint',
});

/** Transactions to reverse as JSON: arrays of the id of each and of that of its reversal. */
type Pairs = { owner: number; pairs: string };

/** Adds the reversals of transactions, except of those that were reversed before. Returns the pairs of those that were added. */
export const insertReversals = statement<Tables, Pairs & { nowMs: number }>()((_db, p, dialect) => {
  const originals = rowsOfPairs(dialect, { table: 'ledger_transaction', id: 'id' }, p);
  return sql<{ reverses: string; id: string }>`INSERT INTO ledger_transaction
      (owner, id, type, description, amount_minor, currency, budget_id, expense_id, order_id, reverses, created_at_ms)
    SELECT r.owner, pair.reversal, 'reversal', 'Reversal: ' || r.description, r.amount_minor, r.currency, r.budget_id, r.expense_id,
      r.order_id, r.id, cast(${p('nowMs')} AS bigint)
    FROM ${originals} WHERE true ON CONFLICT DO NOTHING RETURNING reverses, id`;
});

/** Adds the entries of reversals: those of their transactions with sides swapped. */
export const insertReversedEntries = statement<Tables, Pairs>()((_db, p, dialect) => {
  const originals = rowsOfPairs(dialect, { table: 'ledger_entry', id: 'transaction_id' }, p);
  return sql`INSERT INTO ledger_entry (owner, transaction_id, position, account, side, amount_minor)
    SELECT r.owner, pair.reversal, r.position, r.account, CASE r.side WHEN 'debit' THEN 'credit' ELSE 'debit' END, r.amount_minor
    FROM ${originals}`;
});

/**
 * The rows `r` of the original of each pair, beside the pair. Each is looked up in the primary key: without statistics, as after a large import,
 * PostgreSQL would go through all rows of the owner.
 */
function rowsOfPairs(
  dialect: Dialect,
  { table, id }: { readonly table: keyof Tables & string; readonly id: string },
  p: Mark<Pairs>,
): RawBuilder<unknown> {
  const [from, key] = [sql.table(table), sql.ref(id)];
  return dialect === 'sqlite'
    ? sql`(SELECT value ->> 0 AS original, value ->> 1 AS reversal FROM jsonb_each(${p('pairs')})) AS pair
        CROSS JOIN ${from} AS r ON r.owner = ${p('owner')} AND r.${key} = pair.original`
    : sql`(SELECT value ->> 0 AS original, value ->> 1 AS reversal FROM jsonb_array_elements(${p('pairs')}::jsonb) AS each (value)) AS pair
        CROSS JOIN LATERAL (SELECT * FROM ${from} WHERE owner = ${p('owner')} AND ${key} = pair.original OFFSET 0) AS r`;
}
