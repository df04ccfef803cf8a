import { unreadable } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { allocate, loadPdfium, mapPages, type Pdfium } from '../../pdfium.ts';
import type { Extracted } from '../blocks.ts';
import type { TextItem } from './items.ts';
import { linesOn, readPages, seenItems, tooManyPages } from './pages.ts';
import { drawnOn } from './unseen.ts';

const readInPart =
  'The file took too much time or memory to read it whole. Values of forms and properties are missing, and letters may be wrong.';

/** The text of a PDF as PDFium reads it, which is quick also where fonts are damaged, but tells nothing of forms. */
export async function extractPdfByPdfium(bytes: Uint8Array): Promise<Extracted> {
  const pdfium = await loadPdfium();
  let left = limits.textLengthMax;
  const read = (page: number) => {
    const items = itemsOn(pdfium, page, left);
    left -= items.reduce((sum, { str }) => sum + str.length, 0);
    const drawn = drawnOn(pdfium, page);
    return linesOn(seenItems(items, drawn), drawn.rules);
  };
  const pages = mapPages(pdfium, bytes, { pagesMax: limits.pagesMax + 1, read });
  if (!pages) throw unreadable('The file is not a readable PDF.');
  if (pages.length > limits.pagesMax) throw tooManyPages();
  const { blocks, warnings } = readPages(pages.map((lines = []) => lines));
  return { blocks, pages: pages.length, warnings: [readInPart, ...warnings] };
}

/** The code of PDFium for the hyphen of a word that goes on in the next line, in the place of both. */
const hyphenAtEnd = 2;
/** Bytes of the longest name of a font that is asked for. */
const fontNameMax = 256;

/** A letter of a page: the change of its coordinates, where it begins, how far it reaches, and its size and font. */
interface Letter {
  readonly matrix: readonly number[];
  readonly origin: readonly number[];
  readonly box: readonly number[];
  readonly size: number;
  readonly font: string;
}

/** Letters of a line, one after another. */
interface Run {
  readonly text: string;
  readonly first: Letter;
  readonly last: Letter;
  /** True if a space follows. */
  endsWord: boolean;
}

/** Share of the size of letters from which a gap between words divides items. */
const gapMin = 0.6;

/** The words of a page, those close to each other as one item, in the order in which they are read, up to so many letters. */
function itemsOn(pdfium: Pdfium, page: number, lengthMax: number): TextItem[] {
  using stack = new DisposableStack();
  const text = pdfium.FPDFText_LoadPage(page);
  if (text === 0) return [];
  stack.defer(() => pdfium.FPDFText_ClosePage(text));
  const values = allocate(pdfium, stack, fontNameMax);
  const items: TextItem[] = [];
  let open: Run | undefined;
  const end = (after: string, hasEOL: boolean) => {
    if (open) items.push({ ...itemOf(open), str: open.text + after, hasEOL });
    else if (hasEOL) endLine(items);
    open = undefined;
  };
  const count = Math.min(lengthMax, pdfium.FPDFText_CountChars(text));
  for (let index = 0; index < count; index++) {
    const code = pdfium.FPDFText_GetUnicode(text, index);
    const letter = code <= 0x10ffff ? String.fromCodePoint(code) : '';
    if (code === hyphenAtEnd) end('-', true);
    else if (/[\r\n]/.test(letter)) end('', true);
    else if (/\s/.test(letter)) {
      if (open) open.endsWord = true;
    } else {
      const last = letterAt(pdfium, { text, index, values });
      if (open?.endsWord && gapBetween(open, last) > gapMin * Math.hypot(...last.matrix.slice(2)) * last.size)
        end(' ', false);
      if (open)
        open = { ...open, text: `${open.text}${open.endsWord ? ' ' : ''}${letter}`, last, endsWord: false };
      else open = { text: letter, first: last, last, endsWord: false };
    }
  }
  end('', true);
  return items;
}

/** Distance of a letter from the end of an item, whatever way the line runs. */
function gapBetween(open: Run, { origin: [x = 0, y = 0] }: Letter): number {
  const { transform, width } = itemOf(open);
  const [startX = 0, startY = 0] = transform.slice(4);
  return Math.hypot(x - startX, y - startY) - width;
}

function endLine(items: TextItem[]): void {
  const last = items.pop();
  if (last) items.push({ ...last, hasEOL: true });
}

function letterAt(
  pdfium: Pdfium,
  { text, index, values }: { readonly text: number; readonly index: number; readonly values: number },
): Letter {
  const numbers = (length: number, type: 'float' | 'double') =>
    Array.from({ length }, (_, place) =>
      pdfium.pdfium.getValue(values + place * (type === 'float' ? 4 : 8), type),
    );
  pdfium.FPDFText_GetCharBox(text, index, values, values + 8, values + 16, values + 24);
  const box = numbers(4, 'double');
  pdfium.FPDFText_GetCharOrigin(text, index, values, values + 8);
  const origin = numbers(2, 'double');
  const matrix = pdfium.FPDFText_GetMatrix(text, index, values) ? numbers(4, 'float') : [1, 0, 0, 1];
  const length = pdfium.FPDFText_GetFontInfo(text, index, values, fontNameMax, 0);
  const font = length <= fontNameMax ? pdfium.pdfium.UTF8ToString(values, length) : '';
  return { matrix, origin, box, size: pdfium.FPDFText_GetFontSize(text, index), font };
}

/** The place of letters on one line. */
function itemOf({ first, last }: Run): Omit<TextItem, 'str' | 'hasEOL'> {
  const [a = 1, b = 0, c = 0, d = 1] = first.matrix;
  const [x = 0, y = 0] = first.origin;
  const [left = x, right = x, bottom = y, top = y] = last.box;
  // From the first letter to the farthest side of the last one, whatever way the line runs.
  const isUpright = Math.abs(b) > Math.abs(a);
  const width = isUpright
    ? Math.max(Math.abs(top - y), Math.abs(bottom - y))
    : Math.max(Math.abs(right - x), Math.abs(left - x));
  const height = first.size * Math.hypot(c, d);
  return { transform: [a, b, c, d, x, y], width, height, fontName: first.font };
}
