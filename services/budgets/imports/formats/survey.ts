import {
  type DayOrder,
  DecimalSurvey,
  dayOrderOf,
  dayOrders,
  directionOf,
  FileText,
  folded,
  isAmountLike,
  isEncoding,
  type Letters,
  layoutOf,
  lettersOf,
  readDay,
} from '@octavo/web/imports';
import { Columns, mappedColumns } from './columns.ts';
import { createSource, kindOf } from './parser.ts';
import {
  type ImportFormat,
  type RawRow,
  type Reading,
  type RowField,
  type RowSource,
  rowFields,
  type Sign,
  type SurveyOptions,
} from './reading.ts';

/** Why a file cannot be read, in words that follow "The file", and the option that would settle it. */
export interface Problem {
  readonly problem: string;
  readonly field?: string;
}

const newCount = () => ({ positive: 0, negative: 0 });
const headCharacters = 64 * 1024;
const seenMax = 10_000;
const formatNames = { csv: 'CSV', ofx: 'OFX', qif: 'QIF', camt: 'CAMT', mt940: 'MT940' };

/** Looks through a file once, to decide how it is read. */
export class FileSurvey {
  readonly #options: SurveyOptions;
  /** Bytes that are ASCII alone, whose letters any later byte may tell. */
  #ascii: Uint8Array[] = [];
  #letters: Letters | undefined;
  #text: FileText | undefined;
  #head = '';
  #reading: Reading | undefined;
  #problem: Problem | undefined;
  #source: RowSource | undefined;
  readonly #days: DaySurvey;
  readonly #decimals: DecimalSurvey;
  readonly #signs = { out: newCount(), in: newCount(), none: newCount() };

  constructor(options: SurveyOptions) {
    this.#options = options;
    this.#days = new DaySurvey();
    this.#decimals = new DecimalSurvey(options.currency);
  }

  push(bytes: Uint8Array): void {
    const { encoding } = this.#options;
    if (encoding !== undefined && !this.#text) {
      if (!isEncoding(encoding))
        this.#problem = { problem: `has no encoding ${encoding}`, field: 'encoding' };
      this.#begin({ encoding: isEncoding(encoding) ? encoding : 'utf-8', confidence: 1 });
    }
    if (!this.#text) {
      this.#ascii.push(bytes);
      const held = Buffer.concat(this.#ascii);
      if (held.length < headCharacters && bytes.every((byte) => byte < 0x80 && byte !== 0)) return;
      this.#begin(lettersOf(held));
      this.#look(this.#text, held);
    } else this.#look(this.#text, bytes);
  }

  #begin(letters: Letters): void {
    this.#letters = letters;
    this.#text = new FileText(letters.encoding);
  }

  #look(text: FileText | undefined, bytes: Uint8Array): void {
    this.#take(text?.read(bytes) ?? '', false);
  }

  /** The way the file is read, or the reason why it cannot be. */
  end(): { readonly reading: Reading } | Problem {
    if (!this.#text) {
      const held = Buffer.concat(this.#ascii);
      this.#begin(lettersOf(held));
      this.#look(this.#text, held);
    }
    this.#take(this.#text?.rest() ?? '', true);
    if (this.#problem || !this.#reading) return this.#problem ?? { problem: 'is empty' };
    return this.#decided(this.#reading);
  }

  #take(text: string, isEnd: boolean): void {
    if (this.#problem) return;
    if (!this.#source) {
      this.#head += text;
      if (!isEnd && this.#head.length < headCharacters) return;
      this.#start(this.#head.replace(/^\uFEFF/, ''));
      this.#head = '';
    } else this.#watch(this.#source.push(text));
    if (isEnd) this.#watch(this.#source?.end() ?? []);
  }

  #start(head: string): void {
    const { format: given } = this.#options;
    const kind = kindOf(head);
    if (head.trim() === '') this.#problem = { problem: 'is empty' };
    else if (isBinary(head)) this.#problem = { problem: 'is no table: much of it is not text' };
    else if (given !== undefined && given !== kind)
      this.#problem = { problem: `is no ${formatNames[given]} file` };
    else if (kind === undefined)
      this.#problem = { problem: 'is of no kind that can be read: CSV, OFX, QIF, CAMT or MT940' };
    else this.#begun(kind, head);
  }

  #begun(format: ImportFormat, head: string): void {
    const table = format === 'csv' ? this.#tableIn(head) : undefined;
    if (table && 'problem' in table) {
      this.#problem = table;
      return;
    }
    const { encoding, confidence } = this.#letters as Letters;
    const { currency, anyCurrency, skipEnd = 0, account = null } = this.#options;
    const reading: Reading = {
      format,
      encoding,
      confidence,
      currency,
      anyCurrency,
      separator: ',',
      header: null,
      names: [],
      skippedLines: [],
      skipEnd,
      columns: {},
      fallbacks: [],
      dateFormat: 'ymd',
      decimal: format === 'mt940' ? ',' : '.',
      sign: 'negative',
      account,
      unclear: [],
      ...table,
    };
    this.#reading = reading;
    this.#source = createSource(reading);
    this.#watch(this.#source.push(head));
  }

  #tableIn(
    head: string,
  ): Pick<Reading, 'separator' | 'header' | 'names' | 'skippedLines' | 'columns' | 'fallbacks'> | Problem {
    const { mapping = {}, separator, header, skipLines, guesses, currency } = this.#options;
    const wanted = Object.values(mapping).flat().map(folded);
    const layout = layoutOf(head, {
      separator: separator === 'tab' ? '\t' : separator,
      header,
      skipLines,
      isHeader: (cells) => {
        const names = cells.map(folded);
        return wanted.length > 0 ? wanted.every((name) => names.includes(name)) : knownNames(names) >= 2;
      },
    });
    if (!layout) return { problem: 'has no header that can be read' };
    const known = new Columns(layout);
    const mapped = mappedColumns(mapping, layout, known);
    if ('problem' in mapped)
      return { problem: `cannot be mapped: mapping ${mapped.problem}`, field: 'mapping' };
    const columns = guesses && this.#options.mapping === undefined ? known.guess(currency) : mapped;
    if (!guesses) this.#complete(columns, layout.names, known);
    const missing = (['spentOn', 'description', 'amount'] as const).filter((field) => !columns[field]);
    if (columns.debit || columns.credit)
      missing.splice(missing.indexOf('amount'), missing.includes('amount') ? 1 : 0);
    if (missing.length > 0 && !guesses) {
      const has = layout.names.join(', ').slice(0, 500);
      return {
        problem: `cannot be mapped: mapping must name the column of ${missing.join(', ')}; the file has ${has}`,
        field: 'mapping',
      };
    }
    const { separator: found, header: line, names, skippedLines } = layout;
    return { separator: found, header: line, names, skippedLines, columns, fallbacks: known.named('payee') };
  }

  /** The columns that were not mapped and whose names leave no choice. */
  #complete(columns: Partial<Record<RowField, number[]>>, header: readonly string[], known: Columns): void {
    for (const field of rowFields) {
      const own = header.findIndex((name) => name.trim().toLowerCase() === field.toLowerCase());
      const isWanted =
        columns[field] === undefined && !(columns.amount && (field === 'debit' || field === 'credit'));
      if (isWanted && own !== -1) columns[field] = [own];
    }
    const money = columns.amount ?? columns.debit ?? columns.credit;
    for (const field of ['spentOn', 'description', 'amount'] as const) {
      const [place] = known.named(field);
      if (place !== undefined && (field !== 'amount' || !money)) columns[field] ??= [place];
    }
    const direction = known.direction();
    if (direction !== undefined && columns.amount && this.#options.mapping?.direction === undefined)
      columns.direction ??= [direction];
  }

  #watch(rows: readonly RawRow[]): void {
    for (const row of rows) {
      if (!('texts' in row)) continue;
      const { spentOn = '', amount = '', debit = '', credit = '', direction = '' } = row.texts;
      const money = [amount, debit, credit].filter((text) => text !== '' && isAmountLike(text));
      if (money.length === 0) continue;
      this.#days.look(spentOn);
      for (const text of money) this.#decimals.look(text);
      const side = this.#signs[directionOf(direction) ?? 'none'];
      if (!/[1-9]/.test(amount)) continue;
      if (/[-\u2212(]/.test(amount)) side.negative++;
      else side.positive++;
    }
  }

  #decided(reading: Reading): { readonly reading: Reading } | Problem {
    const { guesses, locale, mapping } = this.#options;
    const { order, example: exampleDay } = this.#days.end(
      dayOrderOf(locale) ?? (this.#options.currency === 'USD' ? 'mdy' : 'dmy'),
    );
    const { decimal, unclear } = this.#decimals.end();
    const isFixed = !/^(csv|qif)$/.test(reading.format);
    const asksDays = !isFixed && exampleDay !== undefined && this.#options.dateFormat === undefined;
    const asksDecimal = !isFixed && unclear !== undefined && this.#options.decimal === undefined;
    if (asksDays && !guesses)
      return { problem: 'has dates that fit several formats: name one as dateFormat', field: 'dateFormat' };
    if (asksDecimal && !guesses)
      return {
        problem: `has amounts such as ${unclear.slice(0, 30)} that could mean two things: name the decimal sign`,
        field: 'decimal',
      };
    const isSigned = Object.values(this.#signs).some(({ negative }) => negative > 0);
    const { direction, ...columns } = reading.columns;
    return {
      reading: {
        ...reading,
        columns:
          direction && (!isSigned || mapping?.direction !== undefined) ? { ...columns, direction } : columns,
        dateFormat: isFixed ? 'ymd' : (this.#options.dateFormat ?? order),
        decimal: isFixed ? reading.decimal : (this.#options.decimal ?? this.#decimalOf(decimal, unclear)),
        sign:
          reading.format === 'csv'
            ? (this.#options.sign ?? (guesses ? this.#guessedSign(isSigned) : 'positive'))
            : 'negative',
        unclear: [
          ...(asksDays ? [{ option: 'dateFormat' as const, example: exampleDay }] : []),
          ...(asksDecimal ? [{ option: 'decimal' as const, example: unclear }] : []),
        ],
      },
    };
  }

  /** The sign that the reader's locale has, where the file leaves both. */
  #decimalOf(decimal: '.' | ',', unclear: string | undefined): '.' | ',' {
    if (unclear === undefined) return decimal;
    const parts = new Intl.NumberFormat(this.#options.locale ?? 'en-US').formatToParts(1.5);
    return parts.some(({ type, value }) => type === 'decimal' && value === ',') ? ',' : '.';
  }

  /** Negative amounts are what was paid, unless a column says that the others are. */
  #guessedSign(isSigned: boolean): Sign {
    const { positive, negative } = this.#signs.out;
    if (positive > 0 && negative === 0) return 'positive';
    return isSigned ? 'negative' : 'positive';
  }
}

function knownNames(names: readonly string[]): number {
  return rowFields.filter((field) => Columns.knows(field, names)).length;
}

/** The orders of year, month and day that all days of a file fit. */
class DaySurvey {
  readonly #counts: Record<DayOrder, number> = { ymd: 0, mdy: 0, dmy: 0 };
  /** Texts that were looked at: a file has few days. */
  readonly #seen = new Set<string>();
  /** Text of a day by the pair of orders that read it differently. */
  readonly #differing = new Map<string, string>();

  look(text: string): void {
    if (this.#seen.has(text)) return;
    if (this.#seen.size < seenMax) this.#seen.add(text);
    const days = dayOrders.map((order) => [order, readDay(text, order)] as const);
    for (const [order, day] of days) {
      if (day === undefined) continue;
      this.#counts[order]++;
      for (const [other, otherDay] of days)
        if (otherDay !== undefined && otherDay !== day)
          this.#differing.getOrInsert(`${order} ${other}`, text.trim());
    }
  }

  /** The order, and a day that another order reads as another day. */
  end(preferred: DayOrder): { readonly order: DayOrder; readonly example?: string | undefined } {
    const most = Math.max(...Object.values(this.#counts));
    const fitting = dayOrders.filter((order) => this.#counts[order] === most);
    const [first = 'ymd'] = fitting;
    const pairs = fitting.flatMap((one) => fitting.map((other) => `${one} ${other}`));
    const example = pairs.map((pair) => this.#differing.get(pair)).find((text) => text !== undefined);
    if (example === undefined) return { order: first };
    // Few write the year first with two digits, and few the month first with points.
    const likely = fitting.filter((order) => order !== 'ymd');
    const usual = example.includes('.') ? 'dmy' : preferred;
    const order = [usual, preferred, likely.at(-1)].find((each) => each && fitting.includes(each)) ?? first;
    return { order, example };
  }
}

/** True if more than one in twenty characters is a control character, which texts do not have. */
function isBinary(text: string): boolean {
  let controls = 0;
  for (const character of text) if (/[^\P{Cc}\t\n\r]|\uFFFD/u.test(character)) controls++;
  return controls > text.length / 20;
}
