import { notice } from '#kit/html/blocks.ts';
import { meter } from '#kit/html/charts.ts';
import { errorSummary } from '#kit/html/form.ts';
import type { FormProblem } from '#kit/html/form-problem.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { digitsOf } from './currencies.ts';
import { decimalText } from './money.ts';
import { type Period, type PeriodKind, startOf } from './periods.ts';

const formats = new Map<string, Intl.NumberFormat>();

/** An amount as people write it: `$1,234.50`. */
export function money(minor: number, currency: string): string {
  const digits = digitsOf(currency);
  const format = formats.getOrInsertComputed(
    currency,
    () =>
      new Intl.NumberFormat('en', {
        style: 'currency',
        currency,
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      }),
  );
  // As text, so that no digit is lost.
  return format.format(decimalText(minor, currency) as Intl.StringNumericLiteral);
}

/** An amount that is set off if it is negative. */
export function balance(minor: number, currency: string): Html {
  return minor < 0
    ? html`<span class="negative">${money(minor, currency)}</span>`
    : html`${money(minor, currency)}`;
}

const dayFormat = new Intl.DateTimeFormat('en-US', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const monthFormat = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const shortMonth = new Intl.DateTimeFormat('en-US', { month: 'short', timeZone: 'UTC' });

/** A day, which is the same in every time zone. */
export function day(text: string): Html {
  return html`<time datetime="${text}" data-day>${dayFormat.format(startOf(text))}</time>`;
}

/** `March 2026` of `2026-03`. */
export function monthName(month: string): string {
  return monthFormat.format(startOf(`${month}-01`));
}

/** `Mar`, with the year in January and for the first of a row. */
export function monthTick(month: string, isFirst: boolean): string {
  const name = shortMonth.format(startOf(`${month}-01`));
  return isFirst || month.endsWith('-01') ? `${name} ${month.slice(2, 4)}` : name;
}

/** What people call a period. */
export function periodTitle(kind: PeriodKind, { name, from, to }: Period): string {
  if (from === null || to === null) return 'All time';
  if (kind === 'monthly') return monthName(name);
  if (kind === 'quarterly') return `${name.slice(5)} ${name.slice(0, 4)}`;
  if (kind === 'yearly') return name;
  if (kind === 'daily') return dayFormat.format(startOf(from));
  return dayFormat.formatRange(startOf(from), startOf(to));
}

export const periodWords: Readonly<Record<PeriodKind, string>> = {
  none: 'in all',
  daily: 'a day',
  weekly: 'a week',
  monthly: 'a month',
  quarterly: 'a quarter',
  yearly: 'a year',
};

/** How much of a budget is spent, as a bar: green, then amber from 80 %, red when nothing is left. */
export function spendingMeter({ spent, available }: { spent: number; available: number }): Html {
  const share = available > 0 ? spent / available : spent > 0 ? 1 : 0;
  const isOver = spent > available;
  const tone = isOver ? 'bad' : share >= 0.8 ? 'warn' : 'good';
  const label = isOver && available <= 0 ? 'Overspent' : `${Math.round(share * 100)}% spent`;
  return meter({ label, share, tone });
}

/** What is wrong with a form, above it. */
export function problems(
  problem: FormProblem | undefined,
  labels: Readonly<Record<string, string>>,
  title?: string,
): Content {
  if (!problem) return undefined;
  return html`${problem.problem && notice('bad', problem.problem)}${errorSummary(problem.errors, labels, title)}`;
}

/** Links to the next page of a list with a cursor, and back to the first. */
export function cursorPager(
  path: string,
  parameters: Readonly<Record<string, string>>,
  { next, hasCursor }: { readonly next: string | undefined; readonly hasCursor: boolean },
): Content {
  if (next === undefined && !hasCursor) return undefined;
  const first = hrefWith(path, parameters);
  return html`<nav class="pager" aria-label="Pages"><span></span><span class="actions">${
    hasCursor && html`<a class="button secondary" href="${first}">First</a>`
  }${next !== undefined && html`<a class="button secondary" href="${hrefWith(path, { ...parameters, cursor: next })}">Next</a>`}</span></nav>`;
}

/** A path with the parameters that have a value. */
export function hrefWith(path: string, parameters: Readonly<Record<string, string>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
