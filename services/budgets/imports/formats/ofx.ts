import type { RawRow, RowSource, RowTexts } from './reading.ts';

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
export class OfxSource implements RowSource {
  #text = '';
  #line = 1;
  #currency: string | undefined;
  #account: string | undefined;
  /** True within the aggregate that says what was paid abroad. */
  #isOriginal = false;
  #startLine = 0;
  #fields: Map<string, string> | undefined;
  /** The field that was read last: a line break in its value is written as a tag. */
  #field = '';

  push(text: string): RawRow[] {
    this.#text = withoutMarkup(this.#text + text);
    return this.#take(false);
  }

  end(): RawRow[] {
    return [...this.#take(true), ...this.#finish('is not closed')];
  }

  #take(isEnd: boolean): RawRow[] {
    const rows: RawRow[] = [];
    let start = this.#text.indexOf('<');
    // CDATA or a comment whose end has not arrived.
    const open = isEnd ? -1 : this.#text.search(/<!(?:\[CDATA\[|--)|<!?(?:\[[CDAT]*|-)?$/);
    while (start !== -1) {
      const close = this.#text.indexOf('>', start);
      const next = this.#text.indexOf('<', start + 1);
      // The value of a tag goes to the next tag, which must have arrived.
      if (!isEnd && (close === -1 || next === -1 || next === open || start === open)) break;
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

  #tag(given: string, value: string): RawRow[] {
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
    if (tag === 'ACCTID' && !this.#fields) this.#account = value.trim();
    if (/^\/?ORIGCURRENCY$/.test(tag)) this.#isOriginal = !tag.startsWith('/');
    // The amount is in the currency of the account all the same.
    if (this.#isOriginal) return [];
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

  #finish(problem?: string): RawRow[] {
    const fields = this.#fields;
    this.#fields = undefined;
    if (!fields) return [];
    const line = this.#startLine;
    if (problem !== undefined) return [{ line, error: { field: 'STMTTRN', message: problem } }];
    const name = fields.get('NAME') || fields.get('PAYEE');
    const memo = fields.get('MEMO');
    const texts: RowTexts = {
      spentOn: fields.get('DTPOSTED')?.slice(0, 8) ?? '',
      // The standard has a comma or a point, and no sign of thousands.
      amount: (fields.get('TRNAMT') ?? '').replace(',', '.'),
      currency: fields.get('CURSYM') ?? this.#currency ?? '',
      // Names are cut to 32 characters, and the whole of it is often in the memo.
      description:
        (memo && name && memo.startsWith(name) ? memo : name || memo) || fields.get('TRNTYPE') || '',
      externalId: fields.get('FITID') ?? '',
      account: this.#account ?? '',
      ...(memo && name && !memo.startsWith(name) && { notes: memo }),
    };
    return [{ line, texts }];
  }
}

/** Text without comments, with CDATA as escaped text. Line ends are kept. */
function withoutMarkup(text: string): string {
  if (!text.includes('<!')) return text;
  return text
    .replace(/<!\[CDATA\[(.*?)\]\]>/gs, (_, inner: string) =>
      inner.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
    )
    .replace(/<!--.*?-->/gs, (comment) => comment.replace(/[^\n]/g, ''));
}

function decoded(text: string): string {
  return text.replace(/&(#x?[0-9a-f]+|[a-z]+);/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
