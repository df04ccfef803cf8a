import type { RawRow, RowSource, RowTexts } from './reading.ts';

/** Sections of transactions. Others list accounts, categories and the like. */
const transactionTypes = /^!type:(bank|cash|ccard|oth [al])/i;

interface Split {
  category: string;
  memo: string;
  amount: string;
}

/** Reads the Quicken Interchange Format: a line for each field, whose first letter says which, and `^` after each transaction. */
export class QifSource implements RowSource {
  #rest = '';
  #line = 0;
  #isReading = true;
  #isAccount = false;
  #account: string | undefined;
  #startLine = 0;
  #fields = new Map<string, string>();
  #splits: Split[] = [];

  push(text: string): RawRow[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#take(line));
  }

  end(): RawRow[] {
    const last = this.#rest === '' ? [] : this.#take(this.#rest);
    this.#rest = '';
    return [...last, ...this.#finish()];
  }

  #take(given: string): RawRow[] {
    this.#line++;
    const line = given.replace('\uFEFF', '');
    if (line.trim() === '') return [];
    if (line.startsWith('!')) {
      const open = this.#finish();
      this.#isReading = transactionTypes.test(line);
      this.#isAccount = /^!account/i.test(line);
      return open;
    }
    if (line.startsWith('^')) return this.#finish();
    if (this.#isAccount && line.startsWith('N')) this.#account = line.slice(1).trim();
    if (!this.#isReading) return [];
    if (this.#fields.size === 0) this.#startLine = this.#line;
    const code = line[0] as string;
    if (!/^[A-Z$%]$/i.test(code))
      return [{ line: this.#line, error: { field: 'line', message: 'is no field of QIF' } }];
    this.#keep(code, line.slice(1).trim());
    return [];
  }

  #keep(code: string, value: string): void {
    if (code === 'S') this.#splits.push({ category: value, memo: '', amount: '' });
    const split = this.#splits.at(-1);
    if (split && code === 'E') split.memo = value;
    if (split && code === '$') split.amount = value;
    if (!this.#fields.has(code)) this.#fields.set(code, value);
  }

  #finish(): RawRow[] {
    const [fields, splits, line] = [this.#fields, this.#splits, this.#startLine];
    this.#fields = new Map();
    this.#splits = [];
    if (fields.size === 0 || !this.#isReading) return [];
    const payee = fields.get('P');
    const memo = fields.get('M');
    const category = fields.get('L');
    const texts: RowTexts = {
      spentOn: dayOf(fields.get('D') ?? ''),
      amount: fields.get('T') ?? fields.get('U') ?? '',
      description: payee || memo || category || '',
      ...(payee && memo && { notes: memo }),
      ...(category && { category }),
      ...(this.#account && { account: this.#account }),
    };
    const parts = splits.filter(({ amount }) => amount !== '');
    const rows = parts.length < 2 ? [texts] : parts.map((part) => partOf(texts, part));
    return rows.map((each) =>
      each.category?.startsWith('[')
        ? { line, skipped: 'a transfer to an own account' }
        : { line, texts: each },
    );
  }
}

function partOf(texts: RowTexts, { category, memo, amount }: Split): RowTexts {
  return { ...texts, amount, ...(category && { category }), ...(memo && { notes: memo }) };
}

/** The date of a line; some banks write the payee behind it, and a zero before the year. */
function dayOf(text: string): string {
  const [, day, month, year] = /^(\s*\d{1,2}\/)(\d{1,2}\/)0(\d{2})(?=\D|$)/.exec(text) ?? [];
  return year === undefined ? text : `${day}${month}${year}`;
}
