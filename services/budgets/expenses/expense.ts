import { allOptional, field, isoTime, type Static, Type, withoutLabels } from '@octavo/core';
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
  Person,
  Reference,
  text,
} from '../edges/schemas.ts';
import type { ExpenseRow } from '../store/tables.ts';

export const expenseKinds = ['expense', 'refund'] as const;
export type ExpenseKind = (typeof expenseKinds)[number];

const original = 'Amount paid, if it was in another currency than the budget';

export const Expense = Type.Object(
  {
    id: Id,
    budgetId: Type.Union([Id, Type.Null()], { description: 'Null while the expense is unassigned' }),
    kind: Type.Enum(expenseKinds, { description: 'A refund lowers the amount spent' }),
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
    addedBy: Type.Union([Person, Type.Null()], {
      default: null,
      description: 'Who added it; null once that account is erased',
    }),
    createdAt: Instant,
    updatedAt: Instant,
    version: Type.Integer({ examples: [1] }),
  },
  { title: 'Expense' },
);
export type Expense = Static<typeof Expense>;

/** The fields of an expense that people write, as those of budgets. */
export const expenseFields = {
  budgetId: Type.Optional(
    field(
      'Budget',
      nullable(Type.String({ ...Reference, description: 'Null, the default, for unassigned' })),
    ),
  ),
  kind: Type.Optional(
    field(
      'Kind',
      Type.Enum(expenseKinds, { description: 'expense by default; a refund lowers the amount spent' }),
    ),
  ),
  description: field('Description', text(500, { examples: ['Coffee'] })),
  amount: field('Amount', AmountInput),
  currency: Type.Optional(
    field(
      'Currency',
      Type.String({
        ...Currency,
        description:
          'Currency of the budget by default; another one needs a rate. USD by default without a budget',
      }),
    ),
  ),
  rate: Type.Optional(
    Type.Union([Type.Number(), Type.String({ maxLength: 40 })], {
      label: 'Exchange rate',
      description:
        "Exchange rate: units of the budget's currency for one unit of this currency; a decimal string or a number",
      'x-problem': 'must be a number, such as 1.0825',
      'x-exact': true,
      examples: ['1.0825'],
    }),
  ),
  rateDate: Type.Optional(field('Day of the rate', Day)),
  category: Type.Optional(field('Category', nullable(text(100, { examples: ['Food'] })))),
  tags: Type.Optional(Type.Array(text(50), { label: 'Tags', maxItems: 20, examples: [['work']] })),
  spentOn: Type.Optional(field('Day', Type.String({ ...Day, description: 'Today by default' }))),
  notes: Type.Optional(field('Notes', nullable(Type.String({ maxLength: 2_000, format: 'text' })))),
  externalId: Type.Optional(field('ID at the bank', nullable(text(255)))),
};
const inputFields = withoutLabels(expenseFields);
const { budgetId, ...changed } = allOptional(inputFields);

export const ExpenseInput = Type.Object(inputFields, { title: 'ExpenseInput' });
export type ExpenseInput = Static<typeof ExpenseInput>;

export const ExpensePatch = Type.Object(
  { ...changed, budgetId },
  { title: 'ExpensePatch', description: 'Fields that are left out stay unchanged' },
);
export type ExpensePatch = Static<typeof ExpensePatch>;

/** An expense of the database, with the id of its budget; null while it is unassigned. */
export type ExpenseWithBudget = ExpenseRow & {
  readonly budget_id: string | null;
  /** Id and name of the account that added it; null once that is erased, and absent in rows that an older version stored. */
  readonly adder?: string | null;
};

export function toExpense(row: ExpenseWithBudget): Expense {
  const { currency, original_amount_minor: originalMinor, original_currency: originalCurrency } = row;
  const minor = Math.abs(row.amount_minor);
  const isForeign = originalMinor !== null && originalCurrency !== null;
  return {
    id: row.id,
    budgetId: row.budget_id,
    kind: kindOf(row),
    description: row.description,
    amount: toMajor(minor, currency),
    amountMinor: minor,
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
    addedBy: personIn(row.adder),
    createdAt: isoTime(row.created_at_ms),
    updatedAt: isoTime(row.updated_at_ms),
    version: row.version,
  };
}

const idLength = 36;

function personIn(adder: string | null | undefined): Person | null {
  return adder ? { id: adder.slice(0, idLength), username: adder.slice(idLength) || null } : null;
}

/** The kind of an expense: amounts of refunds are stored below 0, so that every sum counts them. */
export function kindOf({ amount_minor }: Pick<ExpenseRow, 'amount_minor'>): ExpenseKind {
  return amount_minor < 0 ? 'refund' : 'expense';
}
