import type { Session } from '#kit/db/index.ts';
import { AppError, notFound } from '#kit/errors.ts';
import { newOrderedId } from '#kit/ids.ts';
import { isoDay } from '#kit/iso-time.ts';
import { createParser, invalid } from '#kit/schema-parser.ts';
import { type Caller, type Core, runCommand, type UnitOfWork } from '../commands.ts';
import { isCurrency } from '../currencies.ts';
import { reverseExpensesOf } from '../ledger/index.ts';
import { type DecimalInput, decimalText, parseMoney, toMajor } from '../money.ts';
import { notify } from '../notifications/index.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../paging.ts';
import { isDay, parsePeriod, periodAt } from '../periods.ts';
import type { BudgetRow, Tables } from '../tables.ts';
import { checkVersion, type Versions } from '../versions.ts';
import {
  type Budget,
  BudgetInput,
  BudgetPatch,
  type BudgetSummary,
  defaultThresholds,
  type Plan,
  toBudget,
  toPlan,
} from './budget.ts';
import { allTime, checkThresholds, standingIn, standingsOf } from './spending.ts';
import {
  budgetById,
  budgetsPage,
  budgetsWithIds,
  countBudgets,
  deleteBudgetRow,
  insertBudget,
  plansPage,
  sumByCategory,
  updateBudgetRow,
} from './store.ts';

/** For input that does not come through a route with the schema. Throws `validation_failed`. */
export const parseBudgetInput = createParser(BudgetInput);
export const parseBudgetPatch = createParser(BudgetPatch);

export function createBudget(core: Core, caller: Caller, given: BudgetInput): Promise<Budget> {
  const { name, limit, currency = 'USD', period = 'none', rollover = 'none' } = given;
  const thresholds = given.thresholds ?? defaultThresholds;
  if (!isCurrency(currency)) throw unknownCurrency();
  const limit_minor = limitOf(limit, currency);
  checkStart(given.startDate);
  return runCommand(core, caller, async (unit) => {
    const { session, owner, nowMs } = unit;
    const start_date = given.startDate ?? isoDay(nowMs);
    const row = (await insertBudget.first(session, {
      ...{ id: newOrderedId(), owner, name, limit_minor, currency, period, start_date, rollover },
      thresholds: JSON.stringify(thresholds),
      created_at_ms: nowMs,
    })) as BudgetRow;
    const budget = await viewOf(session, row, nowMs);
    await tell(unit, 'created', budget);
    return budget;
  });
}

export async function getBudget({ db, clock }: Core, { owner }: Caller, id: string): Promise<Budget> {
  return viewOf(db, await requireBudget(db, owner, id), clock.now());
}

export interface BudgetsFilter extends PageRequest {
  /** The id of the last budget that was seen, in place of a cursor. */
  readonly afterId?: string | undefined;
}

/** Budgets, newest first. */
export async function listBudgets(core: Core, caller: Caller, filter: BudgetsFilter): Promise<Page<Budget>> {
  const { db, clock } = core;
  const { owner } = caller;
  const { limit } = filter;
  const before = await findPlace(core, caller, filter);
  const found = await budgetsPage.all(db, { owner, before, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const standings = await standingsOf(db, rows, isoDay(clock.now()));
  const last = found.length > limit ? rows.at(-1) : undefined;
  const isWhole = last === undefined && before === newestFirst;
  return {
    items: rows.map((row) => toBudget(row, standings.get(row.number) ?? { spent: 0, carried: 0 })),
    total: isWhole ? rows.length : ((await countBudgets.first(db, { owner }))?.total ?? 0),
    next: last && encodeCursor([last.number]),
  };
}

/** The same without what was spent, by one statement. */
export async function listPlans(core: Core, caller: Caller, filter: BudgetsFilter): Promise<Plan[]> {
  const before = await findPlace(core, caller, filter);
  return (await plansPage.all(core.db, { owner: caller.owner, before, limit: filter.limit })).map(toPlan);
}

const newestFirst = Number.MAX_SAFE_INTEGER;

/** The number that all budgets of a page are below. */
async function findPlace(
  { db }: Core,
  { owner }: Caller,
  { cursor, afterId }: BudgetsFilter,
): Promise<number> {
  if (afterId !== undefined) return (await requireBudget(db, owner, afterId)).number;
  const [before = newestFirst] = decodeCursor(cursor, ['integer']) as [number?];
  return before;
}

/** The budgets with these ids that belong to the caller, in one read. */
export async function findBudgets(
  { db, clock }: Core,
  { owner }: Caller,
  ids: readonly string[],
): Promise<Map<string, Budget>> {
  const rows = await budgetsWithIds(db, owner, ids);
  const standings = await standingsOf(db, rows, isoDay(clock.now()));
  return new Map(
    rows.map((row) => [row.id, toBudget(row, standings.get(row.number) ?? { spent: 0, carried: 0 })]),
  );
}

/** Changes what is given; the rest stays. `versions` are those that the caller expects. */
export function updateBudget(
  core: Core,
  caller: Caller,
  id: string,
  { versions, ...given }: BudgetPatch & { readonly versions?: Versions },
): Promise<Budget> {
  checkStart(given.startDate);
  return runCommand(core, caller, async (unit) => {
    const { session, owner, nowMs } = unit;
    const before = await requireBudget(session, owner, id);
    checkVersion(before.version, versions);
    const changed = changedRow(before, given);
    const row = (await updateBudgetRow.first(session, { ...changed, updated_at_ms: nowMs })) as BudgetRow;
    const budget = await viewOf(session, row, nowMs);
    await tell(unit, 'updated', budget);
    await checkThresholds(unit, row, [isoDay(nowMs)]);
    return budget;
  });
}

export interface BudgetDeletion {
  /** Whether its expenses are deleted too. */
  readonly cascade?: boolean | undefined;
  readonly versions?: Versions;
}

/** Throws `conflict` for a budget with expenses, unless they are to be deleted too. */
export function deleteBudget(
  core: Core,
  caller: Caller,
  id: string,
  { cascade = false, versions }: BudgetDeletion = {},
): Promise<{ id: string; message: string }> {
  return runCommand(
    core,
    caller,
    async (unit) => {
      const { session, owner, nowMs } = unit;
      const row = await requireBudget(session, owner, id);
      checkVersion(row.version, versions);
      if (row.expenses > 0 && !cascade) throw hasExpenses();
      const budget = await viewOf(session, row, nowMs);
      await reverseExpensesOf(unit, row.number);
      await deleteBudgetRow.run(session, { owner, number: row.number });
      await tell(unit, 'deleted', budget);
      return { message: 'Budget deleted', id };
    },
    { alone: cascade },
  );
}

/** A budget and its expenses in one period, which is the current one by default. */
export async function getBudgetSummary(
  { db, clock }: Core,
  { owner }: Caller,
  id: string,
  periodName?: string,
): Promise<BudgetSummary> {
  return db.read(async (session) => {
    const row = await requireBudget(session, owner, id);
    const { currency, limit_minor: limit } = row;
    const period =
      periodName === undefined
        ? periodAt(row.period, isoDay(clock.now()))
        : parsePeriod(row.period, periodName);
    if (!period) throw unknownPeriod(row);
    const { spent, carried, expenses } = await standingIn(session, row, period);
    const range = { from: period.from ?? allTime.from, to: period.to ?? allTime.to };
    const categories = await sumByCategory.all(session, { owner, budget: row.number, ...range });
    const sums = { limit, carried, available: limit + carried, spent, remaining: limit + carried - spent };
    return {
      budgetId: id,
      period: period.name,
      from: period.from,
      to: period.to,
      currency,
      ...inBothUnits(sums, currency),
      expenses,
      byCategory: categories.map(({ category, minor }) => ({
        category,
        amount: toMajor(minor, currency),
        amountMinor: minor,
      })),
    };
  });
}

/** The caller's own budget. Throws `not_found` for that of somebody else too. */
export async function requireBudget(session: Session<Tables>, owner: number, id: string): Promise<BudgetRow> {
  const row = await budgetById.first(session, { owner, id });
  if (!row) throw notFound('budget', id);
  return row;
}

async function viewOf(session: Session<Tables>, row: BudgetRow, nowMs: number): Promise<Budget> {
  return toBudget(row, await standingIn(session, row, periodAt(row.period, isoDay(nowMs))));
}

function changedRow(before: BudgetRow, given: BudgetPatch): BudgetRow {
  const { currency = before.currency } = given;
  if (!isCurrency(currency)) throw unknownCurrency();
  if (currency !== before.currency && before.expenses > 0) {
    throw new AppError('conflict', 'A budget with expenses keeps its currency.', {
      fields: { currency: 'cannot change while the budget has expenses' },
    });
  }
  const limit = given.limit ?? decimalText(before.limit_minor, before.currency).replace(/\.0+$/, '');
  return {
    ...before,
    name: given.name ?? before.name,
    currency,
    limit_minor: limitOf(limit, currency),
    period: given.period ?? before.period,
    start_date: given.startDate ?? before.start_date,
    rollover: given.rollover ?? before.rollover,
    thresholds: given.thresholds ? JSON.stringify(given.thresholds) : before.thresholds,
  };
}

async function tell(unit: UnitOfWork, what: 'created' | 'updated' | 'deleted', budget: Budget) {
  const title = `Budget ${what}`;
  const message = `The budget ${budget.name} was ${what}.`;
  await notify(unit, { type: `budget.${what}`, title, message, data: budget });
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

function unknownPeriod({ period, created_at_ms }: BudgetRow): AppError {
  const { name } = periodAt(period, isoDay(created_at_ms));
  const problem = `must be the name of a period of this budget, such as ${name}`;
  return new AppError('invalid_input', `period ${problem}`, { fields: { period: problem } });
}

function hasExpenses(): AppError {
  const message = 'This budget has expenses. Delete them first, or delete it with cascade=true.';
  return new AppError('conflict', message);
}

/** Each sum as a number, and under its name with `Minor` in minor units. */
function inBothUnits<K extends string>(
  sums: Readonly<Record<K, number>>,
  currency: string,
): Record<K | `${K}Minor`, number> {
  const entries = Object.entries(sums) as [K, number][];
  return Object.fromEntries(
    entries.flatMap(([name, minor]) => [
      [name, toMajor(minor, currency)],
      [`${name}Minor`, minor],
    ]),
  ) as Record<K | `${K}Minor`, number>;
}
