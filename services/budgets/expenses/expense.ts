import { isoTime, type Static, Type } from '@octavo/core';
import { toMajor } from '@octavo/documents/values';
import {
  Amount,
  AmountInput,
  Currency,
  Day,
  Id,
  Instant,
  Minor,
  nullable,
  Reference,
  text,
} from '../edges/schemas.ts';
import type { ExpenseRow } from '../store/tables.ts';

const original = 'Amount paid, if it was in another currency than the budget';

export const Expense = Type.Object(
  {
    id: Id,
    budgetId: Id,
    description: Type.String({ examples: ['Coffee'] }),
    amount: Amount,
    amountMinor: Minor,
    currency: Currency,
    category: nullable(Type.String({ examples: ['Food'] })),
    tags: Type.Array(Type.String(), { examples: [['work']] }),
    spentOn: Day,
    notes: nullable(Type.String()),
    externalId: nullable(Type.String()),
    originalAmount: nullable(Type.Number({ description: original })),
    originalAmountMinor: nullable(Minor),
    originalCurrency: nullable(Currency),
    rate: nullable(
      Type.String({
        description: "Exchange rate: units of the budget's currency for one unit of the paid currency",
      }),
    ),
    rateDate: nullable(Day),
    createdAt: Instant,
    updatedAt: Instant,
    version: Type.Integer({ examples: [1] }),
  },
  { title: 'Expense' },
);
export type Expense = Static<typeof Expense>;

const fields = {
  description: text(500, { examples: ['Coffee'] }),
  amount: AmountInput,
  currency: Type.Optional(
    Type.String({ ...Currency, description: 'Currency of the budget by default; another one needs a rate' }),
  ),
  rate: Type.Optional(
    Type.Union([Type.Number(), Type.String({ maxLength: 40 })], {
      description:
        "Exchange rate: units of the budget's currency for one unit of this currency; a decimal string or a number",
      'x-problem': 'must be a number, such as 1.0825',
      'x-exact': true,
      examples: ['1.0825'],
    }),
  ),
  rateDate: Type.Optional(Day),
  category: Type.Optional(nullable(text(100, { examples: ['Food'] }))),
  tags: Type.Optional(Type.Array(text(50), { maxItems: 20, examples: [['work']] })),
  spentOn: Type.Optional(Type.String({ ...Day, description: 'Today by default' })),
  notes: Type.Optional(nullable(Type.String({ maxLength: 2_000, format: 'text' }))),
  externalId: Type.Optional(nullable(text(255))),
};

export const ExpenseInput = Type.Object({ budgetId: Reference, ...fields }, { title: 'ExpenseInput' });
export type ExpenseInput = Static<typeof ExpenseInput>;

export const ExpensePatch = Type.Object(
  {
    ...fields,
    budgetId: Type.Optional(Reference),
    description: Type.Optional(fields.description),
    amount: Type.Optional(fields.amount),
  },
  { title: 'ExpensePatch', description: 'Fields that are left out stay unchanged' },
);
export type ExpensePatch = Static<typeof ExpensePatch>;

/** An expense of the database, with the id of its budget. */
export type ExpenseWithBudget = ExpenseRow & { readonly budget_id: string };

export function toExpense(row: ExpenseWithBudget): Expense {
  const { currency, original_amount_minor: originalMinor, original_currency: originalCurrency } = row;
  const isForeign = originalMinor !== null && originalCurrency !== null;
  return {
    id: row.id,
    budgetId: row.budget_id,
    description: row.description,
    amount: toMajor(row.amount_minor, currency),
    amountMinor: row.amount_minor,
    currency,
    category: row.category,
    tags: row.tags === '[]' ? [] : JSON.parse(row.tags),
    spentOn: row.spent_on,
    notes: row.notes,
    externalId: row.external_id,
    originalAmount: isForeign ? toMajor(originalMinor, originalCurrency) : null,
    originalAmountMinor: originalMinor,
    originalCurrency,
    rate: row.rate,
    rateDate: row.rate_date,
    createdAt: isoTime(row.created_at_ms),
    updatedAt: isoTime(row.updated_at_ms),
    version: row.version,
  };
}
