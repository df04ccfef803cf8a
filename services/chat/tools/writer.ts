import { countryName } from '@octavo/reader/conditions';
import type { ApiRecord, TraceStep } from './trace.ts';

/** A value of `api_data` in a text. */
export interface ApiQuote {
  readonly kind: 'api';
  readonly answer_start: number;
  readonly answer_end: number;
  readonly step: number;
  /** A JSON Pointer (RFC 6901) into `api_data`. */
  readonly pointer: string;
  readonly quote: string;
  readonly support: number;
}

type StepNumber = Pick<TraceStep, 'step'>;
export const listedMax = 12;

/** Presentation of a value: after a text, and in other words. */
interface Shown {
  readonly before?: string;
  readonly shown?: (value: string) => string;
}

export interface Place {
  readonly pointer: string;
  readonly record: ApiRecord;
}

/** Builds a text and remembers where its values are. */
export class Writer {
  text = '';
  readonly citations: ApiQuote[] = [];
  readonly #startAt: number;

  constructor(startAt: number) {
    this.#startAt = startAt;
  }

  list(step: TraceStep, places: readonly Place[]): void {
    const shown = places.slice(0, listedMax);
    const isFirst = places[0]?.pointer.split('/')[1];
    this.begin(
      `${places.length}${step.truncated ? ' or more' : ''} ${isFirst === 'team' ? 'people' : isFirst}: `,
    );
    shown.forEach((place, index) => {
      if (index > 0) this.text += index === places.length - 1 ? ' and ' : ', ';
      this.value(step, place, 'company' in place.record ? 'company' : 'name');
    });
    this.end(step, places.length > shown.length ? ` and ${places.length - shown.length} more` : '');
  }

  describe(step: StepNumber, place: Place): void {
    const [, kind] = place.pointer.split('/');
    if (kind === 'team') this.#member(step, place);
    else if (kind === 'investments') this.#investment(step, place);
    else this.#sector(step, place);
  }

  #member(step: StepNumber, place: Place): void {
    const { title, location, bio } = place.record;
    this.begin('');
    this.value(step, place, 'name');
    if (title) this.value(step, place, 'title', { before: ' is ' });
    if (location) this.value(step, place, 'location', { before: title ? ' in ' : ' is in ' });
    this.end(step);
    if (typeof bio === 'string' && bio !== '') this.#prose(step, place, 'bio');
  }

  #investment(step: StepNumber, place: Place): void {
    const {
      status,
      stage,
      sector,
      amount_minor: amount,
      currency,
      invested_on: day,
      exited_on: exit,
    } = place.record;
    this.begin('');
    this.value(step, place, 'company');
    this.text += ' is an investment';
    if (sector) this.value(step, place, 'sector', { before: ' in ' });
    const details: (() => void)[] = [];
    if (stage) details.push(() => this.value(step, place, 'stage', { shown: words }));
    if (status) details.push(() => this.value(step, place, 'status', { shown: words }));
    if (typeof amount === 'number')
      details.push(() => this.value(step, place, 'amount_minor', { shown: money(currency) }));
    if (day) details.push(() => this.value(step, place, 'invested_on', { before: 'since ' }));
    if (exit) details.push(() => this.value(step, place, 'exited_on', { before: 'exited on ' }));
    for (const detail of details) {
      this.text += ', ';
      detail();
    }
    this.end(step);
    if (place.record.description) this.#prose(step, place, 'description');
  }

  #sector(step: StepNumber, place: Place): void {
    const { investment_count: count, total_amount_minor: total, currency } = place.record;
    this.begin('');
    this.value(step, place, 'name');
    if (typeof count === 'number')
      this.value(step, place, 'investment_count', {
        before: ' has ',
        shown: (value) => `${value} ${value === '1' ? 'investment' : 'investments'}`,
      });
    if (typeof total === 'number')
      this.value(step, place, 'total_amount_minor', { before: ' of ', shown: money(currency) });
    this.end(step);
    if (place.record.description) this.#prose(step, place, 'description');
  }

  #prose(step: StepNumber, place: Place, field: string): void {
    this.begin('');
    this.value(step, place, field, { shown: (value) => value.trim().replace(/[.!?]+$/, '') });
    this.end(step);
  }

  /** A sentence without a value. */
  plain(text: string): void {
    this.begin(text);
  }

  begin(text: string): void {
    if (this.#startAt + this.text.length > 0) this.text += ' ';
    this.text += text;
  }

  end(step: StepNumber, text = ''): void {
    this.text += `${text}. [A${step.step}]`;
  }

  value(step: StepNumber, { pointer, record }: Place, field: string, how: Shown = {}): void {
    const { before = '', shown = (value: string) => value } = how;
    const quote = String(record[field] ?? '');
    this.text += before;
    const answer_start = this.#startAt + this.text.length;
    this.text += shown(quote).replaceAll('[', '(').replaceAll(']', ')');
    const answer_end = this.#startAt + this.text.length;
    const of = { kind: 'api', step: step.step, pointer: `${pointer}/${field}`, quote, support: 1 } as const;
    this.citations.push({ ...of, answer_start, answer_end });
  }
}

/** Returns the written form of values of a field. */
export function shownAs(field: string, { currency }: ApiRecord): (value: string) => string {
  if (field.endsWith('amount_minor')) return money(currency);
  if (field === 'country') return countryName;
  if (field === 'investment_count')
    return (value) => `${value} ${value === '1' ? 'investment' : 'investments'}`;
  return field === 'title' || field === 'location' ? (value) => value : words;
}

function words(value: string): string {
  return value.replaceAll('_', ' ');
}

export function money(currency: unknown): (value: string) => string {
  return (value) => {
    const code = typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? currency : 'USD';
    const format = new Intl.NumberFormat('en', {
      style: 'currency',
      currency: code,
      currencyDisplay: 'code',
    });
    const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
    return new Intl.NumberFormat('en', {
      style: 'currency',
      currency: code,
      currencyDisplay: 'code',
      trailingZeroDisplay: 'stripIfInteger',
    })
      .format(Number(value) / 10 ** digits)
      .replace(/\u00a0/g, ' ');
  };
}
