import { sql } from 'kysely';
import { type Session, type Statement, statement } from '#kit/db/index.ts';
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

export const countTransactions = statement<Tables, { owner: number }>()((db, p) =>
  db
    .selectFrom('ledger_transaction')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', p('owner')),
);

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

/** Their entries: owner, transaction, position, account, side, amount. */
export const insertEntries = bulkInsert('ledger_entry', {
  owner: 'bigint',
  transaction_id: 'text',
  position: 'smallint',
  account: 'text',
  side: 'text',
  amount_minor: 'bigint',
});

/**
 * The rows of an owner with some ids, given as JSON. Each id is looked up in the primary key: without statistics, as after a large
 * import, PostgreSQL would go through all rows of the owner.
 */
function rowsWithIds<Row>(table: keyof Tables & string, column: string): Statement<OfIds, Row> {
  return statement<Tables, OfIds>()((_db, p, dialect) => {
    const [from, id] = [sql.table(table), sql.ref(column)];
    return dialect === 'sqlite'
      ? sql<Row>`SELECT r.* FROM json_each(${p('ids')}) AS given CROSS JOIN ${from} AS r
          WHERE r.owner = ${p('owner')} AND r.${id} = given.value`
      : sql<Row>`SELECT r.* FROM jsonb_array_elements_text(${p('ids')}::jsonb) AS given (id) CROSS JOIN LATERAL
          (SELECT * FROM ${from} WHERE owner = ${p('owner')} AND ${id} = given.id OFFSET 0) AS r`;
  });
}

type OfIds = { owner: number; ids: string };

export const transactionsWithIds = rowsWithIds<LedgerTransactionRow>('ledger_transaction', 'id');
export const entriesWithIds = rowsWithIds<LedgerEntryRow>('ledger_entry', 'transaction_id');

/**
 * Many reversals at once, except of transactions that were reversed before: owner, id, type, description, amount, currency, budget, expense,
 * order, what it reverses, time. Returns the ids of those that were added.
 */
export const insertReversals = bulkInsert<{ id: string }>(
  'ledger_transaction',
  {
    owner: 'bigint',
    id: 'text',
    type: 'text',
    description: 'text',
    amount_minor: 'bigint',
    currency: 'text',
    budget_id: 'text',
    expense_id: 'text',
    order_id: 'text',
    reverses: 'text',
    created_at_ms: 'bigint',
  },
  sql`ON CONFLICT DO NOTHING RETURNING id`,
);
