import { type ScanPlace, scan } from '@octavo/data';
import { type SqlBool, sql } from 'kysely';
import { bulkInsert } from '../../store/store-bulk.ts';
import type { Store, Tables } from '../../store/tables.ts';
import { undoneTask, withBudget } from '../store.ts';

/** Many expenses at once. */
export const insertExpenses = bulkInsert<{ number: number; id: string }>(
  'expense',
  {
    id: 'text',
    owner: 'bigint',
    budget: 'bigint',
    description: 'text',
    amount_minor: 'bigint',
    amount: 'double precision',
    currency: 'text',
    category: 'text',
    tags: 'text',
    spent_on: 'text',
    notes: 'text',
    external_id: 'text',
    transaction_id: 'text',
    created_at_ms: 'bigint',
    updated_at_ms: 'bigint',
    version: 'bigint',
    file_task: 'text',
    file_account: 'text',
    file_day: 'text',
    file_amount_minor: 'bigint',
    file_text: 'text',
    original_amount_minor: 'bigint',
    original_currency: 'text',
    rate: 'text',
    rate_date: 'text',
    added_by: 'bigint',
  },
  sql`RETURNING number, id`,
);

export const insertTags = bulkInsert('expense_tag', { owner: 'bigint', tag: 'text', expense: 'bigint' });

/** Any expense `e`, or one of some budgets. */
function isIn(budgets: readonly number[] | undefined) {
  return budgets ? sql`e.budget IN (${sql.join(budgets)})` : sql`1 = 1`;
}

/** Selects the ids that expenses of some budgets, or of any, have as their own, or were typed with. */
export async function knownIds(
  { kysely, dialect }: Store,
  { owner, budgets, ids }: { owner: number; budgets: readonly number[] | undefined; ids: readonly string[] },
): Promise<string[]> {
  const list = JSON.stringify(ids);
  // SQLite keeps the order of a CROSS JOIN: it looks each pair up, and does not go through all expenses.
  const given =
    dialect === 'sqlite'
      ? sql`SELECT value AS id FROM json_each(${list})`
      : sql`SELECT jsonb_array_elements_text(${list}::jsonb) AS id`;
  const { rows } = await sql<{ id: string }>`SELECT given.id FROM (${given}) AS given
    WHERE EXISTS (SELECT 1 FROM expense e WHERE e.owner = ${owner} AND e.id = given.id AND ${isIn(budgets)})
    OR EXISTS (SELECT 1 FROM expense e WHERE e.owner = ${owner} AND ${isIn(budgets)} AND e.external_id = given.id AND e.file_day IS NULL)`.execute(
    kysely,
  );
  return rows.map(({ id }) => id);
}

/** An earlier expense: as its file had it, or as typed. */
export interface EarlierRow {
  readonly number: number;
  readonly externalId: string | null;
  readonly account: string | null;
  readonly text: string | null;
  readonly day: string;
  readonly minor: number;
  readonly isTyped: number;
}

/** A day and an amount, and the number of the newest expense that was looked at for them. */
export type EarlierPair = readonly [day: string, minor: number, since: number];

/**
 * Selects the rows of other imports that have one of the given days and amounts, and expenses that were typed in some budgets, or in any; each with a
 * number that is higher than the given one.
 */
export async function earlierRows(
  { kysely, dialect }: Store,
  {
    owner,
    budgets,
    only,
    task,
    pairs,
  }: {
    owner: number;
    budgets: readonly number[] | undefined;
    /** The budget of the rows of other imports; any if undefined. */
    only: number | undefined;
    task: string;
    pairs: readonly EarlierPair[];
  },
): Promise<EarlierRow[]> {
  const list = JSON.stringify(pairs);
  const given =
    dialect === 'sqlite'
      ? sql`SELECT value ->> 0 AS day, value ->> 1 AS minor, value ->> 2 AS since FROM json_each(${list})`
      : sql`SELECT value ->> 0 AS day, (value ->> 1)::bigint AS minor, (value ->> 2)::bigint AS since FROM jsonb_array_elements(${list}::jsonb)`;
  const { rows } =
    await sql<EarlierRow>`SELECT e.number, e.external_id AS "externalId", e.file_account AS account, e.file_text AS text, given.day, given.minor, 0 AS "isTyped"
    FROM (${given}) AS given CROSS JOIN expense e
    WHERE e.owner = ${owner} AND ${isIn(only === undefined ? undefined : [only])} AND e.file_day = given.day AND e.file_amount_minor = given.minor AND e.number > given.since
    AND (e.file_task IS NULL OR e.file_task <> ${task})
    UNION ALL SELECT e.number, e.external_id, NULL, e.description, given.day, given.minor, 1
    FROM (${given}) AS given CROSS JOIN expense e
    WHERE e.owner = ${owner} AND ${isIn(budgets)} AND e.spent_on = given.day AND e.amount_minor = given.minor
    AND e.file_day IS NULL AND e.number > given.since
    ORDER BY 1`.execute(kysely);
  return rows;
}

/** The number of an owner's newest expense; -1 if there is none. */
export async function newestNumber({ kysely }: Store, owner: number): Promise<number> {
  const newest = await kysely
    .selectFrom('expense')
    .select('number')
    .where('owner', '=', owner)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.number ?? -1;
}

type OneExpense = { owner: number; number: number; task: string; account: string | null };

/** Gives an imported expense the id and the account that a later file has. */
export function identifyExpense(
  { kysely }: Store,
  { owner, number, task, account, id }: OneExpense & { id: string },
) {
  return kysely
    .updateTable('expense')
    .set((eb) => ({
      external_id: id,
      file_id_task: task,
      file_account: eb.fn.coalesce('file_account', eb.val(account)),
      version: eb('version', '+', 1),
    }))
    .where('owner', '=', owner)
    .where('number', '=', number)
    .execute();
}

/** A typed expense that a row of a file may be. */
export interface TypedRow {
  readonly number: number;
  readonly id: string;
  readonly description: string;
  readonly day: string;
  readonly minor: number;
}

/** An amount in a currency between two days. */
export type TypedRange = readonly [first: string, last: string, minor: number, currency: string];

/** Selects the typed expenses that have one of the amounts, each between its days. */
export async function typedRows(
  { kysely, dialect }: Store,
  { owner, budget, ranges }: { owner: number; budget: number | undefined; ranges: readonly TypedRange[] },
): Promise<TypedRow[]> {
  const list = JSON.stringify(ranges);
  const given =
    dialect === 'sqlite'
      ? sql`SELECT value ->> 0 AS first, value ->> 1 AS last, value ->> 2 AS minor, value ->> 3 AS currency FROM json_each(${list})`
      : sql`SELECT value ->> 0 AS first, value ->> 1 AS last, (value ->> 2)::bigint AS minor, value ->> 3 AS currency FROM jsonb_array_elements(${list}::jsonb)`;
  const { rows } =
    await sql<TypedRow>`SELECT DISTINCT e.number, e.id, e.description, e.spent_on AS day, e.amount_minor AS minor
    FROM (${given}) AS given CROSS JOIN expense e
    WHERE e.owner = ${owner} AND ${isIn(budget === undefined ? undefined : [budget])} AND e.spent_on BETWEEN given.first AND given.last AND e.amount_minor = given.minor
    AND e.currency = given.currency AND e.file_day IS NULL ORDER BY e.number`.execute(kysely);
  return rows;
}

/** Keeps what a row of a file says with the typed expense that it is, which gets the row's id if it has none. */
export function matchExpense(
  { kysely }: Store,
  {
    owner,
    number,
    task,
    account,
    id,
    day,
    minor,
    text,
  }: OneExpense & { id: string | null; day: string; minor: number; text: string },
) {
  const idTask = id === null ? null : task;
  return kysely
    .updateTable('expense')
    .set((eb) => ({
      file_match: 1,
      file_task: task,
      file_account: account,
      file_day: day,
      file_amount_minor: minor,
      file_text: text,
      file_id_task: sql<string | null>`CASE WHEN external_id IS NULL THEN ${idTask} END`,
      external_id: eb.fn.coalesce('external_id', eb.val(id)),
      version: eb('version', '+', 1),
    }))
    .where('owner', '=', owner)
    .where('number', '=', number)
    .execute();
}

type OfTask = { owner: number; task: string };

/** True for an expense `e` that nothing has changed, or all of whose changes were undone. */
const isAsAdded = sql<SqlBool>`(e.version = 1 OR (e.restored_version = e.version AND e.restored_as = 1))`;

/** Selects some of the expenses that an import made and that are as it made them. */
export function unchangedRows({ kysely }: Store, { owner, task, limit }: OfTask & { limit: number }) {
  return withBudget(kysely, owner)
    .where('e.owner', '=', owner)
    .where('e.file_task', '=', task)
    .where(isAsAdded)
    .limit(limit)
    .execute();
}

/** Selects the expenses that an import made, with the later import that gave one an id. */
export function madeRows({ kysely }: Store, { owner, task, limit }: OfTask & { limit: number }) {
  return kysely
    .selectFrom('expense')
    .select(['id', 'file_id_task'])
    .where('owner', '=', owner)
    .where('file_task', '=', task)
    .orderBy('number')
    .limit(limit)
    .execute();
}

/** Counts the expenses of an import, or those that an undone one has left. */
export async function countImported(place: ScanPlace<Tables>, { owner, task }: OfTask) {
  const query = place.session.kysely
    .selectFrom('expense as e')
    .select((eb) => eb.fn.countAll<number>().as('all'))
    .select(sql<number>`coalesce(sum(CASE WHEN ${isAsAdded} THEN 1 ELSE 0 END), 0)`.as('unchanged'))
    .where('e.owner', '=', owner)
    .where('e.file_task', '=', task)
    .where(sql<SqlBool>`e.file_match IS NULL`);
  const [counted] = await scan(query, place);
  return { all: Number(counted?.all ?? 0), unchanged: Number(counted?.unchanged ?? 0) };
}

/** Makes typed expenses typed ones again, whatever row of an import was found to be them. */
export function unmatchExpenses({ kysely }: Store, { owner, task }: OfTask) {
  return kysely
    .updateTable('expense')
    .set((eb) => ({
      external_id: sql<string | null>`CASE WHEN file_id_task = ${task} THEN NULL ELSE external_id END`,
      file_id_task: null,
      file_match: null,
      file_task: null,
      file_account: null,
      file_day: null,
      file_amount_minor: null,
      file_text: null,
      version: eb('version', '+', 1),
    }))
    .where('owner', '=', owner)
    .where('file_task', '=', task)
    .where('file_match', '=', 1)
    .execute();
}

/** Takes the ids away that an import gave to expenses of earlier ones. */
export function unidentifyExpenses({ kysely }: Store, { owner, task }: OfTask) {
  return kysely
    .updateTable('expense')
    .set((eb) => ({ external_id: null, file_id_task: null, version: eb('version', '+', 1) }))
    .where('owner', '=', owner)
    .where('file_id_task', '=', task)
    .execute();
}

/** Makes the expenses that an undone import leaves such of no import, which still count as imported and can be listed. */
export function releaseExpenses({ kysely }: Store, { owner, task }: OfTask) {
  return kysely
    .updateTable('expense')
    .set({ file_task: undoneTask(task) })
    .where('owner', '=', owner)
    .where('file_task', '=', task)
    .execute();
}
