import { AppError, isoDay, newOrderedId, notFound } from '@octavo/core';
import type { Session } from '@octavo/data';
import { decimalText } from '@octavo/documents/values';
import { checkVersion, type Versions } from '@octavo/web/rest';
import { addSpending, checkThresholds, requireBudget } from '../budgets/index.ts';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { createParser, invalid } from '../edges/schema-parser.ts';
import { post, tryReverse } from '../ledger/index.ts';
import { isDay } from '../money/periods.ts';
import { notify } from '../notifications/index.ts';
import { indexExpense } from '../store/expense-search-index.ts';
import type { BudgetRow, ExpenseRow, Tables } from '../store/tables.ts';
import { type Expense, ExpenseInput, ExpensePatch, type ExpenseWithBudget, toExpense } from './expense.ts';
import { type Price, priceIn } from './price.ts';
import {
  deleteExpenseRow,
  deleteTags,
  expenseById,
  expenseWithExternalId,
  insertExpense,
  insertTag,
  updateExpenseRow,
} from './store.ts';

/** Parses input that does not come through a route with the schema. Throws `validation_failed`. */
export const parseExpenseInput = createParser(ExpenseInput);
export const parseExpensePatch = createParser(ExpensePatch);

/** Adds an expense: its row, the debit in the ledger, the index, the notification and what follows from it, all or nothing. */
export function createExpense(core: Context, caller: Caller, given: ExpenseInput): Promise<Expense> {
  checkDays(given);
  return runCommand(core, caller, async (unit) => {
    const budget = await requireBudget(unit.session, unit.owner, given.budgetId);
    const expense = await addExpense(unit, budget, given);
    await checkThresholds(unit, budget, [expense.spentOn]);
    return expense;
  });
}

/**
 * Adds an expense to a budget in the caller's transaction. The caller checks the thresholds afterwards, once for several expenses.
 * `isQuiet` leaves out the notification.
 */
export async function addExpense(
  unit: AccountTransaction,
  budget: BudgetRow,
  given: Omit<ExpenseInput, 'budgetId'>,
  { isQuiet = false }: { isQuiet?: boolean } = {},
): Promise<Expense> {
  const { session, owner, nowMs } = unit;
  const { currency = budget.currency, spentOn = isoDay(nowMs) } = given;
  const { amount, rate, rateDate = spentOn } = given;
  const price = priceIn(budget.currency, { amount, currency, rate, rateDate });
  const { description } = given;
  const id = newOrderedId();
  const minor = price.amount_minor;
  const { id: transaction_id } = await debit(unit, budget, { id, description, minor });
  const row = {
    id,
    owner,
    budget: budget.number,
    description,
    ...price,
    transaction_id,
    category: given.category ?? null,
    tags: JSON.stringify([...new Set(given.tags)]),
    spent_on: spentOn,
    notes: given.notes || null,
    external_id: given.externalId ?? null,
    created_at_ms: nowMs,
  };
  await checkExternalId(unit, { ...row, number: -1 });
  const added = await insertExpense.first(session, row);
  if (!added) throw takenExternalId();
  const whole = { ...row, number: added.number, budget_id: budget.id, updated_at_ms: nowMs, version: 1 };
  await insertTags(unit, whole);
  await indexExpense(session, whole);
  await addSpending(unit, budget, { day: spentOn, minor, expenses: 1 });
  const expense = toExpense(whole);
  if (!isQuiet) await notifyExpense(unit, 'created', { expense, budget });
  return expense;
}

export async function getExpense({ db }: Context, { owner }: Caller, id: string): Promise<Expense> {
  return toExpense(await requireExpense(db, owner, id));
}

/** Changes the given fields. `versions` are those that the caller expects. */
export function updateExpense(
  core: Context,
  caller: Caller,
  id: string,
  { versions, ...given }: ExpensePatch & { readonly versions?: Versions },
): Promise<Expense> {
  checkDays(given);
  return runCommand(core, caller, async (unit) => {
    const { session, owner, nowMs } = unit;
    const before = await requireExpense(session, owner, id);
    checkVersion(before.version, versions);
    const oldBudget = await requireBudget(session, owner, before.budget_id);
    const { budgetId = before.budget_id } = given;
    const budget = budgetId === oldBudget.id ? oldBudget : await requireBudget(session, owner, budgetId);
    const changed = changedRow(before, budget, given);
    await checkExternalId(unit, changed);
    const transaction_id = await correctLedger(unit, budget, { before, changed });
    const row = { ...changed, transaction_id, updated_at_ms: nowMs, version: before.version + 1 };
    await updateExpenseRow.run(session, row);
    if (row.tags !== before.tags) {
      await deleteTags.run(session, { owner, expense: row.number });
      await insertTags(unit, row);
    }
    await indexExpense(session, row);
    await moveSpending(unit, { before, oldBudget, row, budget });
    const expense = toExpense(row);
    await notifyExpense(unit, 'updated', { expense, budget });
    await checkThresholds(unit, budget, [row.spent_on, before.spent_on]);
    if (budget !== oldBudget) await checkThresholds(unit, oldBudget, [before.spent_on]);
    return expense;
  });
}

/** Deletes an expense and reverses its debit. */
export function deleteExpense(
  core: Context,
  caller: Caller,
  id: string,
  versions?: Versions,
): Promise<{ id: string; message: string }> {
  return runCommand(core, caller, async (unit) => {
    const { session, owner } = unit;
    const row = await requireExpense(session, owner, id);
    checkVersion(row.version, versions);
    const budget = await requireBudget(session, owner, row.budget_id);
    await tryReverse(unit, row.transaction_id);
    await deleteExpenseRow.run(session, { owner, number: row.number });
    await addSpending(unit, budget, { day: row.spent_on, minor: -row.amount_minor, expenses: -1 });
    await notifyExpense(unit, 'deleted', { expense: toExpense(row), budget });
    await checkThresholds(unit, budget, [row.spent_on]);
    return { message: 'Expense deleted', id };
  });
}

/** The caller's own expense. Throws `not_found` for any other. */
export async function requireExpense(
  session: Session<Tables>,
  owner: number,
  id: string,
): Promise<ExpenseWithBudget> {
  const row = await expenseById.first(session, { owner, id });
  if (!row) throw notFound('expense', id);
  return row;
}

/** Throws `validation_failed` for a day that no budget has. */
function checkDays({ spentOn, rateDate }: Pick<ExpensePatch, 'spentOn' | 'rateDate'>): void {
  const problem = 'must be a date from 1000 to 2999';
  if (spentOn !== undefined && !isDay(spentOn)) throw invalid({ spentOn: problem });
  if (rateDate !== undefined && !isDay(rateDate)) throw invalid({ rateDate: problem });
}

function changedRow(before: ExpenseWithBudget, budget: BudgetRow, given: ExpensePatch): ExpenseWithBudget {
  const spent_on = given.spentOn ?? before.spent_on;
  return {
    ...before,
    ...newPrice(before, budget, { ...given, spentOn: spent_on }),
    budget: budget.number,
    budget_id: budget.id,
    description: given.description ?? before.description,
    category: given.category === undefined ? before.category : given.category,
    tags: given.tags ? JSON.stringify([...new Set(given.tags)]) : before.tags,
    spent_on,
    notes: given.notes === undefined ? before.notes : given.notes || null,
    external_id: given.externalId === undefined ? before.external_id : given.externalId,
  };
}

/** Recomputes the price if amount, currency or rate changes. */
function newPrice(
  before: ExpenseRow,
  budget: BudgetRow,
  { amount, currency, rate, rateDate, spentOn }: ExpensePatch & { readonly spentOn: string },
): Price {
  const isSame = [amount, currency, rate, rateDate].every((value) => value === undefined);
  if (isSame && budget.currency === before.currency) return before;
  const paidMinor = before.original_amount_minor ?? before.amount_minor;
  const paidCurrency = before.original_currency ?? before.currency;
  return priceIn(budget.currency, {
    amount: amount ?? exactText(paidMinor, paidCurrency),
    currency: currency ?? paidCurrency,
    rate: rate ?? before.rate ?? undefined,
    rateDate: rateDate ?? (rate === undefined ? (before.rate_date ?? spentOn) : spentOn),
  });
}

/** The amount without zeros at the end, so that it also fits a currency with fewer digits. */
function exactText(minor: number, currency: string): string {
  return decimalText(minor, currency).replace(/\.0+$/, '');
}

async function checkExternalId(
  { session, owner }: AccountTransaction,
  { budget, external_id, number }: Pick<ExpenseRow, 'budget' | 'external_id' | 'number'>,
): Promise<void> {
  if (external_id === null) return;
  const place = { owner, budget, externalId: external_id, except: number };
  if (await expenseWithExternalId.first(session, place)) throw takenExternalId();
}

/** The debit that is in force: a new one after a reversal, if amount or budget have changed. */
async function correctLedger(
  unit: AccountTransaction,
  budget: BudgetRow,
  { before, changed }: { before: ExpenseRow; changed: ExpenseRow },
): Promise<string> {
  const { id, description, amount_minor: minor } = changed;
  if (minor === before.amount_minor && changed.budget === before.budget) return before.transaction_id;
  await tryReverse(unit, before.transaction_id);
  return (await debit(unit, budget, { id, description, minor })).id;
}

function debit(
  unit: AccountTransaction,
  { id: budgetId, currency }: BudgetRow,
  { id: expenseId, description, minor }: { id: string; description: string; minor: number },
) {
  return post(unit, { type: 'debit', description, amountMinor: minor, currency, budgetId, expenseId });
}

async function moveSpending(
  unit: AccountTransaction,
  {
    before,
    oldBudget,
    row,
    budget,
  }: Record<'before' | 'row', ExpenseRow> & Record<'oldBudget' | 'budget', BudgetRow>,
): Promise<void> {
  const isSame = budget === oldBudget && row.spent_on === before.spent_on;
  if (isSame && row.amount_minor === before.amount_minor) return;
  await addSpending(unit, oldBudget, { day: before.spent_on, minor: -before.amount_minor, expenses: -1 });
  await addSpending(unit, budget, { day: row.spent_on, minor: row.amount_minor, expenses: 1 });
}

async function insertTags(
  { session, owner }: AccountTransaction,
  { tags, number: expense }: Pick<ExpenseRow, 'tags' | 'number'>,
): Promise<void> {
  if (tags === '[]') return;
  for (const tag of JSON.parse(tags) as string[]) await insertTag.run(session, { owner, tag, expense });
}

async function notifyExpense(
  unit: AccountTransaction,
  what: 'created' | 'updated' | 'deleted',
  { expense, budget }: { expense: Expense; budget: BudgetRow },
): Promise<void> {
  const { description, amountMinor, currency } = expense;
  await notify(unit, {
    type: `expense.${what}`,
    title: `Expense ${what}`,
    message: `${description} (${decimalText(amountMinor, currency)} ${currency}) was ${what} in ${budget.name}.`,
    data: expense,
  });
}

function takenExternalId(): AppError {
  return new AppError('conflict', 'The budget has another expense with this externalId.', {
    fields: { externalId: 'is already used in this budget' },
  });
}
