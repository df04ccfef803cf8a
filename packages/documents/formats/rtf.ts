import type { Block, Extracted } from './blocks.ts';
import { struckLeftOut } from './blocks.ts';
import { markedText } from './marks/raised.ts';
import { type Note, withNotes } from './notes.ts';
import { type Cell, tableTexts } from './table-rows.ts';

/** Parts of a file whose text is none of the document. */
const unread = new Set(
  'fonttbl colortbl stylesheet info pict header headerl headerr headerf footer footerl footerr footerf fldinst listtable listoverridetable rsidtbl themedata datastore generator xmlnstbl bkmkstart bkmkend objdata nonshppict annotation atnid atnauthor comment filetbl revtbl'.split(
    ' ',
  ),
);
/** Parts that older programs leave out, and whose text is seen. */
const optional = new Set(['shpinst', 'shptxt', 'shp', 'nesttableprops']);
/** Encodings by the character sets of fonts. */
const charsets: Readonly<Record<number, string>> = {
  77: 'macintosh',
  128: 'shift_jis',
  129: 'euc-kr',
  134: 'gbk',
  136: 'big5',
  161: 'windows-1253',
  162: 'windows-1254',
  163: 'windows-1258',
  177: 'windows-1255',
  178: 'windows-1256',
  186: 'windows-1257',
  204: 'windows-1251',
  222: 'windows-874',
  238: 'windows-1250',
};
const signs: Readonly<Record<string, string>> = {
  line: '\n',
  tab: ' ',
  emdash: '—',
  endash: '–',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
  emspace: ' ',
  enspace: ' ',
  '~': ' ',
  _: '-',
};

interface State {
  readonly isUnread: boolean;
  readonly isHidden: boolean;
  readonly isStruck: boolean;
  readonly rise: number;
  readonly font: number;
  /** Characters that stand for one of Unicode. */
  readonly skips: number;
  readonly part: 'text' | 'fonts' | 'note';
}

const first: State = {
  isUnread: false,
  isHidden: false,
  isStruck: false,
  rise: 0,
  font: 0,
  skips: 1,
  part: 'text',
};
const token = /\\([a-z]+)(-?\d+)? ?|\\'([\da-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\/gi;

/** Rich text: paragraphs and rows, with its notes after their sentences, and without hidden and struck text. */
export function extractRtf(bytes: Uint8Array): Extracted {
  const reader = new RtfReader();
  for (const match of Buffer.from(bytes).toString('latin1').matchAll(token)) reader.take(match);
  return reader.finish();
}

class RtfReader {
  readonly #blocks: Block[] = [];
  readonly #states: State[] = [first];
  readonly #fonts = new Map<number, string>();
  #encoding = 'windows-1252';
  #bytes: number[] = [];
  #skip = 0;
  #text = '';
  #notes: Note[] = [];
  #note = '';
  /** Cells of the row that is open, and rows of the table. */
  #cells: string[] = [];
  #merges: ('left' | 'above' | undefined)[] = [];
  #merge: 'left' | 'above' | undefined;
  #rows: Cell[][] = [];
  #headers = 0;
  #isOptional = false;
  #hasStruck = false;

  take([, word, number, hex, sign, brace, text]: RegExpExecArray): void {
    if (hex !== undefined) {
      if (this.#skip > 0) this.#skip--;
      else this.#bytes.push(Number.parseInt(hex, 16));
      return;
    }
    if (text !== undefined) {
      const rest = text.slice(this.#skip);
      this.#skip = Math.max(0, this.#skip - text.length);
      // What is beyond ASCII here is a byte as well.
      for (const letter of rest) this.#bytes.push(letter.charCodeAt(0));
      return;
    }
    this.#flush();
    if (brace === '{') this.#states.push(this.#state);
    if (brace === '}') this.#closeGroup();
    if (sign === '*') this.#isOptional = true;
    else if (sign !== undefined && /[\\{}]/.test(sign)) this.#add(sign);
    else if (sign !== undefined) this.#add(signs[sign] ?? '');
    if (word !== undefined) this.#control(word, number === undefined ? undefined : Number(number));
  }

  finish(): Extracted {
    this.#flush();
    this.#endParagraph();
    this.#endTable();
    return { blocks: this.#blocks, warnings: this.#hasStruck ? [struckLeftOut] : [] };
  }

  get #state(): State {
    return this.#states.at(-1) ?? first;
  }

  #change(change: Partial<State>): void {
    this.#states[this.#states.length - 1] = { ...this.#state, ...change };
  }

  #closeGroup(): void {
    const { part } = this.#state;
    if (this.#states.length > 1) this.#states.pop();
    if (part === 'note' && this.#state.part !== 'note') {
      this.#notes.push({ at: this.#text.length, text: this.#note });
      this.#note = '';
    }
  }

  /** Decodes the bytes that wait, which may be characters of several of them. */
  #flush(): void {
    if (this.#bytes.length === 0) return;
    const bytes = Uint8Array.from(this.#bytes);
    this.#bytes = [];
    const encoding = this.#fonts.get(this.#state.font) ?? this.#encoding;
    this.#add(new TextDecoder(encoding).decode(bytes));
  }

  #add(text: string): void {
    const { isUnread, isHidden, isStruck, part, rise } = this.#state;
    if (isUnread || isHidden || part === 'fonts') return;
    if (isStruck) {
      this.#hasStruck ||= /\S/.test(text);
      return;
    }
    if (part === 'note') this.#note += text;
    else this.#text += rise === 0 ? text : markedText(this.#text, text, rise > 0);
  }

  #control(word: string, number: number | undefined): void {
    const isOptional = this.#isOptional;
    this.#isOptional = false;
    if (unread.has(word) || (isOptional && !optional.has(word))) this.#change({ isUnread: true });
    if (word === 'fonttbl') this.#change({ part: 'fonts', isUnread: false });
    if (word === 'footnote' && !this.#state.isUnread) this.#change({ part: 'note' });
    const isOn = number !== 0;
    switch (word) {
      case 'ansicpg':
        this.#encoding = codePage(number) ?? this.#encoding;
        break;
      case 'f':
        this.#change({ font: number ?? 0 });
        break;
      case 'fcharset': {
        const encoding = charsets[number ?? 0];
        if (this.#state.part === 'fonts' && encoding !== undefined)
          this.#fonts.set(this.#state.font, encoding);
        break;
      }
      case 'uc':
        this.#change({ skips: number ?? 1 });
        break;
      case 'u':
        this.#add(String.fromCharCode(((number ?? 0) + 0x1_00_00) % 0x1_00_00));
        this.#skip = this.#state.skips;
        break;
      case 'strike':
      case 'striked':
        this.#change({ isStruck: isOn });
        break;
      case 'v':
      case 'deleted':
        this.#change({ isHidden: isOn });
        break;
      case 'super':
      case 'sub':
        this.#change({ rise: word === 'super' ? 1 : -1 });
        break;
      case 'nosupersub':
        this.#change({ rise: 0 });
        break;
      case 'plain':
        this.#change({ rise: 0, isHidden: false, isStruck: false });
        break;
      default:
        if (this.#state.part === 'text' && !this.#state.isUnread) this.#structure(word);
        else if (word in signs || word === 'par') this.#add(signs[word] ?? ' ');
    }
  }

  #structure(word: string): void {
    if (word in signs) this.#add(signs[word] ?? '');
    if (word === 'par' || word === 'sect' || word === 'page') this.#endParagraph();
    if (word === 'trowd') [this.#merges, this.#merge] = [[], undefined];
    if (word === 'clmrg') this.#merge = 'left';
    if (word === 'clvmrg') this.#merge = 'above';
    if (word === 'cellx') {
      this.#merges.push(this.#merge);
      this.#merge = undefined;
    }
    if (word === 'trhdr' && this.#headers === this.#rows.length) this.#headers++;
    if (word === 'cell' || word === 'nestcell') {
      this.#cells.push(withNotes(this.#text, this.#notes).replace(/\s+/g, ' ').trim());
      [this.#text, this.#notes] = ['', []];
    }
    if (word === 'row' || word === 'nestrow') {
      const above = this.#rows.at(-1);
      const row: Cell[] = [];
      for (const [column, text] of this.#cells.entries()) {
        const from = { left: row[column - 1], above: above?.[column] }[this.#merges[column] ?? 'left'];
        row.push(this.#merges[column] !== undefined && text === '' && from ? from : { text });
      }
      this.#rows.push(row);
      this.#cells = [];
    }
  }

  #endParagraph(): void {
    // Paragraphs of a cell are one text.
    if (this.#cells.length > 0) {
      this.#text += ' ';
      return;
    }
    const text = withNotes(this.#text, this.#notes).trim();
    [this.#text, this.#notes] = ['', []];
    if (text === '') return;
    this.#endTable();
    this.#blocks.push({ text });
  }

  #endTable(): void {
    for (const text of tableTexts(this.#rows, Math.min(this.#headers, this.#rows.length)))
      this.#blocks.push({ text });
    [this.#rows, this.#headers] = [[], 0];
  }
}

/** The encoding of a code page; undefined if it is not known. */
function codePage(number: number | undefined): string | undefined {
  const named: Readonly<Record<number, string>> = {
    932: 'shift_jis',
    936: 'gbk',
    949: 'euc-kr',
    950: 'big5',
    10000: 'macintosh',
    65001: 'utf-8',
  };
  const label = named[number ?? 0] ?? `windows-${number}`;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}
