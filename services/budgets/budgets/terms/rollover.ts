import { addDays, type PeriodKind, periodAt, startOf } from '../../money/periods.ts';
import { periodIn, type Terms, type TermsSpan } from './terms.ts';

const dayMs = 86_400_000;

/** Spending from a day on, until the next one in a list. The day may be any of its period. */
export interface Spending {
  readonly day: string;
  readonly minor: bigint;
}

/** The amount carried up to the period `next` of one of the spans, and the period that is open, if any. */
interface Standing {
  readonly span: number;
  readonly carried: bigint;
  readonly next: number;
  readonly open: { readonly index: number; readonly spent: bigint } | undefined;
}

/**
 * The amount carried over into periods of a budget, in minor units: the limit of each period from that of the start date on, less its
 * spending, by the terms that held in each. With `positive` it is never below zero, and with `none` nothing is left to the next one.
 */
export class Rollover {
  readonly #spans: readonly TermsSpan[];
  readonly #start: string;
  #now: Standing;

  constructor(spans: readonly TermsSpan[], start: string) {
    this.#spans = spans;
    this.#start = start;
    this.#now = this.#enter(0, 0n);
  }

  /** Adds spending. It comes in the order of its days. */
  add({ day, minor }: Spending): void {
    while (this.#isAfter(day, this.#now.span)) this.#now = this.#leave(this.#now);
    const { span, next, open } = this.#now;
    const index = this.#indexAt(span, day);
    if (index === undefined || index < next) return;
    this.#now =
      open?.index === index
        ? { ...this.#now, open: { index, spent: open.spent + minor } }
        : { ...this.#settle(this.#now), open: { index, spent: minor } };
  }

  /** The amount carried over into a period that begins on a day. All spending before that day, and none after it, has been added. */
  into(begin: string): bigint {
    const last = addDays(begin, -1);
    let now = this.#now;
    while (this.#isAfter(last, now.span)) now = this.#leave(now);
    return this.#carriedOn(now, last);
  }

  #isAfter(day: string, span: number): boolean {
    const to = this.#spans[span]?.to;
    return to !== undefined && day > to;
  }

  /** The first day of a span that counts. */
  #firstOf({ from }: TermsSpan): string {
    return from !== undefined && from > this.#start ? from : this.#start;
  }

  #enter(span: number, carried: bigint): Standing {
    const entered = this.#spans[span];
    const next = entered && this.#indexAt(span, this.#firstOf(entered));
    return { span, carried, next: next ?? 0, open: undefined };
  }

  #leave(now: Standing): Standing {
    return this.#enter(now.span + 1, this.#carriedOn(now, this.#spans[now.span]?.to ?? this.#start));
  }

  /** The amount at the end of the period that a day of the span is in. */
  #carriedOn(now: Standing, day: string): bigint {
    const span = this.#spans[now.span];
    if (!span || this.#firstOf(span) > day) return now.carried;
    const end = this.#indexAt(now.span, day);
    if (end === undefined) return 0n;
    const { carried, next } = this.#settle(now);
    return withoutSpending(span.terms, carried, end + 1 - next);
  }

  /** Closes the open period. */
  #settle(now: Standing): Standing {
    const { span, next, open } = now;
    const terms = this.#spans[span]?.terms;
    if (!open || !terms) return now;
    const before = withoutSpending(terms, now.carried, open.index - next);
    const carried = before + BigInt(terms.limit_minor) - open.spent;
    const isLost = terms.rollover === 'positive' && carried < 0n;
    return { span, carried: isLost ? 0n : carried, next: open.index + 1, open: undefined };
  }

  /** The number of the period that a day is in; undefined if nothing is carried on in this span. */
  #indexAt(span: number, day: string): number | undefined {
    const held = this.#spans[span] as TermsSpan;
    const { period: kind, period_day, rollover } = held.terms;
    if (rollover === 'none' || kind === 'none') return undefined;
    // One that is longer, since it is the first of changed terms, is the one that it ends with.
    const { to } = periodIn(held, day);
    return indexOf(kind, periodAt(kind, to ?? day, period_day).from ?? day);
  }
}

/** The amount carried over through periods in which nothing is spent. */
function withoutSpending({ limit_minor, rollover }: Terms, carried: bigint, periods: number): bigint {
  const limit = BigInt(limit_minor);
  if (rollover !== 'positive' || carried >= 0n || periods === 0) return carried + BigInt(periods) * limit;
  // A debt of other terms is not carried on.
  const first = carried + limit;
  return (first < 0n ? 0n : first) + BigInt(periods - 1) * limit;
}

/** Counts the periods of a kind, by their first days. */
function indexOf(kind: Exclude<PeriodKind, 'none'>, from: string): number {
  const [year = 0, month = 1] = from.split('-').map(Number);
  switch (kind) {
    case 'daily':
      return startOf(from) / dayMs;
    case 'weekly':
      return Math.round((startOf(from) / dayMs - 4) / 7);
    case 'monthly':
      return year * 12 + month;
    case 'quarterly':
      return year * 4 + Math.ceil(month / 3);
    case 'yearly':
      return year;
  }
}
