import { unreadable } from '../../errors.ts';
import type { Block, Extracted } from '../blocks.ts';
import { struckLeftOut } from '../blocks.ts';
import { markedText } from '../marks/raised.ts';
import { type Note, withNotes } from '../notes.ts';
import { rowBlocks } from '../table.ts';
import { type Cell, tableTexts } from '../table-rows.ts';
import { type Attributes, readArchive, readXml } from './archive.ts';
import { OpenLists, readListStyles, readUnlistedStyles } from './open-lists.ts';
import { isSeen, isSeenStruck, type Look, lookOf, readStyles, type Styles } from './open-styles.ts';

/** Elements whose text is none of the document: comments, deleted and hidden text, styles, numbers of notes, and how words are spoken. */
const unread =
  /^(?:office:annotation|text:tracked-changes|text:hidden-text|text:hidden-paragraph|office:automatic-styles|text:note-citation|text:ruby-text|svg:title|svg:desc|office:scripts|office:forms|text:page-number)$/;

/** An OpenDocument text, spreadsheet or presentation, without comments, deleted text, and text that readers do not see. */
export function extractOpenDocument(bytes: Uint8Array): Extracted {
  const members = readArchive(bytes, (name) => name === 'content.xml' || name === 'styles.xml');
  const content = members.get('content.xml');
  if (content === undefined)
    throw unreadable('The file is not an OpenDocument file, or is protected by a password.');
  const parts = [members.get('styles.xml') ?? '', content];
  const lists = new OpenLists(readListStyles(parts), readUnlistedStyles(parts));
  const reader = new OpenReader(readStyles(parts), lists);
  readXml(content, {
    open: (name, attributes) => reader.open(name, attributes),
    text: (part) => reader.text(part),
    close: (name) => reader.close(name),
  });
  return reader.finish();
}

interface Paragraph {
  text: string;
  readonly level: number | undefined;
  /** Its number in a list. */
  readonly mark: string;
  readonly notes: Note[];
  /** Paragraphs of text boxes, which follow it. */
  readonly boxes: string[];
}

interface Table {
  readonly rows: Cell[][];
  /** Rows with places that a cell above or to the left covers. */
  readonly covered: Set<Cell[]>;
  headers: number;
  isHeader: boolean;
  isHiddenRow: boolean;
  rowRepeats: number;
}

/** Receives the texts inside an element. */
interface Sink {
  readonly name: string;
  readonly texts: string[];
  readonly attributes: Attributes;
}

const sinkNames = new Set(['table:table-cell', 'text:note-body', 'draw:text-box']);
const repeatsMax = 1_000;

class OpenReader {
  readonly #styles: Styles;
  readonly #lists: OpenLists;
  readonly #blocks: Block[] = [];
  readonly #looks: Look[];
  /** Places at which the open elements begin in their paragraph. */
  readonly #starts: number[] = [];
  readonly #paragraphs: Paragraph[] = [];
  readonly #tables: Table[] = [];
  readonly #sinks: Sink[] = [];
  #unreadDepth = 0;
  #pages = 0;
  #isSpreadsheet = false;
  /** True until the first text of a slide. */
  #isSlideStart = false;
  #hasStruck = false;

  constructor(styles: Styles, lists: OpenLists) {
    this.#styles = styles;
    this.#lists = lists;
    this.#looks = [styles.page];
  }

  open(name: string, attributes: Attributes): void {
    if (unread.test(name)) this.#unreadDepth++;
    if (this.#unreadDepth > 0) return;
    const paragraph = this.#paragraphs.at(-1);
    this.#looks.push(lookOf(this.#look, name, { attributes, styles: this.#styles }));
    this.#starts.push(paragraph?.text.length ?? 0);
    if (name === 'office:spreadsheet') this.#isSpreadsheet = true;
    this.#lists.open(name, attributes);
    if (name === 'text:h' || name === 'text:p') {
      const level = name === 'text:h' ? Number(attributes['text:outline-level'] ?? 1) : undefined;
      this.#paragraphs.push({ text: '', level, mark: this.#lists.takeMark(), notes: [], boxes: [] });
    }
    if (paragraph && name === 'text:s') paragraph.text += ' ';
    if (paragraph && name === 'text:tab') paragraph.text += ' ';
    if (paragraph && name === 'text:line-break') paragraph.text += '\n';
    if (name === 'draw:page') {
      this.#pages++;
      this.#isSlideStart = true;
    }
    if (sinkNames.has(name)) this.#sinks.push({ name, texts: [], attributes });
    this.#openTable(name, attributes);
  }

  text(part: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (this.#unreadDepth > 0 || !paragraph) return;
    if (isSeen(this.#look)) paragraph.text += part;
    else if (isSeenStruck(this.#look)) this.#hasStruck ||= /\S/.test(part);
  }

  close(name: string): void {
    if (this.#unreadDepth > 0) {
      if (unread.test(name)) this.#unreadDepth--;
      return;
    }
    const look = this.#looks.pop() ?? this.#styles.page;
    const start = this.#starts.pop() ?? 0;
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph && name === 'text:span' && look.rise !== this.#look.rise) {
      const before = paragraph.text.slice(0, start);
      paragraph.text = before + markedText(before, paragraph.text.slice(start), look.rise > 0);
    }
    if (name === 'text:h' || name === 'text:p') this.#closeParagraph();
    if (sinkNames.has(name)) this.#closeSink();
    this.#lists.close(name);
    this.#closeTable(name);
  }

  finish(): Extracted {
    const warnings = this.#hasStruck ? [struckLeftOut] : [];
    return { blocks: this.#blocks, warnings, ...(this.#pages > 0 && { pages: this.#pages }) };
  }

  get #look(): Look {
    return this.#looks.at(-1) ?? this.#styles.page;
  }

  #openTable(name: string, attributes: Attributes): void {
    const table = this.#tables.at(-1);
    if (name === 'table:table') {
      if (this.#isSpreadsheet && this.#tables.length === 0 && !this.#look.isHidden)
        this.#blocks.push({ text: attributes['table:name'] ?? '', level: 1 });
      this.#tables.push({
        rows: [],
        covered: new Set(),
        headers: 0,
        isHeader: false,
        isHiddenRow: false,
        rowRepeats: 1,
      });
    }
    if (!table) return;
    if (name === 'table:table-header-rows') table.isHeader = true;
    if (name === 'table:covered-table-cell') table.covered.add(table.rows.at(-1) ?? []);
    if (name === 'table:table-row') {
      table.rows.push([]);
      table.isHiddenRow = /^(?:collapse|filter)$/.test(attributes['table:visibility'] ?? '');
      table.rowRepeats = Number(attributes['table:number-rows-repeated'] ?? 1);
    }
  }

  #closeTable(name: string): void {
    const table = this.#tables.at(-1);
    if (!table) return;
    if (name === 'table:table-header-rows') table.isHeader = false;
    if (name === 'table:table-row') {
      const row = table.rows.at(-1) ?? [];
      if (table.isHiddenRow) table.rows.pop();
      else if (row.some(({ text }) => text !== ''))
        for (let repeat = 1; repeat < Math.min(table.rowRepeats, repeatsMax); repeat++) table.rows.push(row);
      if (table.isHeader) table.headers = table.rows.length;
    }
    if (name !== 'table:table') return;
    this.#tables.pop();
    const rows = withCoveredRows(table);
    const isSheet = this.#isSpreadsheet && this.#tables.length === 0 && table.headers === 0;
    const texts = isSheet ? rowBlocks(rows).map(({ text }) => text) : tableTexts(rows, table.headers);
    for (const text of texts) this.#add(text);
  }

  #closeParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    if (!paragraph) return;
    const text = withNotes(paragraph.text, paragraph.notes);
    if (text.trim() !== '') this.#add(`${paragraph.mark}${text}`, paragraph.level);
    for (const box of paragraph.boxes) this.#add(box);
  }

  #closeSink(): void {
    const sink = this.#sinks.pop();
    if (!sink) return;
    const paragraph = this.#paragraphs.at(-1);
    if (sink.name === 'table:table-cell') {
      const cell = {
        text: sink.texts.join(' '),
        columns: Number(sink.attributes['table:number-columns-spanned'] ?? 1),
        rows: Number(sink.attributes['table:number-rows-spanned'] ?? 1),
      };
      const row = this.#tables.at(-1)?.rows.at(-1);
      const repeats = Math.min(Number(sink.attributes['table:number-columns-repeated'] ?? 1), repeatsMax);
      for (let repeat = 0; repeat < repeats; repeat++) row?.push(cell);
    } else if (!paragraph) for (const text of sink.texts) this.#add(text);
    else if (sink.name === 'draw:text-box') paragraph.boxes.push(...sink.texts);
    else paragraph.notes.push({ at: paragraph.text.length, text: sink.texts.join(' ') });
  }

  #add(text: string, level?: number): void {
    const sink = this.#sinks.at(-1);
    if (sink) {
      sink.texts.push(text);
      return;
    }
    const own = this.#isSlideStart ? 1 : level;
    this.#isSlideStart = false;
    this.#blocks.push({
      text,
      ...(own !== undefined && { level: own }),
      ...(this.#pages > 0 && { page: this.#pages }),
    });
  }
}

/** The rows of a table, whose cells reach down no further than rows have places for them: some programs write a span alone. */
function withCoveredRows({ rows, covered }: Table): Cell[][] {
  return rows.map((row, index) =>
    row.map((cell) => {
      const free = rows.slice(index + 1, index + (cell.rows ?? 1)).findIndex((below) => !covered.has(below));
      return free < 0 ? cell : { ...cell, rows: free + 1 };
    }),
  );
}
