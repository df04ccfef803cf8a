import { AppError } from '@octavo/core';
import { isCurrency, parseMoney } from '@octavo/documents/values';
import type { PageRoutes } from '@octavo/web/pages';
import { getBudget, transferChoice } from '../budgets/index.ts';
import { usualCurrency } from '../expenses/index.ts';
import { pageRoutes } from '../routes.ts';
import { type PageParts, type PageSession, parameter, typedAmount, type Visitor } from './page-context.ts';
import { money } from './views.ts';

/** Longest amount that is read while it is typed. */
const lengthMax = 200;

/** Adds the address that tells how an amount of a form is understood: `{ text }` or, with the rule, `{ problem }`. */
export function addAmountReading(routes: PageRoutes<PageSession>, parts: PageParts): void {
  routes.get(pageRoutes.readAmount, { access: parts.visitors }, async (visitor) =>
    visitor.visit.reply
      .type('application/json')
      .header('cache-control', 'no-store')
      .send(JSON.stringify(await reading(visitor, parts))),
  );
}

async function reading(visitor: Visitor, parts: PageParts): Promise<{ text: string } | { problem: string }> {
  const amount = parameter(visitor.visit, 'amount');
  if (amount.length > lengthMax) return { problem: `Amount must be at most ${lengthMax} characters.` };
  try {
    const currency = await currencyOf(visitor, parts);
    const parsed = parseMoney(typedAmount(amount, { field: 'amount', currency }), currency);
    return parsed.problem === undefined
      ? { text: money(parsed.minor, currency) }
      : { problem: `Amount ${parsed.problem}.` };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
    return { problem: `Amount ${error.fields?.amount}.` };
  }
}

/** The currency that was picked in the form, else that of its budget, else the usual one of the account. */
async function currencyOf({ visit, caller }: Visitor, { context }: PageParts): Promise<string> {
  const [currency, budget] = [parameter(visit, 'currency'), parameter(visit, 'budgetId')];
  if (isCurrency(currency)) return currency;
  return budget === '' || budget === transferChoice.value
    ? usualCurrency(context, caller)
    : (await getBudget(context, caller, budget)).currency;
}
