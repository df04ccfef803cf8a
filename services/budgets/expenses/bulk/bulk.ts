import { AppError, newId, type Static, Type } from '@octavo/core';
import { type Session, scan } from '@octavo/data';
import { budgetNumbers, checkThresholds } from '../../budgets/index.ts';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../../commands.ts';
import { createParser, invalid } from '../../edges/schema-parser.ts';
import { Day, Id, nullable, Reference, text } from '../../edges/schemas.ts';
import type { Tables } from '../../store/tables.ts';
import type { ExpensePatch, ExpenseWithBudget } from '../expense.ts';
import { changeExpense, removeExpense, type Touched } from '../expenses.ts';
import { checkRange } from '../list.ts';
import { countAllExpenses, selectExpenses, spellingsOf } from '../store.ts';
import { expensesWithIds, keepChange, sweepChanges } from './store.ts';

/** Expenses of one bulk change: they are changed in one transaction. */
export const bulkMax = 1_000;
export const undoMs = 24 * 3_600_000;
const tagsMax = 20;

const word = Type.String({ minLength: 1, maxLength: 256, format: 'text' });

export const BulkRequest = Type.Object(
  {
    ids: Type.Optional(Type.Array(Type.String({ format: 'text' }), { minItems: 1, maxItems: bulkMax })),
    filter: Type.Optional(
      Type.Object(
        {
          budgetId: Type.Optional(
            Type.String({ ...Reference, description: 'Id of a budget, or none for unassigned expenses' }),
          ),
          from: Type.Optional(Day),
          to: Type.Optional(Day),
          minAmount: Type.Optional(Type.Number()),
          maxAmount: Type.Optional(Type.Number()),
          category: Type.Optional(word),
          tag: Type.Optional(word),
          q: Type.Optional(Type.String({ ...word, description: 'Search words' })),
        },
        { additionalProperties: false, description: 'In place of ids, as the filters of the list' },
      ),
    ),
    change: Type.Optional(
      Type.Object(
        {
          budgetId: Type.Optional(nullable(Reference)),
          category: Type.Optional(nullable(text(100))),
          addTags: Type.Optional(Type.Array(text(50), { maxItems: tagsMax })),
          removeTags: Type.Optional(Type.Array(text(50), { maxItems: tagsMax })),
        },
        { additionalProperties: false, minProperties: 1 },
      ),
    ),
    delete: Type.Optional(Type.Boolean({ description: 'Deletes them; in place of change' })),
  },
  { title: 'BulkRequest' },
);
export type BulkRequest = Static<typeof BulkRequest>;
type BulkChange = NonNullable<BulkRequest['change']>;

const Kept = Type.Object({ id: Id, reason: Type.String() });
export const BulkResult = Type.Object(
  {
    changed: Type.Integer({ description: 'Number of expenses that were changed or deleted' }),
    kept: Type.Array(Kept, { description: 'Expenses that could not be changed' }),
    undo: nullable(Type.String({ description: 'Token that takes the change back within 24 hours' })),
  },
  { title: 'BulkResult' },
);
export type BulkResult = Static<typeof BulkResult>;

export const parseBulkRequest = createParser(BulkRequest);

/** An expense before a bulk change, and its version afterwards; null if it was deleted. */
export interface ChangedRow {
  readonly before: ExpenseWithBudget;
  readonly version: number | null;
}

/** Changes or deletes many expenses at once. One that cannot be changed stays, and is listed with the reason. */
export async function changeMany(
  context: Context,
  caller: Caller,
  request: BulkRequest,
): Promise<BulkResult> {
  const { ids, filter, change } = request;
  if ((ids === undefined) === (filter === undefined))
    throw invalid({ ids: 'or filter is required, not both' });
  if ((change === undefined) !== (request.delete === true))
    throw invalid({ change: 'or delete is required, not both' });
  checkRange(filter?.from, filter?.to);
  const found = filter && (await versionsOf(context, caller, filter));
  return runCommand(
    context,
    caller,
    async (transaction) => {
      const { session, owner } = transaction;
      await budgetNumbers(session, owner, change?.budgetId ?? undefined);
      const rows = found
        ? await unchangedRows(session, owner, found)
        : await rowsOf(session, owner, ids ?? []);
      return changeRows(
        transaction,
        rows.map((before) => ({ before, patch: change ? patchOf(before, change) : 'delete' })),
      );
    },
    { alone: true },
  );
}

/** An expense and its change; undefined if it stays as it is. */
export interface RowChange {
  readonly before: ExpenseWithBudget;
  readonly patch: ExpensePatch | 'delete' | undefined;
}

/** Changes expenses in the caller's transaction, and keeps them as they were before, for an undo, unless `isKept` is false. */
export async function changeRows(
  transaction: AccountTransaction,
  changes: readonly RowChange[],
  { isKept = true } = {},
): Promise<BulkResult> {
  const { session, owner, nowMs } = transaction;
  const changed: ChangedRow[] = [];
  const touched: Touched[] = [];
  const kept: BulkResult['kept'] = [];
  for (const change of changes) {
    const done = await changeOne(transaction, change);
    if ('reason' in done) kept.push({ id: change.before.id, reason: done.reason });
    if ('touched' in done) touched.push(...done.touched);
    if ('version' in done) changed.push({ before: change.before, version: done.version });
  }
  await checkAll(transaction, touched);
  if (changed.length === 0 || !isKept) return { changed: changed.length, kept, undo: null };
  const token = newId();
  const rows_before = JSON.stringify(changed);
  await sweepChanges(session, owner, nowMs - undoMs);
  await keepChange(session, { owner, token, rows_before, created_at_ms: nowMs });
  return { changed: changed.length, kept, undo: token };
}

/** Checks the thresholds of each budget once, whatever number of its expenses has changed. */
export async function checkAll(transaction: AccountTransaction, touched: readonly Touched[]): Promise<void> {
  for (const same of Map.groupBy(touched, ({ budget }) => budget.number).values()) {
    const days = [...new Set(same.flatMap(({ days }) => days))];
    if (same[0]) await checkThresholds(transaction, same[0].budget, days);
  }
}

type Done =
  | { readonly touched: readonly Touched[]; readonly version: number | null }
  | { readonly reason: string }
  | Record<never, never>;

async function changeOne(transaction: AccountTransaction, { before, patch }: RowChange): Promise<Done> {
  if (patch === undefined) return {};
  if (patch === 'delete') return { touched: [await removeExpense(transaction, before)], version: null };
  if ((patch.tags?.length ?? 0) > tagsMax) return { reason: `it would have more than ${tagsMax} tags` };
  try {
    const { expense, touched } = await changeExpense(transaction, before, patch);
    return { touched, version: expense.version };
  } catch (error) {
    const isRefused = error instanceof AppError && ['validation_failed', 'conflict'].includes(error.code);
    if (!isRefused) throw error;
    const [[field, problem] = ['', error.message]] = Object.entries(error.fields);
    return { reason: `${field} ${problem}`.trim() };
  }
}

/** The fields that a change gives an expense; undefined if it has them already. */
function patchOf(before: ExpenseWithBudget, change: BulkChange): ExpensePatch | undefined {
  const { budgetId, category, addTags = [], removeTags = [] } = change;
  const tags = JSON.parse(before.tags) as string[];
  const left = [...new Set([...tags.filter((tag) => !removeTags.includes(tag)), ...addTags])];
  const patch = {
    ...(budgetId !== undefined && budgetId !== before.budget_id && { budgetId }),
    ...(category !== undefined && category !== before.category && { category }),
    ...(JSON.stringify(left) !== before.tags && { tags: left }),
  };
  return Object.keys(patch).length === 0 ? undefined : patch;
}

async function rowsOf(
  session: Session<Tables>,
  owner: number,
  ids: readonly string[],
): Promise<ExpenseWithBudget[]> {
  const rows = await expensesWithIds(session, owner, [...new Set(ids)]);
  const missing = ids.find((id) => rows.every((row) => row.id !== id));
  if (missing !== undefined) throw new AppError('not_found', `There is no expense ${missing}.`);
  return rows;
}

/** The expenses that match, by id with their version. They are looked for before the transaction, in which a long search would keep others from writing. */
async function versionsOf(
  { db }: Context,
  { owner }: Caller,
  { budgetId, category, ...others }: NonNullable<BulkRequest['filter']>,
): Promise<Map<string, number>> {
  const touched = (await countAllExpenses.first(db, { owner }))?.total ?? 0;
  const place = { database: db, session: db, touched };
  const budgets = await budgetNumbers(db, owner, budgetId);
  const categories = category === undefined ? undefined : await spellingsOf(place, owner, category);
  const page = { sort: 'createdAt', isDescending: true, after: undefined, limit: bulkMax + 1 } as const;
  const rows = await scan(selectExpenses(db, owner, { ...others, budgets, categories }, page), place);
  if (rows.length > bulkMax)
    throw invalid({ filter: `fits more than ${bulkMax} expenses; change them in several steps` });
  return new Map(rows.map(({ id, version }) => [id, version]));
}

/** Those that nobody has changed since they were found. */
async function unchangedRows(
  session: Session<Tables>,
  owner: number,
  versions: ReadonlyMap<string, number>,
): Promise<ExpenseWithBudget[]> {
  if (versions.size === 0) return [];
  const rows = await expensesWithIds(session, owner, [...versions.keys()]);
  return rows.filter(({ id, version }) => versions.get(id) === version);
}
