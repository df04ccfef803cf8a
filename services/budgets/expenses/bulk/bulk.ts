import { AppError, newId, type Static, Type } from '@octavo/core';
import { type Session, scan } from '@octavo/data';
import {
  accessTo,
  checkThresholds,
  enter,
  enterScope,
  numberedScope,
  requireBudget,
} from '../../budgets/index.ts';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../../commands.ts';
import { createParser, invalid } from '../../edges/schema-parser.ts';
import { Day, Id, nullable, Reference, text } from '../../edges/schemas.ts';
import type { Tables } from '../../store/tables.ts';
import { createTask, type Task, type Tasks } from '../../tasks/index.ts';
import type { ExpensePatch, ExpenseWithBudget } from '../expense.ts';
import { changeExpense, removeExpense, type Touched } from '../expenses.ts';
import { checkRange } from '../list.ts';
import { countAllExpenses, selectExpenses, spellingsOf } from '../store.ts';
import type { ChangeAbout, Made } from './made.ts';
import { expensesWithIds, keepChange, sharedWithIds, sweepChanges } from './store.ts';

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
          undoneImport: Type.Optional(
            Type.String({ ...Reference, description: 'Id of an undone import: the expenses that it left' }),
          ),
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

/**
 * Changes or deletes many expenses at once, and by a task if a filter fits more than 1,000. One that cannot be changed stays, and is listed
 * with the reason.
 */
export async function changeMany(
  tasks: Tasks,
  caller: Caller,
  request: BulkRequest,
): Promise<BulkResult | Task> {
  checkBulkRequest(request);
  const { context } = tasks;
  const found = request.filter && (await filteredRows(context, caller.owner, request.filter, {}));
  if (found && found.length > bulkMax) return createTask(tasks, caller, { type: 'bulk', bulk: request });
  return runCommand(
    context,
    caller,
    async (transaction) => {
      await enterRequest(transaction, request);
      const rows = found
        ? await unchangedRows(transaction.session, transaction.owner, found)
        : await rowsOf(transaction, request.ids ?? []);
      return changeRows(transaction, changesOf(rows, request), { to: await placeOf(transaction, request) });
    },
    { alone: true },
  );
}

/** Has a command go on in the account that a request is about. Throws `not_found`, or `forbidden` if the actor may not write there. */
export async function enterRequest(
  transaction: AccountTransaction,
  { filter, change }: BulkRequest,
): Promise<void> {
  if (filter) await enterScope(transaction, filter.budgetId);
  if (change?.budgetId) await accessTo(transaction, change.budgetId, 'write');
}

/** Name of the budget, the category or the tags that a request gives. */
async function placeOf(
  { session, owner }: AccountTransaction,
  { change: { budgetId, category, addTags } = {} }: BulkRequest,
): Promise<string | undefined> {
  if (budgetId) return (await requireBudget(session, owner, budgetId)).name;
  return budgetId === null ? 'Unassigned' : category || addTags?.join(', ') || undefined;
}

/** Throws `validation_failed` for a request that names nothing, or both of two. */
export function checkBulkRequest({ ids, filter, change, ...request }: BulkRequest): void {
  if ((ids === undefined) === (filter === undefined))
    throw invalid({ ids: 'or filter is required, not both' });
  if ((change === undefined) !== (request.delete === true))
    throw invalid({ change: 'or delete is required, not both' });
  checkRange(filter?.from, filter?.to);
}

/** The change of each expense by a request. */
export function changesOf(rows: readonly ExpenseWithBudget[], { change }: BulkRequest): RowChange[] {
  return rows.map((before) => ({ before, patch: change ? patchOf(before, change) : 'delete' }));
}

/** An expense and its change; undefined if it stays as it is. */
export interface RowChange {
  readonly before: ExpenseWithBudget;
  readonly patch: ExpensePatch | 'delete' | undefined;
}

export interface ChangeOptions {
  /** Undo token of a slice of a task; a new one by default. */
  readonly token?: string | undefined;
  /** Name of the budget or category that the expenses got. */
  readonly to?: string | undefined;
  readonly made?: Made | undefined;
}

/** Changes expenses in the caller's transaction, and keeps them as they were before, for an undo with the token. */
export async function changeRows(
  transaction: AccountTransaction,
  changes: readonly RowChange[],
  { token, to, made }: ChangeOptions = {},
): Promise<BulkResult> {
  const { session, actor: owner, nowMs } = transaction;
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
  if (changed.length === 0 && !made) return { changed: changed.length, kept, undo: null };
  const rows_before = JSON.stringify(changed);
  const deed = changed.some(({ version }) => version === null) ? 'deleted' : 'changed';
  const about: ChangeAbout = { changed: changed.length, deed, to, made };
  const undo = token ?? newId();
  await sweepChanges(session, owner, nowMs - undoMs);
  await keepChange(session, {
    owner,
    token: undo,
    rows_before,
    created_at_ms: nowMs,
    about: token === undefined ? JSON.stringify(about) : null,
  });
  return { changed: changed.length, kept, undo };
}

/** Checks the thresholds of each budget once, whatever number of its expenses has changed. */
export async function checkAll(transaction: AccountTransaction, touched: readonly Touched[]): Promise<void> {
  for (const same of Map.groupBy(touched, ({ budget }) => budget.number).values()) {
    const days = [...new Set(same.flatMap(({ days }) => days))];
    if (same[0]) await checkThresholds(transaction, same[0].budget, days, { isBulk: true });
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

async function rowsOf(transaction: AccountTransaction, ids: readonly string[]): Promise<ExpenseWithBudget[]> {
  const { session, actor } = transaction;
  const own = await expensesWithIds(session, actor, [...new Set(ids)]);
  const others = ids.filter((id) => own.every((row) => row.id !== id));
  const shared = others.length === 0 ? [] : await sharedWithIds(session, actor, [...new Set(others)]);
  const missing = others.find((id) => shared.every((row) => row.id !== id));
  if (missing !== undefined) throw new AppError('not_found', `There is no expense ${missing}.`);
  for (const { owner, member_role } of shared) enter(transaction, { owner, member_role }, 'write');
  if (own.length > 0) enter(transaction, { owner: actor }, 'write');
  return [...own, ...shared.map(({ member_role: _role, ...row }) => row)];
}

interface Slice {
  /** The number of the last expense of the slice before. */
  readonly after?: number;
  readonly limit?: number;
}

/**
 * Expenses that a filter fits, in the order of their numbers. They are looked for before the transaction that changes them, in which a
 * long search would keep others from writing.
 */
export async function filteredRows(
  { db }: Context,
  account: number,
  { budgetId, category, ...others }: NonNullable<BulkRequest['filter']>,
  { after = -1, limit = bulkMax + 1 }: Slice,
): Promise<ExpenseWithBudget[]> {
  const { owner, budgets } = await numberedScope(db, account, budgetId);
  const touched = (await countAllExpenses.first(db, { owner }))?.total ?? 0;
  const place = { database: db, session: db, touched };
  const categories = category === undefined ? undefined : await spellingsOf(place, owner, category);
  const page = { sort: 'createdAt', isDescending: false, after: [after, after], limit } as const;
  return scan(selectExpenses(db, owner, { ...others, budgets, categories }, page), place);
}

/** The expenses that have not changed since they were found. */
export async function unchangedRows(
  session: Session<Tables>,
  owner: number,
  found: readonly ExpenseWithBudget[],
): Promise<ExpenseWithBudget[]> {
  if (found.length === 0) return [];
  const versions = new Map(found.map(({ id, version }) => [id, version]));
  const rows = await expensesWithIds(session, owner, [...versions.keys()]);
  return rows.filter(({ id, version }) => versions.get(id) === version);
}
