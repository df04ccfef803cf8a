import type { Session } from '#kit/db/index.ts';
import { notFound } from '#kit/errors.ts';
import { newOrderedId } from '#kit/ids.ts';
import type { Log } from '#kit/log.ts';
import { invalid } from '#kit/schema-parser.ts';
import { checkThresholds, requireBudget } from '../budgets/index.ts';
import { type Caller, type Core, runCommand, type UnitOfWork } from '../commands.ts';
import { addExpense } from '../expenses/index.ts';
import { decimalText, parseMoney } from '../money.ts';
import { type Page, type PageRequest, pageByTime, placeByTime } from '../paging.ts';
import { isDay } from '../periods.ts';
import type { BudgetRow, RecurringRow, Tables } from '../tables.ts';
import { checkVersion, type Versions } from '../versions.ts';
import { beginOf, dayIn, firstFrom, isTimezone, occurrences } from './recurrence.ts';
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
  countRecurring,
  deleteRecurringRow,
  dueRecurring,
  insertRecurring,
  postpone,
  recurringById,
  recurringPage,
  setNext,
  updateRecurringRow,
} from './store.ts';

const dueAtOnce = 100;
/** One that cannot be added must not hold up the others. */
const retryMs = 3_600_000;

/** Adds an expense that comes again. What it missed since its start is added at once, at most that of a year. */
export function createRecurring(core: Core, caller: Caller, given: RecurringInput): Promise<Recurring> {
  return runCommand(core, caller, async (unit) => {
    const { session, owner, nowMs } = unit;
    const budget = await requireBudget(session, owner, given.budgetId);
    const { timezone = 'UTC' } = given;
    checkTimezone(timezone);
    const blank = {
      ...{ owner, id: newOrderedId(), category: null, every: 1, by_day: null, by_month_day: null },
      ...{ end_on: null, count: null, timezone, start_on: dayIn(timezone, nowMs), updated_at_ms: nowMs },
    };
    const row = { ...blank, ...columnsOf(given, budget) } as Row;
    checkRow(row);
    await insertRecurring.run(session, { ...row, next_on: null, next_at_ms: null });
    await catchUp(unit, row, budget);
    return toRecurring(await requireRecurring(session, owner, row.id));
  });
}

export async function getRecurring({ db }: Core, { owner }: Caller, id: string): Promise<Recurring> {
  return toRecurring(await requireRecurring(db, owner, id));
}

/** Recurring expenses, newest first. */
export async function listRecurring(
  { db }: Core,
  { owner }: Caller,
  request: PageRequest,
): Promise<Page<Recurring>> {
  const rows = await recurringPage.all(db, { owner, ...placeByTime(request) });
  const total = (await countRecurring.first(db, { owner }))?.total ?? 0;
  return pageByTime(rows, { request, total, view: toRecurring });
}

/** Changes what is given, from now on: expenses that were added stay. */
export function updateRecurring(
  core: Core,
  caller: Caller,
  id: string,
  { versions, ...given }: RecurringPatch & { readonly versions?: Versions },
): Promise<Recurring> {
  return runCommand(core, caller, async (unit) => {
    const { session, owner, nowMs } = unit;
    const before = await requireRecurring(session, owner, id);
    checkVersion(before.version, versions);
    const budget = await requireBudget(session, owner, given.budgetId ?? before.budget_id);
    if (budget.currency !== before.currency && given.amount === undefined)
      throw invalid({ amount: `is required, because the budget is in ${budget.currency}` });
    const amount = given.amount ?? decimalText(before.amount_minor, before.currency);
    const row: Row = { ...before, ...columnsOf({ ...given, amount }, budget), updated_at_ms: nowMs };
    checkRow(row);
    await updateRecurringRow.run(session, { ...row, next_on: null, next_at_ms: null });
    await catchUp(unit, row, budget);
    return toRecurring(await requireRecurring(session, owner, id));
  });
}

/** Ends it. Expenses that were added stay. */
export function deleteRecurring(
  core: Core,
  caller: Caller,
  id: string,
  versions?: Versions,
): Promise<{ message: string; id: string }> {
  return runCommand(core, caller, async ({ session, owner }) => {
    const { version } = await requireRecurring(session, owner, id);
    checkVersion(version, versions);
    await deleteRecurringRow.run(session, { owner, id });
    return { message: 'Recurring expense deleted', id };
  });
}

/** Adds what is due of all accounts, and returns how many recurring expenses had something. Any number of processes may do it. */
export async function addDueExpenses(core: Core, log: Log): Promise<number> {
  const nowMs = core.clock.now();
  const due = await dueRecurring.all(core.db, { nowMs, limit: dueAtOnce });
  for (const { owner, userId, id } of due) {
    try {
      await runCommand(core, { owner, userId }, async (unit) => {
        const row = await recurringById.first(unit.session, { owner, id });
        if (row) await catchUp(unit, row, await requireBudget(unit.session, owner, row.budget_id));
      });
    } catch (error) {
      log.warn({ err: error, recurringId: id }, 'a recurring expense could not be added');
      await postpone.run(core.db, { owner, id, next_at_ms: nowMs + retryMs });
    }
  }
  return due.length;
}

type Row = Omit<RecurringRow, 'next_on' | 'next_at_ms'>;

/** Adds the occurrences that have begun, of one year at most, and notes the next one. */
async function catchUp(unit: UnitOfWork, row: Row, budget: BudgetRow): Promise<void> {
  const { session, owner, nowMs } = unit;
  const { id, description, category, timezone } = row;
  const today = dayIn(timezone, nowMs);
  const yearAgo = Temporal.PlainDate.from(today).subtract({ years: 1 }).toString();
  const recurrence = recurrenceOf(row);
  const amount = decimalText(row.amount_minor, row.currency);
  const added: string[] = [];
  for (const day of occurrences(recurrence, yearAgo)) {
    if (day > today) break;
    const { changes } = await claimOccurrence.run(session, { owner, id, day });
    if (changes === 0) continue;
    await addExpense(unit, budget, { description, amount, category, spentOn: day });
    added.push(day);
  }
  if (added.length > 0) await checkThresholds(unit, budget, added);
  const tomorrow = Temporal.PlainDate.from(today).add({ days: 1 }).toString();
  const next = firstFrom(recurrence, tomorrow);
  const next_at_ms = next === undefined ? null : beginOf(next, timezone);
  await setNext.run(session, { owner, id, next_on: next ?? null, next_at_ms });
}

async function requireRecurring(
  session: Session<Tables>,
  owner: number,
  id: string,
): Promise<RecurringWithBudget> {
  const row = await recurringById.first(session, { owner, id });
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
