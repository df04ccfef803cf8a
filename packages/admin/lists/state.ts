import { pageNumber } from '@octavo/web/html';
import type { Value } from '../field.ts';
import type { Filter, ListFilter, ListQuery, Model } from '../model.ts';

/** Rows on a page of a list. */
export const pageRows = 50;
const wordsMax = 10;
const sortsMax = 3;
const day = 86_400_000;

/** Days and months that a list is narrowed to. */
export interface DateRange {
  readonly year: number;
  readonly month?: number;
  readonly day?: number;
}

/** State of a list, read from its address. Parameters that make no sense are dropped, with a notice. */
export class ListState {
  readonly q: string;
  /** Number of the page, from 1. */
  readonly page: number;
  /** Columns by number, from 1, the first first; negative is descending. */
  readonly sort: readonly number[];
  /** Selected value of each filter, as in the address. */
  readonly chosen: ReadonlyMap<string, string>;
  readonly range: DateRange | undefined;
  readonly notices: readonly string[];
  readonly #model: Model;
  readonly #filters: readonly ListFilter[];

  constructor(model: Model, query: URLSearchParams, nowMs: number) {
    const notices: string[] = [];
    const chosen = new Map<string, string>();
    const filters: ListFilter[] = [];
    this.#model = model;
    this.q = withoutNul(query.get('q')).trim();
    this.page = pageNumber({ p: query.get('p') }, 'p');
    this.sort = readSort(model, query.get('o'), notices);
    this.range = readRange(model, query, notices);
    for (const [key, value] of query) {
      if (['q', 'p', 'o', 'e'].includes(key) || value === '' || isDateKey(model, key)) continue;
      const name = key.replace(/__(exact|id__exact)$/, '');
      const filter = readFilter(model, name, { value, nowMs });
      if (typeof filter === 'string') notices.push(`The filter “${key}” was left out: ${filter}.`);
      else {
        chosen.set(name, value);
        filters.push(filter);
      }
    }
    this.chosen = chosen;
    this.notices = notices;
    this.#filters = this.range && model.dates ? [...filters, rangeFilter(model, this.range)] : filters;
  }

  /** True if a search or a filter narrows the list. */
  get isNarrowed(): boolean {
    return this.q !== '' || this.#filters.length > 0;
  }

  /** The query for a page of rows. */
  get query(): ListQuery {
    const offset = (this.page - 1) * pageRows;
    return {
      words: wordsOf(this.q),
      filters: this.#filters,
      sort: this.#sortNames(),
      offset,
      limit: pageRows,
    };
  }

  /** The address of the list with some parameters changed; `undefined` and `''` leave one out. The list begins at its first page. */
  href(changes: Readonly<Record<string, string | undefined>> = {}): string {
    const parameters = new URLSearchParams();
    const all = { ...this.parameters(), ...changes };
    for (const [name, value] of Object.entries(all)) if (value) parameters.set(name, value);
    const text = parameters.toString();
    return `/admin/${this.#model.path}/${text && `?${text}`}`;
  }

  /** The address of this page of the list. */
  get here(): string {
    return this.href({ p: this.page > 1 ? String(this.page) : undefined });
  }

  /** Parameters that narrow and sort the list, without the page. */
  parameters(): Record<string, string> {
    const { dates = '' } = this.#model;
    return Object.fromEntries([
      ...(this.q ? [['q', this.q]] : []),
      ...this.chosen,
      ...Object.entries(this.range ?? {}).map(([part, value]) => [`${dates}__${part}`, String(value)]),
      ...(this.sort.length > 0 ? [['o', this.sort.join('.')]] : []),
    ]);
  }

  #sortNames(): ListQuery['sort'] {
    const chosen = this.sort.map((number) => ({
      name: sortNameOf(this.#model, Math.abs(number) - 1) as string,
      isDescending: number < 0,
    }));
    if (chosen.length > 0) return chosen;
    return (this.#model.order ?? [`-${this.#model.key}`]).map((name) => ({
      name: name.replace(/^-/, ''),
      isDescending: name.startsWith('-'),
    }));
  }
}

/** The words of a search, as it was typed. */
export function wordsOf(text: string | null): string[] {
  return withoutNul(text).split(/\s+/).filter(Boolean).slice(0, wordsMax);
}

function withoutNul(text: string | null): string {
  return (text ?? '').replaceAll('\0', '');
}

/** Returns the name that a column sorts by; undefined if it does not sort. */
export function sortNameOf(model: Model, index: number): string | undefined {
  const column = model.columns[index];
  if (column === undefined) return undefined;
  const name = typeof column === 'string' ? column : (column.sortBy ?? (column.expression && column.name));
  if (model.kind === 'functions') return name && model.sortable?.includes(name) ? name : undefined;
  return name !== undefined && model.sets?.[name] ? undefined : name;
}

/** The periods that a field with an instant is filtered by. */
export const periods = [
  ['today', 'Today'],
  ['week', 'Past 7 days'],
  ['month', 'This month'],
  ['year', 'This year'],
  ['future', 'In the future'],
] as const;

function readSort(model: Model, text: string | null, notices: string[]): number[] {
  if (!text) return [];
  const numbers = text.split('.').map(Number);
  const known = numbers.filter(
    (number, index) =>
      Number.isInteger(number) &&
      sortNameOf(model, Math.abs(number) - 1) !== undefined &&
      numbers.findIndex((other) => Math.abs(other) === Math.abs(number)) === index,
  );
  if (known.length < numbers.length) notices.push('Part of the order was left out: there is no such column.');
  return known.slice(0, sortsMax);
}

function isDateKey(model: Model, key: string): boolean {
  return (
    model.dates !== undefined && [`year`, `month`, `day`].some((part) => key === `${model.dates}__${part}`)
  );
}

function readRange(model: Model, query: URLSearchParams, notices: string[]): DateRange | undefined {
  const [year, month, dayOfMonth] = ['year', 'month', 'day'].map((part) =>
    query.get(`${model.dates}__${part}`),
  );
  if (!model.dates || !year) return undefined;
  const range = {
    year: Number(year),
    ...(month && { month: Number(month) }),
    ...(month && dayOfMonth && { day: Number(dayOfMonth) }),
  };
  const { year: y, month: m = 1, day: d = 1 } = range;
  const date = new Date(Date.UTC(y, m - 1, d));
  const isDate =
    Number.isInteger(y) && y >= 1000 && y <= 9999 && date.getUTCMonth() === m - 1 && date.getUTCDate() === d;
  if (isDate) return range;
  notices.push('The date was left out: there is no such day.');
  return undefined;
}

/** The condition for a year, a month or a day. */
function rangeFilter(model: Model, { year, month, day: date }: DateRange): ListFilter {
  const name = model.dates as string;
  const from = Date.UTC(year, (month ?? 1) - 1, date ?? 1);
  const until =
    date !== undefined
      ? from + day
      : month !== undefined
        ? Date.UTC(year, month, 1)
        : Date.UTC(year + 1, 0, 1);
  return { name, from: instant(model, name, from), until: instant(model, name, until) };
}

/** An instant as the field stores it. */
export function instant(model: Model, name: string, ms: number): Value {
  const parsed = model.fields[name]?.parse(new Date(ms).toISOString());
  return parsed && 'value' in parsed ? parsed.value : ms;
}

function readFilter(
  model: Model,
  name: string,
  { value, nowMs }: { value: string; nowMs: number },
): ListFilter | string {
  const declared = model.filters?.find((each) => (typeof each === 'string' ? each : each.name) === name);
  if (declared === undefined) return 'there is no such filter';
  if (typeof declared !== 'string') return readOwn(declared, value);
  const field = model.fields[name];
  if (value === 'none' && field && !field.isRequired) return { name, equals: null };
  if (field?.control.type === 'datetime') return readPeriod(model, name, { value, nowMs });
  const parsed = field?.parse(value);
  if (!parsed || 'problem' in parsed)
    return `${field?.label ?? name} ${parsed?.problem ?? 'has no such value'}`;
  return { name, equals: parsed.value };
}

function readOwn({ name, choices }: Filter, value: string): ListFilter | string {
  return choices.some(([choice]) => choice === value) ? { name, equals: value } : 'it has no such choice';
}

function readPeriod(
  model: Model,
  name: string,
  { value, nowMs }: { value: string; nowMs: number },
): ListFilter | string {
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const today = Date.UTC(year, month, now.getUTCDate());
  const spans: Readonly<Record<string, readonly [number, number?]>> = {
    today: [today, today + day],
    week: [today - 6 * day, today + day],
    month: [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)],
    year: [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)],
    future: [nowMs + 1],
  };
  const span = spans[value];
  if (!span) return `it is one of ${Object.keys(spans).join(', ')}`;
  const [from, until] = span;
  return {
    name,
    from: instant(model, name, from),
    ...(until !== undefined && { until: instant(model, name, until) }),
  };
}
