import { readNumber } from '@octavo/documents/values';
import { getBudget, isTransfer, transferChoice, transferTag } from '../budgets/index.ts';
import type { Caller, Context } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import { readingOfReader, typedAmount, typedTags } from '../site/page-context.ts';
import { type Expense, type ExpensePatch, expenseFields } from './expense.ts';
import { createExpense, parseExpenseInput } from './expenses.ts';
import { usualCurrency } from './list.ts';

/** Fields of a form as typed. */
export type TypedFields = Readonly<Record<string, string | undefined>>;

const { tags: _tags, ...textFields } = expenseFields;

/** Adds an expense from the fields of a form. */
export async function createTypedExpense(
  context: Context,
  caller: Caller,
  fields: TypedFields,
): Promise<Expense> {
  const given = parseExpenseInput(inputOf(fields));
  const ofBudget = await currencyOf(context, caller, given.budgetId);
  const currency = given.currency ?? ofBudget ?? (await usualCurrency(context, caller));
  const price = typedPrice(given, currency);
  return createExpense(context, caller, { ...given, ...(ofBudget === undefined && { currency }), ...price });
}

/** The fields as a body of the API, without those that are empty. */
export function inputOf(fields: TypedFields): Record<string, unknown> {
  const isOwnTransfer = fields.budgetId === transferChoice.value;
  const texts = Object.keys(textFields).map((name) => [name, fields[name]?.trim() ?? ''] as const);
  const given = texts.filter(([name, text]) => text !== '' && !(isOwnTransfer && name === 'budgetId'));
  const tags = typedTags(fields.tags ?? '');
  return { ...Object.fromEntries(given), tags: isOwnTransfer ? [...tags, transferTag] : tags };
}

/** The value of the field for the budget of an expense, and the tags beside it: a transfer is one of the budgets to choose. */
export function placeInForm({ budgetId, tags }: Pick<Expense, 'budgetId' | 'tags'>): {
  readonly budgetId: string;
  readonly tags: readonly string[];
} {
  if (budgetId !== null || !isTransfer(tags)) return { budgetId: budgetId ?? '', tags };
  return { budgetId: transferChoice.value, tags: tags.filter((tag) => !isTransfer([tag])) };
}

/** The currency of a budget; undefined without one. */
export async function currencyOf(
  context: Context,
  caller: Caller,
  budgetId: string | null | undefined,
): Promise<string | undefined> {
  return budgetId ? (await getBudget(context, caller, budgetId)).currency : undefined;
}

/** The amount and the rate as typed. */
export function typedPrice<T extends ExpensePatch>(
  { amount, rate }: T,
  currency: string,
): Pick<T, 'amount' | 'rate'> {
  const read = typeof rate === 'string' ? readNumber(rate, readingOfReader()) : undefined;
  if (read?.problem !== undefined) throw invalid({ rate: read.problem });
  return {
    ...(amount !== undefined && { amount: typedAmount(amount, { field: 'amount', currency }) }),
    ...(read && { rate: read.text }),
  };
}
