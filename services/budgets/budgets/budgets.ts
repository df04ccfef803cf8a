import { AppError, isoDay, newOrderedId, notFound } from '@octavo/core';
import type { Session } from '@octavo/data';
import { type DecimalInput, decimalText, isCurrency, parseMoney } from '@octavo/documents/values';
import type { Page, PageRequest } from '@octavo/web/rest';
import { checkVersion, decodeCursor, encodeCursor, type Versions } from '@octavo/web/rest';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { idOfRow } from '../edges/paging.ts';
import { createParser, invalid } from '../edges/schema-parser.ts';
import { isDay } from '../money/periods.ts';
import { notify } from '../notifications/index.ts';
import type { BudgetRow, Tables } from '../store/tables.ts';
import { accessTo, findReadableBudget, readableBudget } from './access/access.ts';
import { type AccessedBudget, countSharedBudgets, sharedBudgetBeforeId } from './access/store.ts';
import {
  type Budget,
  BudgetChange,
  BudgetInput,
  BudgetPatch,
  defaultThresholds,
  type PlannedBudget,
  toBudget,
  toPlan,
} from './budget.ts';
import { keepPastTerms } from './past-terms.ts';
import { checkThresholds, currentPeriods, spendingInPeriod, spendingOfBudgets } from './spending.ts';
import {
  budgetBeforeId,
  budgetById,
  budgetsPage,
  budgetsWithIds,
  type ChangedColumn,
  countBudgets,
  insertBudget,
  plansPage,
  sharedBudgetsPage,
  updateBudgetRow,
} from './store.ts';

/** Parses input that does not come through a route with the schema. Throws `validation_failed`. */
export const parseBudgetInput = createParser(BudgetInput);
export const parseBudgetPatch = createParser(BudgetPatch);
export const parseBudgetChange = createParser(BudgetChange);

export function createBudget(context: Context, caller: Caller, given: BudgetInput): Promise<Budget> {
  const { name, limit, currency = 'USD', period = 'none', periodDay = 1, rollover = 'none' } = given;
  const thresholds = given.thresholds ?? defaultThresholds;
  if (!isCurrency(currency)) throw unknownCurrency();
  const limit_minor = limitOf(limit, currency);
  checkStart(given.startDate);
  return runCommand(context, caller, async (transaction) => {
    const { session, owner, nowMs } = transaction;
    const start_date = given.startDate ?? isoDay(nowMs);
    const row = (await insertBudget.first(session, {
      id: newOrderedId(),
      owner,
      name,
      limit_minor,
      currency,
      period,
      period_day: periodDay,
      start_date,
      rollover,
      thresholds: JSON.stringify(thresholds),
      created_at_ms: nowMs,
    })) as BudgetRow;
    const budget = await viewOf(session, row, nowMs);
    await notifyBudget(transaction, 'created', { budget, row });
    return budget;
  });
}

/** A budget of the caller, or one that is shared with it. Throws `not_found` for any other. */
export async function getBudget({ db, clock }: Context, { owner }: Caller, id: string): Promise<Budget> {
  return viewOf(db, await readableBudget(db, owner, id), clock.now());
}

export interface BudgetsFilter extends PageRequest {
  /** The id of the last budget that was seen, in place of a cursor. */
  readonly afterId?: string | undefined;
  /** Leaves out those that are shared with the caller. */
  readonly isOwn?: boolean;
}

/** The caller's budgets and those that are shared with it, newest first. */
export async function listBudgets(
  context: Context,
  caller: Caller,
  filter: BudgetsFilter,
): Promise<Page<Budget>> {
  const { db, clock } = context;
  const { owner } = caller;
  const { limit } = filter;
  const before = await findPlace(context, caller, filter);
  const place = { before, limit: limit + 1 };
  const own = await budgetsPage.all(db, { owner, ...place });
  const shared = filter.isOwn ? [] : await sharedBeside(db, own, { account: owner, ...place });
  const found = newestOf<AccessedBudget>(own, shared);
  const rows = found.slice(0, limit);
  const standings = await spendingOfBudgets(db, await currentPeriods(db, rows, isoDay(clock.now())));
  const last = found.length > limit ? rows.at(-1) : undefined;
  const isWhole = last === undefined && before === newestFirst;
  return {
    items: rows.map((row) => toBudget(row, standings.get(row.number) ?? nothingSpent)),
    total: isWhole ? rows.length : await countAll(db, owner, filter),
    next: last && encodeCursor([last.number]),
  };
}

/** Lists budgets without their spending, by one statement. */
export async function listPlans(
  context: Context,
  caller: Caller,
  filter: BudgetsFilter,
): Promise<PlannedBudget[]> {
  const before = await findPlace(context, caller, filter);
  const { db } = context;
  const { owner } = caller;
  const { limit } = filter;
  const place = { before, limit };
  const own = await plansPage.all(db, { owner, ...place });
  const shared = await sharedBeside(db, own, { account: owner, ...place });
  type Plan = Omit<(typeof own)[number], 'is_member'> & Partial<AccessedBudget>;
  return newestOf<Plan>(own, shared).slice(0, limit).map(toPlan);
}

/** The budgets that are shared with an account, beside a page of its own. */
function sharedBeside(
  session: Session<Tables>,
  own: readonly { readonly is_member: number | null }[],
  page: { readonly account: number; readonly before: number; readonly limit: number },
): readonly AccessedBudget[] | Promise<AccessedBudget[]> {
  return own[0] && own[0].is_member === null ? [] : sharedBudgetsPage.all(session, page);
}

/** Merges two lists by number, the newest first. */
function newestOf<T extends { readonly number: number }>(
  own: readonly T[],
  shared: readonly T[],
): readonly T[] {
  return shared.length === 0 ? own : [...own, ...shared].sort((one, other) => other.number - one.number);
}

async function countAll(session: Session<Tables>, owner: number, { isOwn }: BudgetsFilter): Promise<number> {
  const own = (await countBudgets.first(session, { owner }))?.total ?? 0;
  if (isOwn) return own;
  return own + (await countSharedBudgets(session, owner));
}

const nothingSpent = { spent: 0n, carried: 0n };
const newestFirst = Number.MAX_SAFE_INTEGER;

/** The number that all budgets of a page are below. */
async function findPlace(
  { db }: Context,
  { owner }: Caller,
  { cursor, afterId }: BudgetsFilter,
): Promise<number> {
  if (afterId !== undefined) {
    const id = afterId;
    const last = await findReadableBudget(db, owner, id);
    if (last) return last.number;
    // It has been deleted.
    const next = await budgetBeforeId.first(db, { owner, id: idOfRow(id) });
    const shared = await sharedBudgetBeforeId(db, { account: owner, id });
    return Math.max(next?.number ?? 0, shared?.number ?? 0) + 1;
  }
  const [before = newestFirst] = decodeCursor(cursor, ['integer']) as [number?];
  return before;
}

/** The budgets with these ids that the caller may read. */
export async function findBudgets(
  { db, clock }: Context,
  { owner }: Caller,
  ids: readonly string[],
): Promise<Map<string, Budget>> {
  const rows = await budgetsWithIds(db, owner, ids);
  const standings = await spendingOfBudgets(db, await currentPeriods(db, rows, isoDay(clock.now())));
  return new Map(rows.map((row) => [row.id, toBudget(row, standings.get(row.number) ?? nothingSpent)]));
}

/**
 * Changes the given fields; its terms from the period `from` on, or from the current one. `versions` are those that the caller expects.
 */
export function updateBudget(
  context: Context,
  caller: Caller,
  id: string,
  { versions, from, ...given }: BudgetChange & { readonly versions?: Versions },
): Promise<Budget> {
  checkStart(given.startDate);
  return runCommand(context, caller, async (transaction) => {
    const { session, owner, nowMs } = transaction;
    const before = await accessTo(transaction, id, 'own');
    checkVersion(before.version, versions);
    const changed = changedRow(before, given);
    await keepPastTerms(transaction, before, { changed, from });
    const row = (await updateBudgetRow.first(session, {
      ...changed,
      owner,
      number: before.number,
      updated_at_ms: nowMs,
    })) as BudgetRow;
    const budget = await viewOf(session, row, nowMs);
    await notifyBudget(transaction, 'updated', { budget, row });
    await checkThresholds(transaction, row, [isoDay(nowMs)]);
    return budget;
  });
}

export function findBudgetRow(
  session: Session<Tables>,
  owner: number,
  id: string,
): Promise<BudgetRow | undefined> {
  return budgetById.first(session, { owner, id });
}

/** The caller's own budget. Throws `not_found` for any other. */
export async function requireBudget(session: Session<Tables>, owner: number, id: string): Promise<BudgetRow> {
  const row = await findBudgetRow(session, owner, id);
  if (!row) throw notFound('budget', id);
  return row;
}

export async function viewOf(session: Session<Tables>, row: AccessedBudget, nowMs: number): Promise<Budget> {
  if (row.expenses === 0 && row.rollover === 'none') return toBudget(row, nothingSpent);
  const [placed] = await currentPeriods(session, [row], isoDay(nowMs));
  return toBudget(row, placed ? await spendingInPeriod(session, placed) : nothingSpent);
}

function changedRow(before: BudgetRow, given: BudgetPatch): Pick<BudgetRow, ChangedColumn> {
  const { currency = before.currency } = given;
  if (!isCurrency(currency)) throw unknownCurrency();
  if (currency !== before.currency && before.expenses > 0) {
    throw new AppError('conflict', 'A budget with expenses keeps its currency.', {
      fields: { currency: 'cannot change while the budget has expenses' },
    });
  }
  const limit = given.limit ?? decimalText(before.limit_minor, before.currency).replace(/\.0+$/, '');
  return {
    name: given.name ?? before.name,
    currency,
    limit_minor: limitOf(limit, currency),
    period: given.period ?? before.period,
    period_day: given.periodDay ?? before.period_day,
    start_date: given.startDate ?? before.start_date,
    rollover: given.rollover ?? before.rollover,
    thresholds: given.thresholds ? JSON.stringify(given.thresholds) : before.thresholds,
  };
}

export async function notifyBudget(
  transaction: AccountTransaction,
  what: 'created' | 'updated' | 'deleted',
  { budget, row }: { readonly budget: Budget; readonly row: BudgetRow },
) {
  const title = `Budget ${what}`;
  const message = `The budget ${budget.name} was ${what}.`;
  const dataFor = (sharing: Pick<Budget, 'role' | 'sharedBy'>) => ({ ...budget, ...sharing });
  await notify(transaction, { type: `budget.${what}`, title, message, data: budget, dataFor }, row);
}

function limitOf(given: DecimalInput, currency: string): number {
  const parsed = parseMoney(given, currency);
  if (parsed.problem !== undefined) throw invalid({ limit: parsed.problem });
  if (parsed.minor < 0) throw invalid({ limit: 'must be at least 0' });
  return parsed.minor;
}

function checkStart(day: string | undefined): void {
  if (day !== undefined && !isDay(day)) throw invalid({ startDate: 'must be a date from 1000 to 2999' });
}

function unknownCurrency(): AppError {
  return invalid({ currency: 'must be the code of a currency (ISO 4217), such as USD' });
}
