import { AppError } from '@octavo/core';
import { digitsOf, toMinor } from '@octavo/documents/values';
import {
  type Budget as BudgetMessage,
  ExpenseKind,
  type Expense as ExpenseMessage,
} from '@octavo/protocols/budget/v1/budget_service';
import type { DateMessage } from '@octavo/protocols/google/type/date';
import type { Money } from '@octavo/protocols/google/type/money';
import type { Budget } from '../budgets/index.ts';
import { invalid } from '../edges/schema-parser.ts';
import type { Expense } from '../expenses/index.ts';
import { isDay } from '../money/periods.ts';

const nanosPerUnit = 1_000_000_000;

export function toBudgetMessage(budget: Budget): BudgetMessage {
  const { id, name, currency, limitMinor, spentMinor, createdAt, updatedAt, version } = budget;
  return {
    id,
    name,
    limit: toMoney(limitMinor, currency),
    spent: toMoney(spentMinor, currency),
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    etag: `v${version}`,
  };
}

export function toExpenseMessage(expense: Expense): ExpenseMessage {
  const { id, kind, budgetId, description, amountMinor, currency, category } = expense;
  const { spentOn, addedBy, createdAt } = expense;
  const [year = 0, month = 0, day = 0] = spentOn.split('-').map(Number);
  return {
    id,
    budgetId: budgetId ?? '',
    kind: kind === 'refund' ? ExpenseKind.EXPENSE_KIND_REFUND : ExpenseKind.EXPENSE_KIND_EXPENSE,
    description,
    amount: toMoney(amountMinor, currency),
    category: category ?? '',
    spentOn: { year, month, day },
    createdAt: new Date(createdAt),
    addedBy: addedBy ? { id: addedBy.id, username: addedBy.username ?? '' } : undefined,
  };
}

/** The kind of an expense: an expense, unless it says otherwise. Throws `validation_failed` for one that this version does not know. */
export function kindOfMessage(kind: ExpenseKind): 'expense' | 'refund' {
  if (kind === ExpenseKind.EXPENSE_KIND_REFUND) return 'refund';
  if (kind === ExpenseKind.EXPENSE_KIND_EXPENSE || kind === ExpenseKind.EXPENSE_KIND_UNSPECIFIED)
    return 'expense';
  throw invalid({ 'expense.kind': 'must be EXPENSE_KIND_EXPENSE or EXPENSE_KIND_REFUND' });
}

function toMoney(given: number | bigint, currencyCode: string): Money {
  const minor = BigInt(given);
  const scale = 10n ** BigInt(digitsOf(currencyCode));
  const nanos = Number((minor % scale) * (BigInt(nanosPerUnit) / scale));
  // The generated type is a number, and the writer of int64 takes a bigint too.
  const units = minor / scale;
  return { currencyCode, units: toMinor(units) as number, nanos };
}

/** An amount as a decimal text. Throws `validation_failed` if the parts do not fit together, as google.type.Money requires. */
export function decimalOf(money: Money | undefined, field: string): string {
  if (!money) throw invalid({ [field]: 'is required' });
  const { units, nanos } = money;
  const isWhole = Math.abs(nanos) < nanosPerUnit && Number.isSafeInteger(units);
  if (!isWhole || (units > 0 && nanos < 0) || (units < 0 && nanos > 0)) {
    throw invalid({
      [field]: 'must have nanos of the same sign as units, between -999,999,999 and +999,999,999',
    });
  }
  const fraction = String(Math.abs(nanos)).padStart(9, '0').replace(/0+$/, '');
  const sign = units < 0 || nanos < 0 ? '-' : '';
  return `${sign}${Math.abs(units)}${fraction && `.${fraction}`}`;
}

/** A day; undefined if the message is absent. */
export function dayOfMessage(date: DateMessage | undefined, field: string): string | undefined {
  if (!date) return undefined;
  const { year, month, day } = date;
  const text = [
    String(year).padStart(4, '0'),
    String(month).padStart(2, '0'),
    String(day).padStart(2, '0'),
  ].join('-');
  if (!isDay(text)) throw invalid({ [field]: 'must be a whole date with year, month and day' });
  return text;
}

/** The version of an entity tag; undefined without one. */
export function versionsOf(etag: string): readonly number[] | undefined {
  if (etag === '') return undefined;
  const version = /^v(\d{1,15})$/.exec(etag)?.[1];
  return [version === undefined ? -1 : Number(version)];
}

/** Throws `invalid_input` for a field that clients get wrong outside the resource. */
export function refuseArgument(field: string, problem: string): never {
  throw new AppError('invalid_input', `${field} ${problem}`, { fields: { [field]: problem } });
}
