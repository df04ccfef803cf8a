import {
  type DateFormat,
  dateFormats,
  type FileParser,
  type ParsedRow,
  parseDate,
  parseRow,
  type ReadOptions,
  type RowTexts,
} from './row.ts';

/** Sections of transactions. Others list accounts, categories and the like. */
const transactionTypes = /^!type:(bank|cash|ccard|oth [al])/i;

/** Reads the Quicken Interchange Format: a line for each field, whose first letter says which, and `^` after each transaction. */
export class QifParser implements FileParser {
  readonly #options: ReadOptions;
  #rest = '';
  #line = 0;
  #isReading = true;
  #startLine = 0;
  #fields = new Map<string, string>();

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  push(text: string): ParsedRow[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#take(line));
  }

  end(): ParsedRow[] {
    const last = this.#rest === '' ? [] : this.#take(this.#rest);
    this.#rest = '';
    return [...last, ...this.#finish()];
  }

  #take(given: string): ParsedRow[] {
    this.#line++;
    const line = given.replace(/\r$/, '').replace('\uFEFF', '');
    if (line.trim() === '') return [];
    if (line.startsWith('!')) {
      this.#isReading = transactionTypes.test(line);
      const open = this.#finish();
      return open;
    }
    if (line.startsWith('^')) return this.#finish();
    if (!this.#isReading) return [];
    if (this.#fields.size === 0) this.#startLine = this.#line;
    const code = line[0] as string;
    if (!/^[A-Z$%]$/i.test(code)) {
      return [{ line: this.#line, error: { field: 'line', message: 'is no field of QIF' } }];
    }
    if (!this.#fields.has(code)) this.#fields.set(code, line.slice(1).trim());
    return [];
  }

  #finish(): ParsedRow[] {
    const fields = this.#fields;
    this.#fields = new Map();
    if (fields.size === 0 || !this.#isReading) return [];
    const payee = fields.get('P');
    const memo = fields.get('M');
    const texts: RowTexts = {
      spentOn: fields.get('D') ?? '',
      amount: fields.get('T') ?? fields.get('U') ?? '',
      description: payee || memo || fields.get('L') || 'Imported expense',
      ...(payee && memo && { notes: memo }),
      ...(fields.get('L') && { category: fields.get('L') }),
    };
    return [parseRow(this.#startLine, texts, { ...this.#options, sign: 'negative' })];
  }
}

/** The formats that fit all dates of a file; the first few texts are enough to show. */
export class QifDates {
  #rest = '';
  #fitting: readonly DateFormat[] = dateFormats;
  #dates = 0;

  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#look(line);
  }

  /** The only format that fits. Throws away none where all dates are unreadable: they are reported one by one. */
  end(): DateFormat | 'several' {
    this.#look(this.#rest);
    if (this.#dates === 0) return 'ymd';
    return this.#fitting.length === 1 ? (this.#fitting[0] as DateFormat) : 'several';
  }

  #look(line: string): void {
    if (!/^D\d/.test(line)) return;
    const text = line.slice(1).trim();
    const fitting = this.#fitting.filter((format) => parseDate(text, format) !== undefined);
    // A date that fits none is a malformed line, and tells nothing of the others.
    if (fitting.length === 0) return;
    this.#dates++;
    this.#fitting = fitting;
  }
}
