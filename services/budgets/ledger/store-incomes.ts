import { isoDay } from '@octavo/core';
import { type Database, placeFor, scan } from '@octavo/data';
import { sql } from 'kysely';
import type { AccountTransaction } from '../commands.ts';
import { bulkInsert } from '../store/store-bulk.ts';
import { sumOf } from '../store/sums.ts';
import type { Store, Tables } from '../store/tables.ts';
import type { Transaction } from './transaction.ts';

/** Notes the income of a credit that was posted today. */
export async function noteIncome(
  { session: { kysely }, owner, nowMs }: AccountTransaction,
  { id, currency, amountMinor }: Transaction,
): Promise<void> {
  const money = { day: isoDay(nowMs), currency, amount_minor: amountMinor, counted: 1 };
  const file = { external_id: null, file_task: null, file_account: null, file_day: null };
  const row = { owner, transaction_id: id, ...money, ...file, file_amount_minor: null, file_text: null };
  await kysely.insertInto('income').values(row).execute();
}

/** Many incomes of a file. */
export const insertIncomes = bulkInsert('income', {
  owner: 'bigint',
  transaction_id: 'text',
  day: 'text',
  currency: 'text',
  amount_minor: 'bigint',
  counted: 'smallint',
  external_id: 'text',
  file_task: 'text',
  file_account: 'text',
  file_day: 'text',
  file_amount_minor: 'bigint',
  file_text: 'text',
});

/** The income of a transaction that is reversed is known, so that no file adds it again, and not counted. */
export async function uncountIncome({ kysely }: Store, owner: number, id: string): Promise<void> {
  await kysely
    .updateTable('income')
    .set({ counted: 0 })
    .where('owner', '=', owner)
    .where('transaction_id', '=', id)
    .execute();
}

/** Gives the income of a corrected transaction what a file said of it, and its day. */
export async function moveIncome(
  { kysely }: Store,
  { owner, from, to }: { owner: number; from: string; to: string },
): Promise<void> {
  const before = await kysely
    .deleteFrom('income')
    .where('owner', '=', owner)
    .where('transaction_id', '=', from)
    .returning([
      'day',
      'external_id',
      'file_task',
      'file_account',
      'file_day',
      'file_amount_minor',
      'file_text',
    ])
    .executeTakeFirst();
  if (!before) return;
  await kysely
    .updateTable('income')
    .set(before)
    .where('owner', '=', owner)
    .where('transaction_id', '=', to)
    .execute();
}

/** An income of another import, as its file had it. */
export interface EarlierIncome {
  readonly id: string;
  readonly externalId: string | null;
  readonly account: string | null;
  readonly text: string | null;
  readonly day: string;
  readonly minor: number;
}

/** Selects the incomes of other imports that have one of the given days and amounts. */
export async function earlierIncomes(
  { kysely, dialect }: Store,
  { owner, task, pairs }: { owner: number; task: string; pairs: readonly (readonly [string, number])[] },
): Promise<EarlierIncome[]> {
  const list = JSON.stringify(pairs);
  const given =
    dialect === 'sqlite'
      ? sql`SELECT value ->> 0 AS day, value ->> 1 AS minor FROM json_each(${list})`
      : sql`SELECT value ->> 0 AS day, (value ->> 1)::bigint AS minor FROM jsonb_array_elements(${list}::jsonb)`;
  const { rows } =
    await sql<EarlierIncome>`SELECT i.transaction_id AS id, i.external_id AS "externalId", i.file_account AS account, i.file_text AS text, given.day, given.minor
    FROM (${given}) AS given CROSS JOIN income i
    WHERE i.owner = ${owner} AND i.file_day = given.day AND i.file_amount_minor = given.minor
    AND (i.file_task IS NULL OR i.file_task <> ${task}) ORDER BY 1`.execute(kysely);
  return rows;
}

type OfTask = { owner: number; task: string };

/** Selects some of the incomes that an import made and that nothing has changed since. */
export function unchangedIncomes({ kysely }: Store, { owner, task, limit }: OfTask & { limit: number }) {
  return kysely
    .selectFrom('income')
    .select('transaction_id')
    .where('owner', '=', owner)
    .where('file_task', '=', task)
    .where('counted', '=', 1)
    .whereRef('amount_minor', '=', 'file_amount_minor')
    .limit(limit)
    .execute();
}

/** Counts the incomes that the undo of an import would take back. */
export async function countIncomes({ kysely }: Store, { owner, task }: OfTask): Promise<number> {
  const counted = await kysely
    .selectFrom('income')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', owner)
    .where('file_task', '=', task)
    .where('counted', '=', 1)
    .whereRef('amount_minor', '=', 'file_amount_minor')
    .executeTakeFirstOrThrow();
  return counted.total;
}

export async function forgetIncomes({ kysely }: Store, owner: number, ids: readonly string[]): Promise<void> {
  await kysely.deleteFrom('income').where('owner', '=', owner).where('transaction_id', 'in', ids).execute();
}

/** Makes the incomes of an import such of no import, and returns their transactions. */
export async function releaseIncomes({ kysely }: Store, { owner, task }: OfTask): Promise<string[]> {
  const rows = await kysely
    .updateTable('income')
    .set({ file_task: null })
    .where('owner', '=', owner)
    .where('file_task', '=', task)
    .returning('transaction_id')
    .execute();
  return rows.map(({ transaction_id }) => transaction_id);
}

/** Sums of the incomes of each month and currency. */
export async function incomesByMonth(
  db: Database<Tables>,
  owner: number,
  { from, to }: { readonly from: string; readonly to: string },
) {
  const incomes = db.kysely.selectFrom('income').where('owner', '=', owner);
  const query = incomes
    .select((eb) => [
      sql<string>`substr(day, 1, 7)`.as('month'),
      'currency',
      eb.fn.countAll<number>().as('incomes'),
    ])
    .select(sumOf({ low: 'amount_minor' }))
    .where('day', '>=', from)
    .where('day', '<=', to)
    .where('counted', '=', 1)
    .groupBy(['month', 'currency'])
    .orderBy('currency')
    .orderBy('month');
  return scan(query, await placeFor(db, db, incomes.select('transaction_id')));
}
