import { Parser } from 'htmlparser2';
import { firstLook, isSeen, type Look, lookOf, type Marks, marksOf, StyleRules } from '../html-visibility.ts';
import { type Block, describedRow, type Extracted } from './blocks.ts';

/** Elements whose text is not shown on the page. */
const unread = new Set(
  'script style noscript template svg math iframe object head nav button select form textarea datalist audio video canvas'.split(
    ' ',
  ),
);
const breaking = new Set(
  'p div section article main header footer aside li ul ol dl dt dd table tr blockquote pre figure figcaption hr address details summary body'.split(
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
  parser.end(html);
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

const columnNames =
  /^(?:no\.?|id|names?|titles?|keys?|values?|types?|kinds?|units?|variables?|parameters?|options?|settings?|fields?|commands?|arguments?|attributes?|property|properties|defaults?|default value|meanings?|descriptions?|notes?|comments?|remarks?|examples?|dates?|years?|version|status)$/i;

/** Returns true if the first row of a table without `th` names its columns, as a row of `td` in bold may. */
function namesColumns(cells: readonly string[]): boolean {
  return (
    cells.length > 2 &&
    cells.every((cell) => /^\p{Lu}[\p{L} ./()-]{0,30}$/u.test(cell)) &&
    cells.some((cell) => columnNames.test(cell))
  );
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
  #isInHead = false;
  #preformatted = 0;
  /** The row of a table that is open, and the names of its columns. */
  #row: { cells: string[]; isHeader: boolean } | undefined;
  #columns: readonly string[] = [];
  /** The place of the term whose definitions are read among the blocks. */
  #term: { at: number; isDefined: boolean } | undefined;
  #definitions = 0;

  constructor(rules: StyleRules) {
    this.#rules = rules;
    this.#looks = [firstLook(rules)];
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const outer = this.#looks.at(-1) as Look;
    if (name === 'title' && (this.#isInHead || !outer.isGone)) this.#isInTitle = true;
    if (name === 'head') this.#isInHead = true;
    const marks = marksOf(name, attributes);
    const look = lookOf(outer, attributes, this.#rules.of(marks, this.#marks));
    this.#marks.push(marks);
    const isClosed = name === 'dialog' && !('open' in attributes);
    const isUnread = isClosed || unread.has(name) || attributes.role === 'navigation';
    this.#looks.push(isUnread ? { ...look, isGone: true } : look);
    if (name === 'pre') this.#preformatted++;
    if (name === 'br') this.#text += '\n';
    if (name === 'table') [this.#row, this.#columns] = [undefined, []];
    const level = headingLevel(name);
    if (level !== undefined || breaking.has(name)) this.#flush();
    this.#level = level ?? this.#level;
    if (name === 'li') this.#text = this.#row ? `${this.#text} ` : '- ';
    if (name === 'tr') this.#row = { cells: [], isHeader: true };
    if (name === 'td' && this.#row) this.#row.isHeader = false;
    if (name === 'dd') this.#definitions++;
  }

  close(name: string): void {
    if (name === 'title') this.#isInTitle = false;
    if (name === 'head') this.#isInHead = false;
    this.#looks.pop();
    this.#marks.pop();
    if (name === 'td' || name === 'th') this.#row?.cells.push(this.#takeText());
    if (name === 'tr') this.#closeRow();
    if (headingLevel(name) !== undefined || breaking.has(name)) this.#flush();
    if (name === 'dt' && this.#definitions === 0) this.#noteTerm();
    if (name === 'dd') this.#definitions = Math.max(0, this.#definitions - 1);
    if (name === 'dl' && this.#definitions === 0) this.#term = undefined;
    if (name === 'pre') this.#preformatted--;
  }

  text(text: string): void {
    if (this.#isInTitle) this.#title += text;
    else if (isSeen(this.#looks.at(-1) as Look))
      this.#text += this.#preformatted > 0 ? text : text.replace(/\s+/g, ' ');
  }

  finish(): Extracted {
    this.#flush();
    return { blocks: this.#blocks, title: this.#title.replace(/\s+/g, ' ').trim() || undefined };
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
    if (level !== undefined) this.#blocks.push({ text, level });
    else if (this.#definitions === 0 || !this.#addDefinition(text)) this.#blocks.push({ text });
  }

  /** A row with the names of its columns. */
  #closeRow(): void {
    const row = this.#row;
    this.#row = undefined;
    if (!row) return;
    const isHeader =
      row.cells.length > 1 && (row.isHeader || (this.#columns.length === 0 && namesColumns(row.cells)));
    if (isHeader) this.#columns = row.cells;
    const isNamed = row.cells.length <= this.#columns.length;
    this.#text = isNamed ? describedRow(this.#columns, row.cells) : row.cells.filter(Boolean).join('; ');
    if (isHeader) this.#text = '';
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

/** Tells which text is seen between pieces of HTML, as in Markdown, where each tag may be a piece of its own. */
export class SeenText {
  readonly #looks = [firstLook(new StyleRules())];
  readonly #parser: Parser;
  #text = '';

  constructor() {
    this.#parser = new Parser({
      onopentag: (name, attributes) => {
        const look = lookOf(this.#looks.at(-1) as Look, attributes, []);
        this.#looks.push(unread.has(name) ? { ...look, isGone: true } : look);
      },
      onclosetag: () => this.#looks.pop(),
      ontext: (text) => {
        if (this.isSeen) this.#text += text;
      },
    });
  }

  /** True if a reader sees text at this place. */
  get isSeen(): boolean {
    return isSeen(this.#looks.at(-1) as Look);
  }

  /** The text of one more piece that is seen. */
  take(html: string): string {
    this.#text = '';
    this.#parser.write(html);
    return this.#text;
  }
}

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
