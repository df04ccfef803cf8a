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
/** CDATA and comments may be so long; else their beginning is text. */
const markupCharactersMax = 64 * 1024;

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
    const text = this.#text;
    const open = isEnd ? -1 : openMarkup(text);
    let from = 0;
    for (let start = text.indexOf('<'); ; ) {
      const next = start === -1 ? -1 : text.indexOf('<', start + 1);
      const inside = text.slice(start, start + tagCharactersMax + 1).indexOf('>');
      const isCut = inside === -1 && text.length - start <= tagCharactersMax;
      // The value of a tag goes to the next tag, which must have arrived.
      if (!isEnd && start !== -1 && (isCut || next === -1 || next === open || start === open)) break;
      const end = next === -1 ? text.length : next;
      const isTag = start !== -1 && inside !== -1 && start + inside < end;
      this.#pass(text.slice(from, start === -1 ? end : start));
      if (isTag)
        rows.push(...this.#tag(text.slice(start + 1, start + inside), text.slice(start + inside + 1, end)));
      if (start !== -1) this.#pass(text.slice(start, end));
      from = end;
      if (next === -1) break;
      start = next;
    }
    this.#text = text.slice(from);
    return rows;
  }

  #pass(text: string): void {
    this.#line += text.split('\n').length - 1;
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
    const text = decoded(value.trim());
    // The amount is in the currency of the account all the same.
    if (this.#isOriginal) {
      if (tag === 'CURSYM' || tag === 'CURRATE') this.#fields?.set(`ORIG${tag}`, text);
      return [];
    }
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
      originalCurrency: fields.get('ORIGCURSYM') ?? '',
      rate: (fields.get('ORIGCURRATE') ?? '').replace(',', '.'),
      account: this.#account ?? '',
      type: fields.get('TRNTYPE') ?? '',
      ...(memo && name && !memo.startsWith(name) && { notes: memo }),
    };
    return [{ line, texts }];
  }
}

const markup = ['<![CDATA[', '<!--'] as const;
const closings = { '<![CDATA[': ']]>', '<!--': '-->' };

/** The place of CDATA or a comment whose end may still arrive; -1 if there is none. */
function openMarkup(text: string): number {
  const at = text.slice(-markupCharactersMax).search(/<!(?:\[CDATA\[|--)|<!?(?:\[[CDAT]*|-)?$/);
  return at === -1 ? -1 : at + Math.max(0, text.length - markupCharactersMax);
}

/** Text without comments, with CDATA as escaped text. Line ends are kept. */
function withoutMarkup(text: string): string {
  // Each end is looked for once, however many beginnings there are before it.
  const ends = { '<![CDATA[': 0, '<!--': 0 };
  let read = '';
  for (let at = 0; ; ) {
    const start = text.indexOf('<!', at);
    if (start === -1) return read + text.slice(at);
    read += text.slice(at, start);
    const opening = markup.find((each) => text.startsWith(each, start));
    at = start + (opening?.length ?? 2);
    if (opening && ends[opening] !== -1 && ends[opening] < at)
      ends[opening] = text.indexOf(closings[opening], at);
    const end = opening ? ends[opening] : -1;
    if (!opening || end === -1 || end - at > markupCharactersMax) {
      read += text.slice(start, at);
      continue;
    }
    const inner = text.slice(at, end);
    read +=
      opening === '<!--'
        ? inner.replace(/[^\n]/g, '')
        : inner.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    at = end + closings[opening].length;
  }
}

function decoded(text: string): string {
  return text.replace(/&(#x?[0-9a-f]+|[a-z]+);/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
