import { type Block, entryTerm, recordsOf, type Span, sentencesOf } from '@octavo/documents';

/** The plain text that is stored of a document, and its chunks. */
export interface ChunkedText {
  readonly text: string;
  readonly title: string | undefined;
  readonly chunks: readonly Chunk[];
}

/** A part of the stored text. Offsets are in UTF-16 units. */
export interface Chunk extends Span {
  /** The headings above it, outermost first. */
  readonly section: string;
  readonly page: number | null;
}

export const chunkLengthMax = 1_000;
const between = '\n\n';

/**
 * Joins the blocks of a document to its text, and divides it into chunks that follow headings, paragraphs and sentences. Chunks do not
 * overlap, and have at most {@link chunkLengthMax} characters.
 */
export function chunkBlocks(blocks: readonly Block[]): ChunkedText {
  const texts: string[] = [];
  const chunker = new Chunker();
  let offset = 0;
  let title: string | undefined;
  for (const block of blocks) {
    const text = block.text.trim();
    if (text === '') continue;
    if (isTitle(block, text, offset)) title ??= oneLine(text);
    chunker.add({ ...block, text }, offset);
    texts.push(text);
    offset += text.length + between.length;
  }
  const text = texts.join(between);
  return { text, title, chunks: chunker.finish() };
}

class Chunker {
  readonly #chunks: Chunk[] = [];
  #headings: { level: number; text: string; span: Span; isUsed: boolean }[] = [];
  #open: { start: number; end: number; page: number | null } | undefined;

  add(block: Block, offset: number): void {
    if (block.level === undefined) this.#addText(block, offset);
    else this.#addHeading(block, block.level, offset);
  }

  finish(): Chunk[] {
    this.#close();
    this.#quoteHeadings(0);
    return this.#chunks.sort((one, other) => one.start - other.start);
  }

  #addHeading({ text }: Block, level: number, offset: number): void {
    this.#close();
    this.#quoteHeadings(level);
    const kept = this.#headings.filter((heading) => heading.level < level);
    const span = { start: offset, end: offset + Math.min(text.length, chunkLengthMax) };
    this.#headings = [...kept, { level, text: oneLine(text), span, isUsed: false }];
  }

  #addText(block: Block, offset: number): void {
    const { text } = block;
    const page = block.page ?? null;
    for (const heading of this.#headings) heading.isUsed = true;
    const end = offset + text.length;
    if (this.#open && this.#open.page === page && end - this.#open.start <= chunkLengthMax) {
      this.#open.end = end;
      return;
    }
    this.#close();
    if (text.length <= chunkLengthMax) this.#open = { start: offset, end, page };
    else {
      // What does not fit beside the term that it explains is found by that term too.
      const term = entryTerm(text);
      for (const [index, span] of packed(text).entries())
        this.#push(moved(span, offset), page, index > 0 ? term : undefined);
    }
  }

  #close(): void {
    if (this.#open) this.#push(this.#open, this.#open.page);
    this.#open = undefined;
  }

  /** A heading without any text below it is all that there is to find. */
  #quoteHeadings(level: number): void {
    for (const heading of this.#headings) {
      if (heading.level < level || heading.isUsed) continue;
      this.#chunks.push({ ...heading.span, section: heading.text, page: null });
    }
  }

  #push({ start, end }: Span, page: number | null, term?: string): void {
    const above = this.#headings.map(({ text }) => text);
    const section = (term === undefined ? above : [...above, oneLine(term)]).join(' > ');
    this.#chunks.push({ start, end, section, page });
  }
}

/** A long paragraph as parts of whole sentences or records of about the same length. */
function packed(text: string): Span[] {
  const records = recordsOf(text);
  const sentences = (records.length > 1 ? records : sentencesOf(text)).flatMap((sentence) =>
    divided(text, sentence),
  );
  const aim = Math.ceil(text.length / Math.ceil(text.length / chunkLengthMax)) + 60;
  const parts: { start: number; end: number }[] = [];
  for (const sentence of sentences) {
    const last = parts.at(-1);
    if (last && sentence.end - last.start <= Math.min(aim, chunkLengthMax)) last.end = sentence.end;
    else parts.push({ ...sentence });
  }
  return parts;
}

/** A sentence that is longer than a chunk, at white space where there is some. */
function divided(text: string, { start, end }: Span): Span[] {
  const parts: Span[] = [];
  let from = start;
  while (end - from > chunkLengthMax) {
    const window = text.slice(from, from + chunkLengthMax);
    const space = window.search(/\s\S*$/);
    let to = from + (space > chunkLengthMax / 2 ? space : chunkLengthMax);
    // Never between the two halves of a character.
    if (/[\ud800-\udbff]/.test(text.charAt(to - 1))) to--;
    parts.push({ start: from, end: to });
    from = to + (/^\s+/.exec(text.slice(to, end))?.[0].length ?? 0);
  }
  if (end > from) parts.push({ start: from, end });
  return parts;
}

function moved({ start, end }: Span, offset: number): Span {
  return { start: start + offset, end: end + offset };
}

const titleLevelMax = 2;

/** A document may also begin with a title that does not look like a heading, as it has two lines. */
function isTitle({ level }: Block, text: string, offset: number): boolean {
  if (level !== undefined) return level <= titleLevelMax;
  return offset === 0 && /^[^.:;=|]{3,120}[^\s.!?,:;]$/.test(text) && !/\n.*\n/.test(text);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 200);
}
