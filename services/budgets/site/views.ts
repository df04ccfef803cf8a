import { amountRule, decimalText, digitsOf } from '@octavo/documents/values';
import type { FormProblem, IconName } from '@octavo/web/html';
import {
  type Content,
  empty,
  errorSummary,
  type Html,
  html,
  kept,
  linkButton,
  meter,
  notice,
  readerLocale,
  signsOf,
} from '@octavo/web/html';
import { type Period, type PeriodKind, parsePeriod, startOf } from '../money/periods.ts';
import { pageRoutes } from '../routes.ts';

const localeOfPage = () => readerLocale() ?? 'en-US';

const moneyFormat = kept((key) => {
  const [locale, currency = ''] = key.split(' ');
  const digits = digitsOf(currency);
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
});

/** An amount as the reader of the page writes it: `$1,234.50`, or `1.234,50 $` in German. */
export function money(minor: number | bigint, currency: string): string {
  const format = moneyFormat(`${localeOfPage()} ${currency}`);
  // As text, so that no digit is lost.
  return format.format(decimalText(minor, currency) as Intl.StringNumericLiteral);
}

/** An amount for an input: all its digits, with the reader's decimal sign and no other. */
export function typedText(minor: number | bigint, currency: string): string {
  return decimalText(minor, currency).replace('.', signsOf(readerLocale() ?? 'en').decimal);
}

/** Attributes of a control for an amount: while one types, `amounts.js` shows below it how the server reads it, and the problem without a network. */
export function amountAttributes() {
  return {
    inputmode: 'decimal',
    autocomplete: 'off',
    'data-amount': pageRoutes.readAmount,
    'data-amount-problem': `Amount ${amountRule(signsOf(readerLocale() ?? 'en'))}.`,
  } as const;
}

/** An amount that is set off if it is negative. */
export function balance(minor: number | bigint, currency: string): Html {
  return minor < 0
    ? html`<span class="negative">${money(minor, currency)}</span>`
    : html`${money(minor, currency)}`;
}

const dayFormat = kept((locale) => dateFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' }));
const longFormat = kept((locale) => dateFormat(locale, { day: 'numeric', month: 'long', year: 'numeric' }));
const monthFormat = kept((locale) => dateFormat(locale, { month: 'long', year: 'numeric' }));
const shortDay = kept((locale) => dateFormat(locale, { day: 'numeric', month: 'short' }));
const shortMonth = kept((locale) => dateFormat(locale, { month: 'short' }));

/** The words are those of the pages, which are English; the order of day and month is that of the reader's region. */
function dateFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const { region = 'US' } = new Intl.Locale(locale).maximize();
  return new Intl.DateTimeFormat(`en-${region}-u-ca-gregory-nu-latn`, { ...options, timeZone: 'UTC' });
}

/** `Mar 5, 2026`. */
export function dayText(text: string): string {
  return dayFormat(localeOfPage()).format(startOf(text));
}

/** `March 5, 2026`. */
export function longDay(text: string): string {
  return longFormat(localeOfPage()).format(startOf(text));
}

/** A day, which is the same in every time zone. */
export function day(text: string): Html {
  return html`<time datetime="${text}" data-day>${dayText(text)}</time>`;
}

/** Problem with the last day of a range, after its label. */
export function rangeProblem(from: string | undefined, to: string | undefined): string | undefined {
  if (from === undefined || to === undefined || from <= to) return undefined;
  return `must not be before ${dayText(from)}`;
}

/** `March 2026` of `2026-03`. */
export function monthName(month: string): string {
  return monthFormat(localeOfPage()).format(startOf(`${month}-01`));
}

/** `Mar`, with the year in January and for the first of a row. */
export function monthTick(month: string, isFirst: boolean): string {
  const name = shortMonth(localeOfPage()).format(startOf(`${month}-01`));
  return isFirst || month.endsWith('-01') ? `${name} ${month.slice(2, 4)}` : name;
}

/** Returns the name of a period for people. */
export function periodTitle(kind: PeriodKind, { name, from, to }: Period): string {
  if (from === null || to === null) return 'All time';
  if (kind === 'monthly') return monthName(name);
  if (kind === 'quarterly') return `${name.slice(5)} ${name.slice(0, 4)}`;
  if (kind === 'yearly') return name;
  if (kind === 'daily') return dayFormat(localeOfPage()).format(startOf(from));
  return dayFormat(localeOfPage()).formatRange(startOf(from), startOf(to));
}

/** The name of a period, with its days if they are not those of the calendar. */
export function periodWithDays({ name, from, to }: Period): string {
  if (from === null || to === null) return 'All time';
  const kind = kindOf(name);
  const natural = kind === 'weekly' ? undefined : parsePeriod(kind, name);
  const days = dayFormat(localeOfPage()).formatRange(startOf(from), startOf(to));
  const isWhole = natural?.from === from && natural.to === to;
  return isWhole ? periodTitle(kind, { name, from, to }) : days;
}

/** `Mar`, `Q1 26`, `2026` or `Mar 2` of a period. */
export function periodTick({ name, from }: Period, isFirst: boolean): string {
  const kind = kindOf(name);
  if (kind === 'monthly') return monthTick(name, isFirst);
  if (kind === 'quarterly') return `${name.slice(5)} ${name.slice(2, 4)}`;
  return kind === 'yearly' || from === null ? name : shortDay(localeOfPage()).format(startOf(from));
}

function kindOf(name: string): PeriodKind {
  if (name.includes('W')) return 'weekly';
  if (name.includes('Q')) return 'quarterly';
  return name.length === 10 ? 'daily' : name.length === 7 ? 'monthly' : 'yearly';
}

export const periodWords: Readonly<Record<PeriodKind, string>> = {
  none: 'in all',
  daily: 'a day',
  weekly: 'a week',
  monthly: 'a month',
  quarterly: 'a quarter',
  yearly: 'a year',
};

interface Spending extends Record<'spent' | 'available', number | bigint> {
  /** Share of the period that has passed. */
  readonly passed?: number | undefined;
}

/** Renders the spent share of a budget as a bar: green, amber from 80 % if that is more than the share of the period that has passed, red when nothing is left. */
export function spendingMeter({ spent, available, passed }: Spending): Html {
  const share = available > 0 ? Number(spent) / Number(available) : spent > 0 ? 1 : 0;
  const isOver = spent > available;
  // Behind the share of today is in step with the period.
  const tone = isOver ? 'bad' : share >= 0.8 && share > (passed ?? 0) ? 'warn' : 'good';
  const label = isOver && available <= 0 ? 'Overspent' : `${Math.round(share * 100)}% spent`;
  const time = passed === undefined ? '' : `, ${Math.round(passed * 100)}% of the time has passed`;
  return meter({ label: `${label}${time}`, share, tone, mark: passed });
}

/** Renders the problems of a form, above it. */
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

/** A link like a button, whose page opens as a dialog. */
export function dialogLink(href: string, label: string): Html {
  return html`<a class="button secondary" href="${href}" data-dialog>${label}</a>`;
}

/** Hint in place of a form of a budget, for users without one. */
export function budgetFirst(symbol: IconName, text: string): Html {
  return empty({
    icon: symbol,
    title: 'Create a budget first',
    text,
    actions: linkButton(pageRoutes.newBudget, 'Create a budget', 'primary'),
  });
}
