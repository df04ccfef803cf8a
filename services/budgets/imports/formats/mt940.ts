import type { RawRow, RowSource } from './reading.ts';

/** Day, mark of debit or credit, and amount of a transaction. `RC` takes back what came in. */
const transaction = /^(\d{6})(?:\d{4})?(R?[CD])[A-Z]?(\d[\d,.]*)(?:[NSF][A-Z0-9]{3})?([^/\n]*)/;

/** Reads MT940 of SWIFT: fields such as `:61:`, whose values may go on for some lines. */
export class Mt940Source implements RowSource {
  #rest = '';
  #line = 0;
  #tag = '';
  #value = '';
  #valueLine = 0;
  #account = '';
  #currency = '';
  #open: { readonly line: number; readonly value: string; purpose: string } | undefined;

  push(text: string): RawRow[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#take(line));
  }

  end(): RawRow[] {
    const last = this.#take(this.#rest);
    this.#rest = '';
    return [...last, ...this.#field(), ...this.#finish()];
  }

  #take(line: string): RawRow[] {
    this.#line++;
    const [whole = '', tag] = /^(?:\{.*)?:(\d\d[A-Z]?):/.exec(line) ?? [];
    if (tag === undefined) {
      if (!/^-\}?\s*$/.test(line)) this.#value += `\n${line}`;
      return [];
    }
    const rows = this.#field();
    this.#tag = tag;
    this.#value = line.slice(whole.length);
    this.#valueLine = this.#line;
    return rows;
  }

  /** Takes the field that ends here. */
  #field(): RawRow[] {
    const [tag, value] = [this.#tag, this.#value];
    this.#tag = '';
    this.#value = '';
    if (tag === '86' && this.#open) this.#open.purpose = value;
    if (tag === '' || tag === '86') return [];
    const rows = this.#finish();
    if (tag === '25') this.#account = value.trim();
    if (/^60[FM]$/.test(tag)) this.#currency = value.slice(7, 10);
    if (tag === '61') this.#open = { line: this.#valueLine, value, purpose: '' };
    return rows;
  }

  #finish(): RawRow[] {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return [];
    const { line, value, purpose } = open;
    const [whole, day = '', mark = '', amount = '', reference = ''] = transaction.exec(value) ?? [];
    if (whole === undefined)
      return [{ line, error: { field: 'line', message: 'is no transaction of MT940' } }];
    const { payee, text } = wordsOf(purpose);
    const description = payee || text || value.split('\n')[1]?.trim() || '';
    const id = reference.trim();
    return [
      {
        line,
        texts: {
          // Years of two digits.
          spentOn: day.replace(/(..)(..)(..)/, '$1-$2-$3'),
          amount,
          direction: mark === 'D' || mark === 'RC' ? 'D' : 'C',
          currency: this.#currency,
          description: description.slice(0, 500),
          notes: payee ? text : '',
          externalId: /^(NONREF|EREF|KREF|)$/.test(id) ? '' : id,
          account: this.#account,
        },
      },
    ];
  }
}

/** Payee and purpose in one of the ways in which banks divide field 86: `?20`, `>20`, `/NAME/`, or not at all. */
function wordsOf(purpose: string): { readonly payee: string; readonly text: string } {
  const joined = purpose.replaceAll('\n', '');
  const parts = [...joined.matchAll(/[?>](\d\d)([^?>]*)/g)].map(
    ([, code, text = '']) => [Number(code), text] as const,
  );
  const between = (from: number, to: number) =>
    parts
      .flatMap(([code, text]) => (code >= from && code <= to ? text : []))
      .join('')
      .trim();
  if (parts.length > 1) return { payee: between(32, 33), text: between(20, 29) || between(0, 9) };
  const [, name = ''] = /\/NAME\/([^/]*)/.exec(joined) ?? [];
  const [, remittance = ''] = /\/REMI\/(?!\/)(.*?)(?=\/[A-Z]{4}\/|$)/.exec(joined) ?? [];
  if (name !== '' || remittance !== '') return { payee: name.trim(), text: remittance.trim() };
  return { payee: '', text: purpose.replaceAll('\n', ' ').trim() };
}
