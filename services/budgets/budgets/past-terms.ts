import { isoDay } from '@octavo/core';
import type { AccountTransaction } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import { addDays, parsePeriod, periodAt } from '../money/periods.ts';
import type { BudgetRow } from '../store/tables.ts';
import { termsOf } from './spending.ts';
import { deletePastTerms, insertPastTerms } from './terms/store.ts';
import { firstDayOf, periodOn, type Terms } from './terms/terms.ts';

/**
 * Keeps the terms of a budget for the periods that are over before they change. They change from the period with the name `from` on,
 * which is the current one by default. Throws `validation_failed` for a name that the changed budget does not have, or a later period.
 */
export async function keepPastTerms(
  { session, owner, nowMs }: AccountTransaction,
  budget: BudgetRow,
  {
    changed,
    from,
  }: { readonly changed: Terms & { readonly currency: string }; readonly from: string | undefined },
): Promise<void> {
  const today = isoDay(nowMs);
  const { period: kind, period_day } = changed;
  const named = from === undefined ? periodAt(kind, today, period_day) : parsePeriod(kind, from, period_day);
  if (!named) throw invalid({ from: periodExample(changed, today) });
  if ((named.from ?? '') > today) throw invalid({ from: 'must not be later than the current period' });
  const isSame = (['limit_minor', 'period', 'period_day', 'rollover'] as const).every(
    (name) => changed[name] === budget[name],
  );
  if (isSame && from === undefined) return;
  const spans = await termsOf(session, budget);
  // Amounts in another currency mean nothing for the periods before.
  const first =
    changed.currency === budget.currency ? firstDayOf(spans, changed, named.from ?? today) : undefined;
  const place = { owner, budget: budget.number };
  if (first === undefined) return deletePastTerms(session, { ...place, until_day: '' });
  const until_day = addDays(first, -1);
  const { limit_minor, period, period_day: day, rollover } = periodOn(spans, until_day).terms;
  await deletePastTerms(session, { ...place, until_day });
  await insertPastTerms(session, { ...place, until_day, limit_minor, period, period_day: day, rollover });
}

/** Problem with the name of a period. */
export function periodExample({ period, period_day }: Terms, today: string): string {
  return `must be the name of a period of this budget, such as ${periodAt(period, today, period_day).name}`;
}
