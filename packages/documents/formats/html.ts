import { encodeXML } from 'entities';
import { Parser } from 'htmlparser2';
import {
  firstLook,
  isSeen,
  isSeenStruck,
  type Look,
  lookOf,
  type Marks,
  marksOf,
  StyleRules,
} from '../html-visibility.ts';
import { replacedBetween } from './between.ts';
import type { Block, Extracted } from './blocks.ts';
import { struckLeftOut } from './blocks.ts';
import { listNumber } from './marks/list-numbers.ts';
import { markedText } from './marks/raised.ts';
import { linearMath } from './math.ts';
import { propertyBlocks } from './properties.ts';
import { type Cell, mayName, namesColumns, namesNumbers, TableRows } from './table-rows.ts';

/** Elements whose text is not shown on the page, or tells how another one is spoken. */
const unread = new Set(
  'script style noscript template svg iframe object nav button select form textarea datalist audio video canvas rt rp annotation annotation-xml'.split(
    ' ',
  ),
);
const struck = new Set(['s', 'strike', 'del']);
const breaking = new Set(
  'p head div section article main header footer aside li ul ol dl dt dd table tr blockquote pre figure figcaption hr address details summary body caption'.split(
    ' ',
  ),
);

/** Cells that are longer place paragraphs on the page. */
const cellLengthMax = 600;
const entryLengthMax = 4_000;

/** A page as its readers see it: headings, paragraphs, points of lists, rows of tables. */
export function extractHtml(html: string): Extracted {
  const reader = new PageReader(rulesOf(html));
  const parser = new Parser(
    {
      onopentag: (name, attributes) => reader.open(name, attributes),
      onclosetag: (name) => reader.close(name),
      ontext: (text) => reader.text(text),
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.end(replacedBetween(html, ['<math', '</math>'], (math) => encodeXML(linearMath(math))));
  return reader.finish();
}

/** The style sheets of the page, which may also come after the elements they style. */
function rulesOf(html: string): StyleRules {
  const rules = new StyleRules();
  let [sheet, isInSheet] = ['', false];
  const parser = new Parser({
    onopentagname: (name) => {
      isInSheet = name === 'style';
    },
    ontext: (text) => {
      if (isInSheet) sheet += text;
    },
    onclosetag: () => {
      if (sheet !== '') rules.add(sheet);
      [sheet, isInSheet] = ['', false];
    },
  });
  if (/<style/i.test(html)) parser.end(html);
  return rules;
}

class PageReader {
  readonly #rules: StyleRules;
  readonly #blocks: Block[] = [];
  /** Looks of the open elements. */
  readonly #looks: Look[];
  readonly #marks: Marks[] = [];
  #text = '';
  #level: number | undefined;
  #title = '';
  #isInTitle = false;
  readonly #properties = new Map<string, string>();
  #isInHead = false;
  #preformatted = 0;
  /** The row of a table that is open, and the rows before it. */
  #row: { cells: Cell[]; isHeader: boolean } | undefined;
  #cell: Omit<Cell, 'text'> = {};
  #table = new TableRows();
  /** The first row of a table, until the next one tells whether it names columns. */
  #first: readonly Cell[] | undefined;
  /** Places at which raised and lowered texts begin. */
  readonly #raised: number[] = [];
  /** The place of the term whose definitions are read among the blocks. */
  #term: { at: number; isDefined: boolean } | undefined;
  #definitions = 0;
  #hasStruck = false;
  /** The open lists. */
  readonly #lists: List[] = [];
  /** The sign or number of a point whose text has not begun. */
  #mark = '';

  constructor(rules: StyleRules) {
    this.#rules = rules;
    this.#looks = [firstLook(rules)];
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const outer = this.#looks.at(-1) as Look;
    if (name === 'title' && (this.#isInHead || !outer.isGone)) this.#isInTitle = true;
    if (name === 'head') this.#isInHead = true;
    if (name === 'meta')
      this.#properties.set((attributes.name ?? '').toLowerCase(), attributes.content ?? '');
    const marks = marksOf(name, attributes);
    const ruled = this.#rules.of(marks, this.#marks);
    const look = lookOf(outer, attributes, ruled);
    this.#marks.push(marks);
    const isClosed = name === 'dialog' && !('open' in attributes);
    const isUnread = isClosed || unread.has(name) || attributes.role === 'navigation';
    this.#looks.push({
      ...look,
      isGone: look.isGone || isUnread,
      isStruck: look.isStruck || struck.has(name),
    });
    if (name === 'pre') this.#preformatted++;
    if (name === 'br') this.#text += '\n';
    if (name === 'table') {
      this.#tellFirst();
      [this.#row, this.#table] = [undefined, new TableRows()];
    }
    const level = headingLevel(name);
    if (level !== undefined || breaking.has(name)) this.#flush();
    this.#level = level ?? this.#level;
    if (name === 'ol' || name === 'ul') this.#lists.push(listOf(name, attributes, ruled));
    if (name === 'li') this.#openPoint(attributes);
    if (name === 'tr') this.#row = { cells: [], isHeader: true };
    if (name === 'td' && this.#row) this.#row.isHeader = false;
    if (name === 'td' || name === 'th')
      this.#cell = { columns: spanOf(attributes.colspan), rows: spanOf(attributes.rowspan) };
    if (name === 'sup' || name === 'sub') this.#raised.push(this.#text.length);
    if (name === 'dd') this.#definitions++;
  }

  close(name: string): void {
    if (name === 'ol' || name === 'ul') this.#lists.pop();
    if (name === 'li' && this.#text.trim() === this.#mark) this.#text = '';
    if (name === 'title') this.#isInTitle = false;
    if (name === 'head') this.#isInHead = false;
    this.#looks.pop();
    this.#marks.pop();
    if (name === 'sup' || name === 'sub') this.#closeRaised(name === 'sup');
    if (name === 'td' || name === 'th') this.#row?.cells.push({ ...this.#cell, text: this.#takeText() });
    if (name === 'tr') this.#closeRow();
    if (headingLevel(name) !== undefined || breaking.has(name)) this.#flush();
    if (name === 'dt' && this.#definitions === 0) this.#noteTerm();
    if (name === 'dd') this.#definitions = Math.max(0, this.#definitions - 1);
    if (name === 'dl' && this.#definitions === 0) this.#term = undefined;
    if (name === 'pre') this.#preformatted--;
  }

  text(text: string): void {
    const look = this.#looks.at(-1) as Look;
    if (this.#isInTitle) this.#title += text;
    else if (isSeen(look)) this.#text += this.#preformatted > 0 ? text : text.replace(/\s+/g, ' ');
    else if (!this.#hasStruck && isSeenStruck(look)) this.#hasStruck = /\S/.test(text);
  }

  finish(): Extracted {
    this.#flush();
    this.#tellFirst();
    const title = this.#title.replace(/\s+/g, ' ').trim() || undefined;
    const [author, description, keywords, date] = ['author', 'description', 'keywords', 'date'].map((name) =>
      this.#properties.get(name),
    );
    // Alone it is the title of the document, and no text of it.
    const isAlone = !(author || description || keywords);
    const properties = { title: isAlone ? undefined : title, author, description, keywords, date };
    this.#blocks.push(...propertyBlocks(properties));
    return { blocks: this.#blocks, title, warnings: this.#hasStruck ? [struckLeftOut] : [] };
  }

  #takeText(): string {
    const text = (
      this.#preformatted > 0 ? this.#text : this.#text.replace(/ *\n */g, '\n').replace(/ {2,}/g, ' ')
    ).trim();
    this.#text = '';
    return text;
  }

  #flush(): void {
    // Paragraphs in a table cell are one text, unless the table is used for layout.
    if (this.#row && this.#level === undefined && this.#text.length < cellLengthMax) {
      if (this.#text.trim() !== '') this.#text += ' ';
      return;
    }
    this.#row = undefined;
    const text = this.#takeText();
    const level = this.#level;
    this.#level = undefined;
    if (text === '' || text === '-') return;
    if (text === this.#mark) {
      // It stands before the first paragraph of its point.
      this.#text = `${text} `;
      return;
    }
    this.#mark = '';
    this.#tellFirst();
    if (level !== undefined) this.#blocks.push({ text, level });
    else if (this.#definitions === 0 || !this.#addDefinition(text)) this.#blocks.push({ text });
  }

  #openPoint({ value }: Readonly<Record<string, string>>): void {
    const list = this.#lists.at(-1);
    if (list && /^-?\d+$/.test(value ?? '')) list.next = Number(value);
    const isGone = this.#looks.at(-1)?.isGone ?? false;
    this.#mark = list?.form && !isGone ? `${listNumber(list.next, list.form)}.` : '-';
    if (list && !isGone) list.next += list.step;
    this.#text = this.#row ? `${this.#text} ` : `${this.#mark} `;
  }

  /** Adds the first row of a table that names no columns. */
  #tellFirst(): void {
    const text = this.#first && this.#table.add(this.#first);
    this.#first = undefined;
    if (text) this.#blocks.push({ text });
  }

  /** A row with the names of its columns. */
  #closeRow(): void {
    const row = this.#row;
    this.#row = undefined;
    if (!row) return;
    // A row is one line, however its cells are broken; a single cell may be a layout.
    const isLayout = row.cells.length < 2;
    const cells = isLayout
      ? row.cells
      : row.cells.map(({ text, ...cell }) => ({ ...cell, text: text.replace(/\s*\n\s*/g, ' ') }));
    const texts = cells.map(({ text }) => text);
    const isHeader = !isLayout && (row.isHeader || (!this.#table.hasNames && namesColumns(texts)));
    if (this.#first && namesNumbers(this.#first, cells)) this.#table.add(this.#first, true);
    else this.#tellFirst();
    this.#first = undefined;
    if (!isHeader && this.#table.isNew && mayName(cells)) this.#first = cells;
    else this.#text = this.#table.add(cells, isHeader) ?? '';
  }

  #closeRaised(isRaised: boolean): void {
    const from = this.#raised.pop() ?? 0;
    if (from > this.#text.length) return;
    const before = this.#text.slice(0, from);
    this.#text = before + markedText(before, this.#text.slice(from), isRaised);
  }

  /** Notes the last block as a term. Several terms may share a definition. */
  #noteTerm(): void {
    const last = this.#blocks.at(-1);
    if (!last || last.level !== undefined) return;
    if (this.#term && !this.#term.isDefined && this.#term.at === this.#blocks.length - 2) {
      this.#blocks.pop();
      const first = this.#blocks.pop();
      this.#blocks.push({ text: `${first?.text}\n${last.text}` });
    }
    this.#term = { at: this.#blocks.length - 1, isDefined: false };
  }

  #addDefinition(text: string): boolean {
    const entry = this.#term && this.#blocks[this.#term.at];
    if (!this.#term || !entry || entry.text.length > entryLengthMax) return false;
    const between = this.#term.isDefined ? '\n\n' : '\n';
    this.#blocks[this.#term.at] = { text: `${entry.text}${between}${text.replace(/^(?=.)/gm, '    ')}` };
    this.#term.isDefined = true;
    return true;
  }
}

interface List {
  /** Undefined if its points have no numbers. */
  readonly form: string | undefined;
  readonly step: number;
  next: number;
}

function listOf(
  name: string,
  attributes: Readonly<Record<string, string>>,
  ruled: readonly ReadonlyMap<string, string>[],
): List {
  const styles = ruled.flatMap((style) => [style.get('list-style'), style.get('list-style-type')]);
  const isBare = /list-style(?:-type)?\s*:\s*none/.test(attributes.style ?? '') || styles.includes('none');
  const isReversed = 'reversed' in attributes;
  const first = Number.parseInt(attributes.start ?? '1', 10);
  // How many points there are is not known before they are read.
  const isNumbered = name === 'ol' && !isBare && (!isReversed || 'start' in attributes);
  return {
    form: isNumbered ? (attributes.type ?? '1') : undefined,
    step: isReversed ? -1 : 1,
    next: Number.isNaN(first) ? 1 : first,
  };
}

/** Tells which text is seen between pieces of HTML, as in Markdown, where each tag may be a piece of its own. */
export class SeenText {
  readonly #looks = [firstLook(new StyleRules())];
  readonly #parser: Parser;
  #text = '';
  /** True if a reader sees text that is struck out. */
  hasStruck = false;

  constructor() {
    this.#parser = new Parser({
      onopentag: (name, attributes) => {
        const look = lookOf(this.#looks.at(-1) as Look, attributes, []);
        this.#looks.push({
          ...look,
          isGone: look.isGone || unread.has(name),
          isStruck: look.isStruck || struck.has(name),
        });
        if (name === 'br' && this.isSeen) this.#text += '\n';
      },
      onclosetag: () => this.#looks.pop(),
      ontext: (text) => {
        if (this.isSeen) this.#text += text;
        else this.skip(text);
      },
    });
  }

  /** True if a reader sees text at this place. */
  get isSeen(): boolean {
    return isSeen(this.#looks.at(-1) as Look);
  }

  /** Notes a text between pieces that is not seen at this place, or not unless struck out. */
  skip(text: string): void {
    this.hasStruck ||= isSeenStruck(this.#looks.at(-1) as Look) && /\S/.test(text);
  }

  /** The text of one more piece that is seen. */
  take(html: string): string {
    this.#text = '';
    this.#parser.write(html);
    return this.#text;
  }
}

/** The cells that one covers, by its attribute; 0, for all that follow, counts as many. */
function spanOf(value = '1'): number {
  const span = Number.parseInt(value, 10);
  return span === 0 ? spanMax : Math.min(Math.max(1, span || 1), spanMax);
}

const spanMax = 1_000;

function headingLevel(name: string): number | undefined {
  return /^h[1-6]$/.test(name) ? Number(name[1]) : undefined;
}

/** The text of each element that has some, with the names of attributes left out. */
export function extractXml(xml: string): Extracted {
  const blocks: Block[] = [];
  let text = '';
  const flush = () => {
    const clean = text.replace(/\s+/g, ' ').trim();
    if (clean !== '') blocks.push({ text: clean });
    text = '';
  };
  const parser = new Parser(
    {
      onopentag: flush,
      onclosetag: flush,
      ontext: (part) => {
        text += part;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  return { blocks };
}
