import { type Content, type Html, html } from '@octavo/web/html';
import type { Value } from '../field.ts';
import type { Model } from '../model.ts';
import type { Registry } from '../registry.ts';
import { dateBounds } from '../table/list.ts';
import type { DateRange, ListState } from './state.ts';

/** Links that narrow a list to a year, then a month, then a day; empty if all objects are of one year, or there are none. */
export async function dateLinks(registry: Registry, model: Model, state: ListState): Promise<Content> {
  const { dates } = model;
  if (!dates || model.kind !== 'table') return undefined;
  const bounds = await dateBounds(registry, model, dates);
  if (!bounds) return undefined;
  const [first, last] = [bounds.first, bounds.last].map(dateOf) as [Date, Date];
  const links = { state, dates, first, last };
  const { range } = state;
  const steps =
    range === undefined
      ? years(links)
      : range.month === undefined
        ? months(links, range)
        : days(links, range);
  return html`<nav class="dates" aria-label="${model.fields[dates]?.label ?? 'Dates'}"><span class="muted">${model.fields[dates]?.label}${model.fields[dates]?.control.type === 'datetime' && ' (UTC)'}:</span>${back(links, range)}${steps}</nav>`;
}

interface Links {
  readonly state: ListState;
  readonly dates: string;
  readonly first: Date;
  readonly last: Date;
}

function dateOf(value: Value): Date {
  return new Date(value as string | number);
}

function hrefOf({ state, dates }: Links, range: Partial<DateRange>): string {
  const text = (value: number | undefined) => (value === undefined ? undefined : String(value));
  return state.href({
    [`${dates}__year`]: text(range.year),
    [`${dates}__month`]: text(range.month),
    [`${dates}__day`]: text(range.day),
  });
}

/** The way back to all dates, and the range that is shown. */
function back(links: Links, range: DateRange | undefined): Content {
  if (!range) return undefined;
  const { year, month, day } = range;
  const parts = [
    html`<a href="${hrefOf(links, {})}">All dates</a>`,
    month === undefined ? html`<b>${year}</b>` : html`<a href="${hrefOf(links, { year })}">${year}</a>`,
    month !== undefined &&
      (day === undefined
        ? html`<b>${monthName(month)}</b>`
        : html`<a href="${hrefOf(links, { year, month })}">${monthName(month)}</a>`),
    day !== undefined && html`<b>${day}</b>`,
  ].filter(Boolean);
  return html`${parts.map((part) => html`${part}<span class="muted" aria-hidden="true">›</span>`)}`;
}

const yearsMax = 30;

function years(links: Links): Html[] {
  const [from, to] = [links.first.getUTCFullYear(), links.last.getUTCFullYear()];
  const start = Math.max(from, to - yearsMax + 1);
  return numbers(start, to).map((year) => html`<a href="${hrefOf(links, { year })}">${year}</a>`);
}

function months(links: Links, { year }: DateRange): Html[] {
  const from = links.first.getUTCFullYear() === year ? links.first.getUTCMonth() + 1 : 1;
  const to = links.last.getUTCFullYear() === year ? links.last.getUTCMonth() + 1 : 12;
  return numbers(from, to).map(
    (month) => html`<a href="${hrefOf(links, { year, month })}">${monthName(month)}</a>`,
  );
}

function days(links: Links, { year, month = 1, day }: DateRange): Html[] {
  if (day !== undefined) return [];
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return numbers(1, last).map(
    (each) => html`<a href="${hrefOf(links, { year, month, day: each })}">${each}</a>`,
  );
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

function monthName(month: number): string {
  return (
    ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'][month - 1] ?? ''
  );
}
