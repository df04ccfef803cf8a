import { AppError, isoDay, newOrderedId } from '@octavo/core';
import { decimalText } from '@octavo/documents/values';
import { checkVersion, type Versions } from '@octavo/web/rest';
import {
  accessTo,
  addSpending,
  budgetByNumber,
  checkThresholds,
  idOfBudget,
  unassignedIn,
} from '../budgets/index.ts';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { createParser, invalid } from '../edges/schema-parser.ts';
import { post, side, tryReverse } from '../ledger/index.ts';
import { isDay } from '../money/periods.ts';
import { type News, notify, notifyMembers } from '../notifications/index.ts';
import { indexExpense } from '../store/expense-search-index.ts';
import type { BudgetRow, ExpenseRow } from '../store/tables.ts';
import {
  type Expense,
  ExpenseInput,
  ExpensePatch,
  type ExpenseWithBudget,
  kindOf,
  toExpense,
} from './expense.ts';
import { expenseToChange, readableExpense } from './find.ts';
import { type Price, priceIn } from './price.ts';
import {
  deleteExpenseRow,
  deleteTags,
  expenseWithExternalId,
  insertExpense,
  insertOfflineId,
  insertTag,
  updateExpenseRow,
} from './store.ts';

/** Begins the external id of an expense that was typed without a network; the id that its device gave it follows. */
export const offlinePrefix = 'offline:';

/** Parses input that does not come through a route with the schema. Throws `validation_failed`. */
export const parseExpenseInput = createParser(ExpenseInput);
export const parseExpensePatch = createParser(ExpensePatch);

/** Adds an expense: its row, the debit in the ledger, the index, the notification and what follows from it, all or nothing. */
export function createExpense(context: Context, caller: Caller, given: ExpenseInput): Promise<Expense> {
  checkDays(given);
  return runCommand(context, caller, async (transaction) => {
    const budget = await budgetFor(transaction, given.budgetId ?? null, given);
    const expense = await addExpense(transaction, budget, given);
    await checkThresholds(transaction, budget, [expense.spentOn]);
    return expense;
  });
}

/** Adds an expense to a budget in the caller's transaction. The caller checks the thresholds afterwards, once for several expenses. */
export async function addExpense(
  transaction: AccountTransaction,
  budget: BudgetRow,
  given: Omit<ExpenseInput, 'budgetId'>,
): Promise<Expense> {
  const { owner, actor, nowMs } = transaction;
  const { currency = budget.currency, spentOn = isoDay(nowMs) } = given;
  const { amount, rate, rateDate = spentOn, kind = 'expense' } = given;
  const price = priceIn(budget.currency, { amount, currency, rate, rateDate, kind });
  await takeOfflineId(transaction, given.externalId);
  const { description } = given;
  const id = newOrderedId();
  const minor = price.amount_minor;
  const { id: transaction_id } = await record(transaction, budget, { id, description, minor });
  const row = {
    id,
    owner,
    budget: budget.number,
    description,
    ...price,
    transaction_id,
    added_by: actor === owner ? null : actor,
    category: given.category ?? null,
    tags: JSON.stringify([...new Set(given.tags)]),
    spent_on: spentOn,
    notes: given.notes || null,
    external_id: given.externalId ?? null,
    created_at_ms: nowMs,
  };
  return putExpense(transaction, budget, row);
}

/** Adds the row of an expense whose transaction is in the ledger already. Throws `conflict` for an external id that is taken. */
export async function putExpense(
  transaction: AccountTransaction,
  budget: BudgetRow,
  row: NewRow,
): Promise<Expense> {
  const { session, nowMs } = transaction;
  await checkExternalId(transaction, { ...row, number: -1 });
  const added = await insertExpense.first(session, row);
  if (!added) throw takenExternalId();
  const whole = {
    ...row,
    ...added,
    budget_id: idOfBudget(budget),
    updated_at_ms: nowMs,
    version: 1,
  };
  // They do not depend on one another, so PostgreSQL gets them in one round trip.
  await Promise.all([
    insertTags(transaction, whole),
    indexExpense(session, whole),
    addSpending(transaction, budget, { day: row.spent_on, minor: row.amount_minor, expenses: 1 }),
  ]);
  const expense = toExpense(whole);
  await notifyExpense(transaction, 'created', { expense, budget });
  return expense;
}

type NewRow = Parameters<typeof insertExpense.first>[1];

/** An expense of the caller, or one in a budget that is shared with it. Throws `not_found` for any other. */
export async function getExpense({ db }: Context, { owner }: Caller, id: string): Promise<Expense> {
  return toExpense(await readableExpense(db, owner, id));
}

/** Changes the given fields. `versions` are those that the caller expects. */
export function updateExpense(
  context: Context,
  caller: Caller,
  id: string,
  { versions, ...given }: ExpensePatch & { readonly versions?: Versions },
): Promise<Expense> {
  checkDays(given);
  return runCommand(context, caller, async (transaction) => {
    const before = await expenseToChange(transaction, id);
    checkVersion(before.version, versions);
    const { expense, touched } = await changeExpense(transaction, before, given);
    for (const { budget, days } of touched) await checkThresholds(transaction, budget, days);
    return expense;
  });
}

/** A budget whose spending has changed on some days. The caller checks its thresholds. */
export interface Touched {
  readonly budget: BudgetRow;
  readonly days: readonly string[];
}

/** Changes an expense in the caller's transaction. Throws before anything is written. */
export async function changeExpense(
  transaction: AccountTransaction,
  before: ExpenseWithBudget,
  given: ExpensePatch,
): Promise<{ expense: Expense; touched: Touched[] }> {
  const oldBudget = await budgetOf(transaction, before);
  const { budgetId = before.budget_id, currency = before.original_currency ?? before.currency } = given;
  const found = await budgetFor(transaction, budgetId, {
    currency,
    tags: given.tags ?? JSON.parse(before.tags),
  });
  const budget = found.number === oldBudget.number ? oldBudget : found;
  const changed = changedRow(before, budget, given);
  if (changed.external_id !== before.external_id) await takeOfflineId(transaction, changed.external_id);
  await checkExternalId(transaction, changed);
  return writeExpense(transaction, { before, oldBudget, changed, budget });
}

/** Writes a changed row, and what follows from it in the ledger, the index and the spending. */
export async function writeExpense(
  transaction: AccountTransaction,
  {
    before,
    oldBudget,
    changed,
    budget,
  }: Record<'before' | 'changed', ExpenseWithBudget> & Record<'oldBudget' | 'budget', BudgetRow>,
): Promise<{ expense: Expense; touched: Touched[] }> {
  const { session, owner, nowMs } = transaction;
  const transaction_id = await correctLedger(transaction, budget, { before, changed });
  const row = { ...changed, transaction_id, updated_at_ms: nowMs, version: before.version + 1 };
  await updateExpenseRow.run(session, row);
  if (row.tags !== before.tags) {
    await deleteTags.run(session, { owner, expense: row.number });
    await insertTags(transaction, row);
  }
  await indexExpense(session, row);
  await moveSpending(transaction, { before, oldBudget, row, budget });
  const expense = toExpense(row);
  // Members of the old budget may not see the new one.
  if (budget !== oldBudget && oldBudget.shared === 1)
    await notifyMembers(
      transaction,
      newsOf('deleted', { expense: toExpense(before), budget: oldBudget }),
      oldBudget,
    );
  await notifyExpense(transaction, 'updated', { expense, budget });
  const touched = [{ budget, days: [row.spent_on, before.spent_on] }];
  if (budget !== oldBudget) touched.push({ budget: oldBudget, days: [before.spent_on] });
  return { expense, touched };
}

/** Deletes an expense and reverses its transaction. */
export function deleteExpense(
  context: Context,
  caller: Caller,
  id: string,
  versions?: Versions,
): Promise<{ id: string; message: string }> {
  return runCommand(context, caller, async (transaction) => {
    const row = await expenseToChange(transaction, id);
    checkVersion(row.version, versions);
    const { budget, days } = await removeExpense(transaction, row);
    await checkThresholds(transaction, budget, days);
    return { message: 'Expense deleted', id };
  });
}

/** Deletes an expense in the caller's transaction. */
export async function removeExpense(
  transaction: AccountTransaction,
  row: ExpenseWithBudget,
): Promise<Touched> {
  const { session, owner } = transaction;
  const budget = await budgetOf(transaction, row);
  await tryReverse(transaction, row.transaction_id);
  await deleteExpenseRow.run(session, { owner, number: row.number });
  await addSpending(transaction, budget, { day: row.spent_on, minor: -row.amount_minor, expenses: -1 });
  await notifyExpense(transaction, 'deleted', { expense: toExpense(row), budget });
  return { budget, days: [row.spent_on] };
}

/** The budget with an id; without one, that of unassigned expenses or transfers in a currency, which is USD by default. */
async function budgetFor(
  transaction: AccountTransaction,
  id: string | null,
  { currency = 'USD', tags = [] }: Pick<ExpenseInput, 'currency' | 'tags'>,
): Promise<BudgetRow> {
  if (id !== null) return accessTo(transaction, id, 'write');
  if (transaction.actor !== transaction.owner)
    throw invalid({ budgetId: 'must name a budget, since the expense is in one that is shared with you' });
  return unassignedIn(transaction, currency, tags);
}

export async function budgetOf({ session, owner }: AccountTransaction, row: ExpenseRow): Promise<BudgetRow> {
  return (await budgetByNumber.first(session, { owner, number: row.budget })) as BudgetRow;
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
    budget_id: idOfBudget(budget),
    description: given.description ?? before.description,
    category: given.category === undefined ? before.category : given.category,
    tags: given.tags ? JSON.stringify([...new Set(given.tags)]) : before.tags,
    spent_on,
    notes: given.notes === undefined ? before.notes : given.notes || null,
    external_id: given.externalId === undefined ? before.external_id : given.externalId,
  };
}

/** Recomputes the price if kind, amount, currency or rate changes. */
function newPrice(
  before: ExpenseRow,
  budget: BudgetRow,
  { kind, amount, currency, rate, rateDate, spentOn }: ExpensePatch & { readonly spentOn: string },
): Price {
  const isSame = [kind, amount, currency, rate, rateDate].every((value) => value === undefined);
  if (isSame && budget.currency === before.currency) return before;
  const paidMinor = before.original_amount_minor ?? Math.abs(before.amount_minor);
  const paidCurrency = before.original_currency ?? before.currency;
  return priceIn(budget.currency, {
    kind: kind ?? kindOf(before),
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

/** Takes the id that a device gave an expense: it is unique for its owner for good. Throws `conflict` if it was used, in any budget. */
async function takeOfflineId(
  { session, owner }: AccountTransaction,
  externalId: string | null | undefined,
): Promise<void> {
  if (!externalId?.startsWith(offlinePrefix)) return;
  const { numInsertedOrUpdatedRows = 0n } = await insertOfflineId(session, { owner, externalId });
  if (numInsertedOrUpdatedRows === 0n) throw takenExternalId('is already used');
}

/** The transaction that is in force: a new one after a reversal, if amount or budget have changed. */
async function correctLedger(
  transaction: AccountTransaction,
  budget: BudgetRow,
  { before, changed }: { before: ExpenseRow; changed: ExpenseRow },
): Promise<string> {
  const { id, description, amount_minor: minor } = changed;
  if (minor === before.amount_minor && changed.budget === before.budget) return before.transaction_id;
  await tryReverse(transaction, before.transaction_id);
  return (await record(transaction, budget, { id, description, minor })).id;
}

/** Records an expense in the ledger: a debit, or the credit of a refund. */
export function record(
  transaction: AccountTransaction,
  budget: BudgetRow,
  { id: expenseId, description, minor }: { id: string; description: string; minor: number },
) {
  const { currency } = budget;
  const budgetId = idOfBudget(budget);
  return post(transaction, { ...side(minor), description, currency, budgetId, expenseId });
}

async function moveSpending(
  transaction: AccountTransaction,
  {
    before,
    oldBudget,
    row,
    budget,
  }: Record<'before' | 'row', ExpenseRow> & Record<'oldBudget' | 'budget', BudgetRow>,
): Promise<void> {
  const isSame = budget === oldBudget && row.spent_on === before.spent_on;
  if (isSame && row.amount_minor === before.amount_minor) return;
  await addSpending(transaction, oldBudget, {
    day: before.spent_on,
    minor: -before.amount_minor,
    expenses: -1,
  });
  await addSpending(transaction, budget, { day: row.spent_on, minor: row.amount_minor, expenses: 1 });
}

async function insertTags(
  { session, owner }: AccountTransaction,
  { tags, number: expense }: Pick<ExpenseRow, 'tags' | 'number'>,
): Promise<void> {
  if (tags === '[]') return;
  const names = JSON.parse(tags) as string[];
  await Promise.all(names.map((tag) => insertTag.run(session, { owner, tag, expense })));
}

function notifyExpense(
  transaction: AccountTransaction,
  what: 'created' | 'updated' | 'deleted',
  { expense, budget }: { expense: Expense; budget: BudgetRow },
): Promise<void> {
  return notify(transaction, newsOf(what, { expense, budget }), budget);
}

function newsOf(
  what: 'created' | 'updated' | 'deleted',
  { expense, budget }: { expense: Expense; budget: BudgetRow },
): News {
  const { description, amountMinor, currency, kind } = expense;
  return {
    type: `expense.${what}`,
    title: `${kind === 'refund' ? 'Refund' : 'Expense'} ${what}`,
    message: `${description} (${decimalText(amountMinor, currency)} ${currency}) was ${what} in ${budget.name}.`,
    data: expense,
  };
}

function takenExternalId(problem = 'is already used in this budget'): AppError {
  return new AppError('conflict', 'There is another expense with this externalId.', {
    fields: { externalId: problem },
  });
}
