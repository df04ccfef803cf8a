import { dateOf, type FileParser, type ParsedRow, parseRow, type ReadOptions, type RowTexts } from './row.ts';

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

const lineBreak = /^\/?BR\s*\/?$/;
/** A tag may be so long; without its end, `<` is text. */
const tagCharactersMax = 200;

/** Reads Open Financial Exchange, version 1 (SGML, where values have no end tags) and 2 (XML), as it arrives. */
export class OfxParser implements FileParser {
  readonly #options: ReadOptions;
  #text = '';
  #line = 1;
  #currency: string | undefined;
  #startLine = 0;
  #fields: Map<string, string> | undefined;
  /** The field that was read last: a line break in its value is written as a tag. */
  #field = '';

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  push(text: string): ParsedRow[] {
    this.#text += text;
    return this.#take(false);
  }

  end(): ParsedRow[] {
    return [...this.#take(true), ...this.#finish('is not closed')];
  }

  #take(isEnd: boolean): ParsedRow[] {
    const rows: ParsedRow[] = [];
    let start = this.#text.indexOf('<');
    while (start !== -1) {
      const close = this.#text.indexOf('>', start);
      const next = this.#text.indexOf('<', start + 1);
      // The value of a tag goes to the next tag, which must have arrived.
      if ((close === -1 || next === -1) && !isEnd) break;
      const isTag = close !== -1 && close - start <= tagCharactersMax && (next === -1 || close < next);
      if (isTag) {
        const end = next === -1 ? this.#text.length : next;
        rows.push(...this.#tag(this.#text.slice(start + 1, close), this.#text.slice(close + 1, end)));
      }
      this.#skip(0, next === -1 ? this.#text.length : next);
      start = this.#text.indexOf('<');
    }
    return rows;
  }

  /** Drops text, and counts its lines. */
  #skip(from: number, to: number): void {
    for (
      let at = this.#text.indexOf('\n', from);
      at !== -1 && at < to;
      at = this.#text.indexOf('\n', at + 1)
    ) {
      this.#line++;
    }
    this.#text = this.#text.slice(to);
  }

  #tag(given: string, value: string): ParsedRow[] {
    const tag = given.trim().toUpperCase();
    if (tag === 'STMTTRN') {
      const open = this.#finish('is not closed');
      this.#startLine = this.#line;
      this.#fields = new Map();
      return open;
    }
    if (tag === '/STMTTRN') return this.#finish();
    if (tag === '/BANKTRANLIST') return this.#finish('is not closed');
    if (tag === 'CURDEF') this.#currency = value.trim();
    const text = decoded(value.trim());
    if (lineBreak.test(tag)) {
      const before = this.#fields?.get(this.#field);
      if (before !== undefined) this.#fields?.set(this.#field, `${before} ${text}`.trim());
      return [];
    }
    this.#field = tag.startsWith('/') || this.#fields?.has(tag) ? '' : tag;
    if (this.#field !== '') this.#fields?.set(tag, text);
    return [];
  }

  #finish(problem?: string): ParsedRow[] {
    const fields = this.#fields;
    this.#fields = undefined;
    if (!fields) return [];
    const line = this.#startLine;
    if (problem !== undefined) return [{ line, error: { field: 'STMTTRN', message: problem } }];
    const name = fields.get('NAME') || fields.get('PAYEE');
    const memo = fields.get('MEMO');
    const texts: RowTexts = {
      spentOn: dayOf(fields.get('DTPOSTED') ?? ''),
      amount: fields.get('TRNAMT') ?? '',
      currency: fields.get('CURSYM') ?? this.#currency,
      // Names are cut to 32 characters, and the whole of it is often in the memo.
      description:
        (memo && name && memo.startsWith(name) ? memo : name || memo) || fields.get('TRNTYPE') || '',
      ...(memo && name && !memo.startsWith(name) && { notes: memo }),
      externalId: fields.get('FITID'),
    };
    const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined));
    return [parseRow(line, given, { ...this.#options, sign: 'negative', dateFormat: 'ymd' })];
  }
}

/** `20260131120000.000[-5:EST]` is the day at the bank. */
function dayOf(text: string): string {
  const [, year = '', month = '', day = ''] = /^(\d{4})(\d\d)(\d\d)/.exec(text) ?? [];
  return dateOf(year, month, day) ?? text;
}

function decoded(text: string): string {
  return text.replace(/&(#x?[0-9a-f]+|[a-z]+);/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
