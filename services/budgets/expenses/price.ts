import {
  convert,
  type DecimalInput,
  isCurrency,
  minorMax,
  parseDecimal,
  parseMoney,
  toMajor,
} from '@octavo/documents/values';
import { invalid } from '../edges/schema-parser.ts';
import type { ExpenseRow } from '../store/tables.ts';
import type { ExpenseKind } from './expense.ts';

/**
 * Price of an expense, in columns: in the currency of its budget, below 0 for a refund, and the original amount if that was in another
 * currency.
 */
export type Price = Pick<
  ExpenseRow,
  | 'amount_minor'
  | 'amount'
  | 'currency'
  | 'original_amount_minor'
  | 'original_currency'
  | 'rate'
  | 'rate_date'
>;

interface Paid {
  readonly amount: DecimalInput;
  readonly currency: string;
  readonly rate: DecimalInput | undefined;
  readonly rateDate: string;
  readonly kind: ExpenseKind;
}

const rateDigitsMax = 30;

/** The price in the currency of a budget. Throws `validation_failed`, also for another currency without a rate. */
export function priceIn(budgetCurrency: string, { amount, currency, rate, rateDate, kind }: Paid): Price {
  if (!isCurrency(currency))
    throw invalid({ currency: 'must be the code of a currency (ISO 4217), such as USD' });
  const parsed = parseMoney(amount, currency);
  if (parsed.problem !== undefined) throw invalid({ amount: parsed.problem });
  if (parsed.minor <= 0)
    throw invalid({
      amount: `must be more than 0${parsed.minor < 0 ? '. For money that comes back, choose Refund' : ''}`,
    });
  const sign = kind === 'refund' ? -1 : 1;
  if (currency === budgetCurrency)
    return { ...domestic(parsed.minor, currency), amount_minor: sign * parsed.minor };
  const { minor: originalMinor } = parsed;
  const factor = rate === undefined ? undefined : parseDecimal(rate);
  if (rate === undefined)
    throw invalid({ rate: `is required, because the budget is in ${budgetCurrency} and not in ${currency}` });
  if (!factor || factor.units <= 0n || factor.scale > rateDigitsMax)
    throw invalid({ rate: 'must be a number above 0, such as 1.0825' });
  const converted = convert({ minor: originalMinor, rate: factor, from: currency, to: budgetCurrency });
  if (converted <= 0n) throw invalid({ rate: `makes the amount 0 in ${budgetCurrency}` });
  if (converted > BigInt(minorMax)) throw invalid({ rate: 'makes the amount longer than 15 digits' });
  const minor = Number(converted);
  return {
    amount_minor: sign * minor,
    amount: toMajor(minor, budgetCurrency),
    currency: budgetCurrency,
    original_amount_minor: originalMinor,
    original_currency: currency,
    rate: String(rate),
    rate_date: rateDate,
  };
}

function domestic(minor: number, currency: string): Price {
  return {
    amount_minor: minor,
    amount: toMajor(minor, currency),
    currency,
    original_amount_minor: null,
    original_currency: null,
    rate: null,
    rate_date: null,
  };
}
