import { toMajor } from '@octavo/documents/values';
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
const listedMax = 12;

export interface Place {
  readonly pointer: string;
  readonly record: ApiRecord;
  /** The step that brought it, if it is not that of the whole text. */
  readonly step?: number;
}

interface ListOptions {
  /** Field that names a record; its company or its own name by default. */
  readonly name?: string;
  readonly fields?: readonly string[];
  /** Most records that are named. */
  readonly most?: number;
}

/** Builds a text and remembers where its values are. */
export class Writer {
  text = '';
  readonly citations: ApiQuote[] = [];
  readonly #startAt: number;

  constructor(startAt: number) {
    this.#startAt = startAt;
  }

  /** Names records behind a heading, each with some of its fields. */
  list(
    step: StepNumber,
    heading: string,
    places: readonly Place[],
    { name, fields = [], most = listedMax }: ListOptions = {},
  ): void {
    this.begin(`${heading}: `);
    const shown = places.slice(0, most);
    for (const [index, place] of shown.entries()) {
      const { record } = place;
      if (index > 0) this.text += index === places.length - 1 ? ' and ' : ', ';
      this.value(step, place, name ?? ('company' in record ? 'company' : 'name'));
      const details = fields.filter((field) => ['string', 'number'].includes(typeof record[field]));
      for (const [at, field] of details.entries()) this.value(step, place, field, at === 0 ? ' (' : ', ');
      if (details.length > 0) this.text += ')';
    }
    this.end(step, places.length > shown.length ? ` and ${places.length - shown.length} more` : '');
  }

  /** Tells what a record is, in a sentence and its own prose. */
  describe(step: StepNumber, place: Place): void {
    const { record, pointer } = place;
    const [, kind = ''] = pointer.split('/');
    this.begin('');
    for (const [field, before] of described[kind] ?? []) {
      const isTold = ['string', 'number'].includes(typeof record[field]) && record[field] !== '';
      if (isTold) this.value(step, place, field, before);
    }
    this.end(step);
    const prose = kind === 'team' ? 'bio' : 'description';
    if (typeof record[prose] !== 'string' || record[prose] === '') return;
    this.begin('');
    this.value(step, place, prose);
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

  value(
    step: StepNumber,
    { pointer, record, step: from = step.step }: Place,
    field: string,
    before = '',
  ): void {
    const quote = String(record[field] ?? '');
    this.text += before;
    const answer_start = this.#startAt + this.text.length;
    this.text += shownAs(field, quote, record.currency).replaceAll('[', '(').replaceAll(']', ')');
    const answer_end = this.#startAt + this.text.length;
    const of = { kind: 'api', step: from, pointer: `${pointer}/${field}`, quote, support: 1 } as const;
    this.citations.push({ ...of, answer_start, answer_end });
  }
}

/** Fields that describe a record of each kind, with the words before them. */
const described: Readonly<Record<string, readonly (readonly [field: string, before: string])[]>> = {
  team: [
    ['name', ''],
    ['title', ' is '],
    ['location', ' in '],
  ],
  investments: [
    ['company', ''],
    ['sector', ' is an investment in '],
    ['stage', ', '],
    ['status', ', '],
    ['amount_minor', ', '],
    ['invested_on', ', since '],
    ['exited_on', ', exited on '],
  ],
  sectors: [
    ['name', ''],
    ['investment_count', ' has '],
    ['total_amount_minor', ' of '],
  ],
};

/** The written form of a value. */
function shownAs(field: string, value: string, currency: unknown): string {
  if (field.endsWith('amount_minor')) return money(Number(value), currency);
  if (field === 'country') return countryName(value);
  if (field === 'investment_count') return `${value} ${value === '1' ? 'investment' : 'investments'}`;
  if (field === 'stage' || field === 'status') return value.replaceAll('_', ' ');
  return field === 'bio' || field === 'description' ? value.trim().replace(/[.!?]+$/, '') : value;
}

/** An amount of minor units with the code of its currency. */
export function money(minor: number, given: unknown): string {
  const currency = typeof given === 'string' && /^[A-Z]{3}$/.test(given) ? given : 'USD';
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    trailingZeroDisplay: 'stripIfInteger',
  });
  return format.format(toMajor(minor, currency)).replace(/\u00a0/g, ' ');
}
