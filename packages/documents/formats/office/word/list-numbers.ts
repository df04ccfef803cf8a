import { encodeXML } from 'entities';
import { Parser } from 'htmlparser2';
import { ListCounter, type ListPlace, type WordLists } from './numbering.ts';

/** A paragraph that is open. */
interface Paragraph {
  numbering?: string;
  level?: number;
  style?: string;
  hasText: boolean;
  isHidden: boolean;
  readonly isInCell: boolean;
  /** The place after its properties. */
  contentAt: number;
  /** The place of its own list among its properties, or at their end. */
  listAt?: readonly [start: number, end: number];
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const noList = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>';
/** Formatting of before, in a file that records changes. */
const formerly = /^w:\w+PrChange$/;

/**
 * The XML of a part with the numbers of its lists and headings as text at the beginning of their paragraphs, which are no points of a list
 * then. Points without a number stay.
 */
export function withListNumbers(xml: string, lists: WordLists): string {
  if (lists.nums.size === 0) return xml;
  const edits: Edit[] = [];
  const reader = new NumberReader(lists, edits);
  const parser: Parser = new Parser(
    {
      onopentag: (name, attributes) =>
        reader.open(name, { attributes, start: parser.startIndex, end: parser.endIndex + 1 }),
      ontext: (text) => reader.text(text),
      onclosetag: (name) => reader.close(name, parser.startIndex, parser.endIndex + 1),
    },
    { xmlMode: true, decodeEntities: false },
  );
  parser.end(xml);
  let [kept, from] = ['', 0];
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start)) {
    kept += xml.slice(from, start) + text;
    from = end;
  }
  return kept + xml.slice(from);
}

class NumberReader {
  readonly #lists: WordLists;
  readonly #edits: Edit[];
  readonly #paragraphs: Paragraph[] = [];
  /** Counters of the text and of the text boxes that are open, which count for themselves. */
  readonly #counters: ListCounter[];
  readonly #cells: number[] = [0];
  #former = 0;
  /** Depth of versions of a text for newer programs, which the library does not read. */
  #unread = 0;
  #isInProperties = false;
  #isInText = false;

  constructor(lists: WordLists, edits: Edit[]) {
    this.#lists = lists;
    this.#edits = edits;
    this.#counters = [new ListCounter(lists)];
  }

  open(
    name: string,
    tag: { attributes: Readonly<Record<string, string>>; start: number; end: number },
  ): void {
    if (name === 'mc:Choice') this.#unread++;
    if (this.#unread > 0) return;
    if (formerly.test(name)) this.#former++;
    if (name === 'w:txbxContent') {
      this.#counters.push(new ListCounter(this.#lists));
      this.#cells.push(0);
    }
    if (name === 'w:tc') this.#cells[this.#cells.length - 1] = (this.#cells.at(-1) ?? 0) + 1;
    if (name === 'w:p') {
      const isInCell = (this.#cells.at(-1) ?? 0) > 0;
      this.#paragraphs.push({ hasText: false, isHidden: false, isInCell, contentAt: tag.end });
    }
    const paragraph = this.#paragraphs.at(-1);
    this.#isInText = name === 'w:t';
    if (!paragraph || this.#former > 0) return;
    if (name === 'w:pPr') this.#isInProperties = true;
    else if (this.#isInProperties) property(paragraph, name, tag);
  }

  text(text: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph && this.#isInText && this.#unread === 0 && text.trim() !== '') paragraph.hasText = true;
  }

  close(name: string, start: number, end: number): void {
    if (name === 'mc:Choice') this.#unread--;
    if (this.#unread > 0) return;
    this.#isInText = false;
    if (formerly.test(name)) {
      this.#former--;
      return;
    }
    if (name === 'w:txbxContent') {
      this.#counters.pop();
      this.#cells.pop();
    }
    if (name === 'w:tc') this.#cells[this.#cells.length - 1] = (this.#cells.at(-1) ?? 1) - 1;
    const paragraph = this.#paragraphs.at(-1);
    if (!paragraph || this.#former > 0) return;
    if (name === 'w:numPr' && paragraph.listAt) paragraph.listAt = [paragraph.listAt[0], end];
    if (name === 'w:pPr') {
      this.#isInProperties = false;
      paragraph.contentAt = end;
      paragraph.listAt ??= [start, start];
    }
    if (name === 'w:p') this.#number(paragraph);
  }

  #number({ listAt, contentAt, hasText, isHidden, isInCell, ...place }: Paragraph): void {
    this.#paragraphs.pop();
    if (isHidden && !hasText) return;
    const { numbering, level, style }: Partial<ListPlace> = place;
    const number = this.#counters.at(-1)?.next({ numbering, level, style });
    if (number === undefined || (!hasText && !isInCell)) return;
    if (listAt && (style !== undefined || numbering !== undefined))
      this.#edits.push({ start: listAt[0], end: listAt[1], text: noList });
    if (number === '') return;
    const text = `<w:r><w:t xml:space="preserve">${encodeXML(number)} </w:t></w:r>`;
    this.#edits.push({ start: contentAt, end: contentAt, text });
  }
}

function property(
  paragraph: Paragraph,
  name: string,
  { attributes, start, end }: { attributes: Readonly<Record<string, string>>; start: number; end: number },
): void {
  const value = attributes['w:val'];
  if (name === 'w:pStyle' && value !== undefined) paragraph.style = value;
  else if (name === 'w:numPr') paragraph.listAt = [start, end];
  else if (name === 'w:numId' && value !== undefined) paragraph.numbering = value;
  else if (name === 'w:ilvl') paragraph.level = Number(value);
  // The mark at its end is hidden or deleted, so that it is no paragraph of its own.
  else if (name === 'w:vanish' || name === 'w:del')
    paragraph.isHidden = !/^(?:0|false|off)$/.test(value ?? '');
}
