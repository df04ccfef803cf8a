import { AppError, notFound } from '@octavo/core';
import { type DecimalInput, isCurrency, parseMoney } from '@octavo/documents/values';
import type { Page, PageRequest } from '@octavo/web/rest';
import { requireBudget } from '../budgets/index.ts';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import { replaceDebit, requireExpense } from '../expenses/index.ts';
import {
  findTransaction,
  moveIncome,
  post,
  reverse,
  type Transaction,
  type TransactionInput,
  type TransactionPatch,
  transactionPage,
} from '../ledger/index.ts';

/** Transactions, newest first. */
export function listTransactions(
  { db }: Context,
  { owner }: Caller,
  request: PageRequest,
): Promise<Page<Transaction>> {
  return db.read((session) => transactionPage(db, session, owner, request));
}

/** Lists the transactions of a user by id, who must be the caller. */
export function listTransactionsOf(
  context: Context,
  caller: Caller,
  userId: string,
  request: PageRequest,
): Promise<Page<Transaction>> {
  if (userId !== caller.userId) throw notFound('user', userId);
  return listTransactions(context, caller, request);
}

export async function getTransaction({ db }: Context, { owner }: Caller, id: string): Promise<Transaction> {
  const found = await db.read((session) => findTransaction(session, owner, id));
  if (!found) throw notFound('transaction', id);
  return found;
}

/** Adds a manual transaction. It does not change the spending of a budget, which is the sum of its expenses. */
export function createTransaction(
  context: Context,
  caller: Caller,
  given: TransactionInput,
): Promise<Transaction> {
  return runCommand(context, caller, async (transaction) => {
    const { type, description, amount } = given;
    const place = await placeOf(transaction, given);
    return post(transaction, { type, description, amountMinor: minorOf(amount, place.currency), ...place });
  });
}

/** Replaces a transaction: a reversal and the corrected one, which is returned. */
export function correctTransaction(
  context: Context,
  caller: Caller,
  id: string,
  { description, amount }: TransactionPatch,
): Promise<Transaction> {
  return runCommand(context, caller, async (transaction) => {
    const before = await findTransaction(transaction.session, transaction.owner, id);
    if (!before) throw notFound('transaction', id);
    const { type, currency, budgetId, expenseId, orderId } = before;
    if (type === 'reversal') throw new AppError('conflict', 'A reversal cannot be corrected.');
    const amountMinor = amount === undefined ? before.amountMinor : minorOf(amount, currency);
    await reverse(transaction, id);
    const posting = { type, description: description ?? before.description, amountMinor, currency };
    const corrected = await post(transaction, { ...posting, budgetId, expenseId, orderId });
    const { session, owner } = transaction;
    await moveIncome(session, { owner, from: id, to: corrected.id });
    if (expenseId !== null) {
      await replaceDebit.run(session, { owner, id: expenseId, before: id, transactionId: corrected.id });
    }
    return corrected;
  });
}

/** Cancels a transaction by a reversal, which is returned. */
export function reverseTransaction(context: Context, caller: Caller, id: string): Promise<Transaction> {
  return runCommand(context, caller, (transaction) => reverse(transaction, id));
}

/** Budget, expense and currency, which must fit each other. */
async function placeOf({ session, owner }: AccountTransaction, given: TransactionInput) {
  const expense = given.expenseId ? await requireExpense(session, owner, given.expenseId) : undefined;
  const budgetId = given.budgetId ?? expense?.budget_id ?? null;
  const budget = budgetId === null ? undefined : await requireBudget(session, owner, budgetId);
  if (expense && expense.budget_id !== budgetId)
    throw invalid({ expenseId: 'must be an expense of the budget' });
  const own = budget?.currency ?? expense?.currency;
  const { currency = own ?? 'USD' } = given;
  if (!isCurrency(currency))
    throw invalid({ currency: 'must be the code of a currency (ISO 4217), such as USD' });
  if (own !== undefined && currency !== own)
    throw invalid({ currency: `must be ${own}, the currency of the ${budget ? 'budget' : 'expense'}` });
  return { budgetId, expenseId: expense?.id ?? null, currency };
}

function minorOf(amount: DecimalInput, currency: string): number {
  const parsed = parseMoney(amount, currency);
  if (parsed.problem !== undefined) throw invalid({ amount: parsed.problem });
  if (parsed.minor <= 0) throw invalid({ amount: 'must be more than 0' });
  return parsed.minor;
}
