import type { Log } from '@octavo/core';
import { newOrderedId, notFound } from '@octavo/core';
import type { Session } from '@octavo/data';
import { decimalText, parseMoney } from '@octavo/documents/values';
import type { Page, PageRequest } from '@octavo/web/rest';
import { checkVersion, type Versions } from '@octavo/web/rest';
import { checkThresholds, requireBudget } from '../budgets/index.ts';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { pageByTime, placeByTime } from '../edges/paging.ts';
import { invalid } from '../edges/schema-parser.ts';
import { addExpense } from '../expenses/index.ts';
import { addDays, isDay } from '../money/periods.ts';
import { countOwned } from '../store/owned.ts';
import type { BudgetRow, RecurringRow, Tables } from '../store/tables.ts';
import { changeOf, lookBack } from './change.ts';
import {
  beginOf,
  dayIn,
  firstFrom,
  isTimezone,
  type Occurrence,
  occurrences,
  yearBefore,
} from './recurrence.ts';
import {
  type Recurring,
  type RecurringInput,
  type RecurringPatch,
  type RecurringWithBudget,
  recurrenceOf,
  toRecurring,
} from './recurring.ts';
import {
  claimOccurrence,
  deleteRecurringRow,
  dueRecurring,
  insertRecurring,
  occurrencesFrom,
  postpone,
  recurringById,
  recurringPage,
  setNext,
  updateRecurringRow,
} from './store.ts';

const dueAtOnce = 100;
/** Pause before one that cannot be added is tried again, as it must not hold up the others. */
const retryMs = 3_600_000;

/** Adds a recurring expense. Occurrences since its start are added immediately, for up to a year. */
export function createRecurring(context: Context, caller: Caller, given: RecurringInput): Promise<Recurring> {
  return runCommand(context, caller, async (transaction) => {
    const { session, owner, nowMs } = transaction;
    const budget = await requireBudget(session, owner, given.budgetId);
    const { timezone = 'UTC' } = given;
    checkTimezone(timezone);
    const blank = {
      owner,
      id: newOrderedId(),
      category: null,
      every: 1,
      by_day: null,
      by_month_day: null,
      on_weekend: 'same' as const,
      end_on: null,
      count: null,
      timezone,
      start_on: dayIn(timezone, nowMs),
      updated_at_ms: nowMs,
      since_on: null,
      made: 0,
    };
    const row = { ...blank, ...columnsOf(given, budget) } as Row;
    checkRow(row);
    await insertRecurring(session, { ...row, next_on: null, next_at_ms: null });
    await catchUp(transaction, row, budget);
    return toRecurring(await requireRecurring(session, owner, row.id));
  });
}

export async function getRecurring({ db }: Context, { owner }: Caller, id: string): Promise<Recurring> {
  return toRecurring(await requireRecurring(db, owner, id));
}

/** Recurring expenses, newest first. */
export async function listRecurring(
  { db }: Context,
  { owner }: Caller,
  request: PageRequest,
): Promise<Page<Recurring>> {
  const rows = await recurringPage(db, { owner, ...placeByTime(request) });
  const total = await countOwned(db, 'recurring', owner);
  return pageByTime(rows, { request, total, view: toRecurring });
}

/**
 * Changes what is given, from the next day on: what has begun is added by the rule as it was, and expenses that were added stay. Only
 * an earlier start adds what was missed before the old one.
 */
export function updateRecurring(
  context: Context,
  caller: Caller,
  id: string,
  { versions, ...given }: RecurringPatch & { readonly versions?: Versions },
): Promise<Recurring> {
  return runCommand(context, caller, async (transaction) => {
    const { session, owner, nowMs } = transaction;
    const before = await requireRecurring(session, owner, id);
    checkVersion(before.version, versions);
    const oldBudget = await requireBudget(session, owner, before.budget_id);
    await catchUp(transaction, before, oldBudget);
    const { budgetId = before.budget_id } = given;
    const budget = budgetId === oldBudget.id ? oldBudget : await requireBudget(session, owner, budgetId);
    const row: Row = { ...changedRow(before, budget, given), updated_at_ms: nowMs };
    const today = dayIn(row.timezone, nowMs);
    const recent = await occurrencesFrom(session, { owner, id, from: addDays(today, -lookBack) });
    const added = new Set(recent.map(({ day }) => day));
    const { missed, since, made } = changeOf(recurrenceOf(before), recurrenceOf(row), { today, added });
    const changed = { ...row, since_on: since, made };
    await updateRecurringRow(session, { ...changed, next_on: null, next_at_ms: null });
    await addOn(transaction, changed, { budget, occurrences: missed });
    await catchUp(transaction, changed, budget);
    return toRecurring(await requireRecurring(session, owner, id));
  });
}

/** The days on which a change would add expenses that were missed, because the start is earlier. Nothing is changed. */
export async function findMissed(
  { db, clock }: Context,
  { owner }: Caller,
  id: string,
  given: RecurringPatch,
): Promise<string[]> {
  const before = await requireRecurring(db, owner, id);
  const budget = await requireBudget(db, owner, given.budgetId ?? before.budget_id);
  const row = changedRow(before, budget, given);
  const { missed } = changeOf(recurrenceOf(before), recurrenceOf(row), {
    today: dayIn(row.timezone, clock.now()),
    added: new Set(),
  });
  const from = addDays(missed[0]?.nominal ?? before.start_on, -7);
  const added = await occurrencesFrom(db, { owner, id, from });
  const nominals = new Set(added.map(({ nominal }) => nominal));
  const days = new Set(added.map(({ day }) => day));
  const left = missed.filter(({ nominal, day }) => !nominals.has(nominal) && !days.has(day));
  return [...new Set(left.map(({ day }) => day))];
}

function changedRow(before: RecurringWithBudget, budget: BudgetRow, given: RecurringPatch): Row {
  if (budget.currency !== before.currency && given.amount === undefined)
    throw invalid({ amount: `is required, because the budget is in ${budget.currency}` });
  const amount = given.amount ?? decimalText(before.amount_minor, before.currency);
  const row: Row = { ...before, ...columnsOf({ ...given, amount }, budget) };
  checkRow(row);
  return row;
}

/** Ends it. Expenses that were added stay. */
export function deleteRecurring(
  context: Context,
  caller: Caller,
  id: string,
  versions?: Versions,
): Promise<{ message: string; id: string }> {
  return runCommand(context, caller, async ({ session, owner }) => {
    const { version } = await requireRecurring(session, owner, id);
    checkVersion(version, versions);
    await deleteRecurringRow(session, owner, id);
    return { message: 'Recurring expense deleted', id };
  });
}

/** Adds the due expenses of all accounts, and returns the number of rules that added some. Several processes may run it. */
export async function addDueExpenses(context: Context, log: Log): Promise<number> {
  const nowMs = context.clock.now();
  const due = await dueRecurring(context.db, nowMs, dueAtOnce);
  for (const { owner, userId, id } of due) {
    try {
      await runCommand(context, { owner, userId }, async (transaction) => {
        const row = await recurringById(transaction.session, owner, id);
        if (row)
          await catchUp(transaction, row, await requireBudget(transaction.session, owner, row.budget_id));
      });
    } catch (error) {
      log.warn({ err: error, recurringId: id }, 'a recurring expense could not be added');
      await postpone(context.db, { owner, id, next_at_ms: nowMs + retryMs });
    }
  }
  return due.length;
}

type Row = Omit<RecurringRow, 'next_on' | 'next_at_ms'>;

/** Adds the occurrences that have begun, of one year at most, and notes the next one. */
async function catchUp(transaction: AccountTransaction, row: Row, budget: BudgetRow): Promise<void> {
  const { session, owner, nowMs } = transaction;
  const { id, timezone } = row;
  const today = dayIn(timezone, nowMs);
  const recurrence = recurrenceOf(row);
  const due: Occurrence[] = [];
  for (const occurrence of occurrences(recurrence, yearBefore(today))) {
    if (occurrence.day > today) break;
    due.push(occurrence);
  }
  await addOn(transaction, row, { budget, occurrences: due });
  const next = firstFrom(recurrence, addDays(today, 1));
  const next_at_ms = next === undefined ? null : beginOf(next, timezone);
  await setNext(session, { owner, id, next_on: next ?? null, next_at_ms });
}

/** Adds an expense on each day, once however often it is asked for, and however many nominal days fall on it. */
async function addOn(
  transaction: AccountTransaction,
  { id, description, category, amount_minor, currency }: Row,
  { budget, occurrences }: { budget: BudgetRow; occurrences: readonly Occurrence[] },
): Promise<void> {
  const { session, owner } = transaction;
  const amount = decimalText(amount_minor, currency);
  const added: string[] = [];
  for (const { nominal, day } of occurrences) {
    const { numInsertedOrUpdatedRows } = await claimOccurrence(session, { owner, id, nominal, day });
    if (numInsertedOrUpdatedRows === 0n) continue;
    await addExpense(transaction, budget, { description, amount, category, spentOn: day });
    added.push(day);
  }
  if (added.length > 0) await checkThresholds(transaction, budget, added);
}

async function requireRecurring(
  session: Session<Tables>,
  owner: number,
  id: string,
): Promise<RecurringWithBudget> {
  const row = await recurringById(session, owner, id);
  if (!row) throw notFound('recurring expense', id);
  return row;
}

/** The columns that are given. */
function columnsOf(
  given: RecurringPatch & { amount: RecurringInput['amount'] },
  budget: BudgetRow,
): Partial<Row> {
  const { currency } = budget;
  const parsed = parseMoney(given.amount, currency);
  if (parsed.problem !== undefined) throw invalid({ amount: parsed.problem });
  if (parsed.minor <= 0) throw invalid({ amount: 'must be more than 0' });
  const columns = {
    budget: budget.number,
    description: given.description,
    amount_minor: parsed.minor,
    currency,
    category: given.category,
    freq: given.freq,
    every: given.interval,
    by_day: given.byDay && JSON.stringify(given.byDay),
    by_month_day: given.byMonthDay && JSON.stringify(given.byMonthDay),
    on_weekend: given.onWeekend,
    start_on: given.start,
    end_on: given.end,
    count: given.count,
    timezone: given.timezone,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** Throws `validation_failed` for a rule that has no meaning. */
function checkRow({ freq, by_day, by_month_day, start_on, end_on, timezone }: Row): void {
  checkTimezone(timezone);
  const isShort = freq === 'daily' || freq === 'weekly';
  if (by_day !== null && !isShort) throw invalid({ byDay: 'is for daily and weekly ones' });
  if (by_month_day !== null && isShort) throw invalid({ byMonthDay: 'is for monthly and yearly ones' });
  if (!isDay(start_on)) throw invalid({ start: 'must be a date from 1000 to 2999' });
  if (end_on !== null && end_on < start_on) throw invalid({ end: 'must not be before the start' });
}

function checkTimezone(timezone: string): void {
  if (isTimezone(timezone)) return;
  throw invalid({ timezone: 'must be a time zone such as Europe/Berlin' });
}
