import { addDays, nextPeriod, type Period, parsePeriod, periodAt } from '../../money/periods.ts';
import type { BudgetRow, PastTermsRow } from '../../store/tables.ts';

/** The parts of a budget whose changes count from a period on. */
export type Terms = Pick<BudgetRow, 'limit_minor' | 'period' | 'period_day' | 'rollover'>;

/** Terms and the days on which they hold; the first ones have no beginning, the last ones no end. */
export interface TermsSpan {
  readonly terms: Terms;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** A period of a budget, with the terms that hold in it. */
export interface TermsPeriod {
  readonly terms: Terms;
  readonly period: Period;
}

/** The terms of a budget in the order of time. `past` are those that are over, oldest first. */
export function spansOf(budget: Terms, past: readonly PastTermsRow[]): TermsSpan[] {
  const fromOf = (index: number) => {
    const before = past[index - 1];
    return before && addDays(before.until_day, 1);
  };
  return [
    ...past.map((terms, index) => ({ terms, from: fromOf(index), to: terms.until_day })),
    { terms: budget, from: fromOf(past.length), to: undefined },
  ];
}

/** The period that a day is in. */
export function periodOn(spans: readonly TermsSpan[], day: string): TermsPeriod {
  const span = spans.find(({ to }) => to === undefined || day <= to) as TermsSpan;
  return { terms: span.terms, period: periodIn(span, day) };
}

/** The period with a name, the latest one if there are several. */
export function periodNamed(spans: readonly TermsSpan[], name: string): TermsPeriod | undefined {
  for (const span of spans.toReversed()) {
    const { period: kind, period_day } = span.terms;
    const named = parsePeriod(kind, name, period_day);
    if (!named) continue;
    if (named.from === null) return { terms: span.terms, period: named };
    if (span.to !== undefined && named.from > span.to) continue;
    const period = periodIn(span, named.from);
    if (period.name === name) return { terms: span.terms, period };
  }
  return undefined;
}

/**
 * The period of a span that a day of it is in. It ends with the span at the latest, and the first one begins with it: a changed first
 * day makes one period longer, so that no two have the same name.
 */
export function periodIn({ terms, from, to }: TermsSpan, day: string): Period {
  const { period: kind, period_day } = terms;
  const found = periodAt(kind, day, period_day);
  if (found.from === null || found.to === null) return found;
  let period = { ...found, from: found.from, to: found.to };
  if (from !== undefined) {
    const around = periodAt(kind, from, period_day);
    const first = (around.from ?? from) < from ? nextPeriod(kind, around, period_day) : around;
    if (period.from <= (first.from ?? '')) period = { name: first.name, from, to: first.to ?? period.to };
  }
  return to !== undefined && to < period.to ? { ...period, to } : period;
}

/**
 * The first day on which changed terms hold if they do in the period of a day; undefined if they hold for all time, as nothing is over
 * in a budget without periods.
 */
export function firstDayOf(spans: readonly TermsSpan[], changed: Terms, day: string): string | undefined {
  const { name, from } = periodAt(changed.period, day, changed.period_day);
  if (from === null) return undefined;
  const before = periodOn(spans, addDays(from, -1)).period;
  if (before.from === null) return undefined;
  return before.name === name ? before.from : from;
}
