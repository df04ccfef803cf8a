import { unreadable } from '@octavo/documents';
import { copyIn, drawPage, loadPdfium, type Pdfium, type Pixels, type Size } from '@octavo/documents/pdfium';
import type { DrawRequest, PagePassage } from './parsing.ts';

const widthPixels = 1_200;
const heightPixelsMax = 4_000;

/** Draws a page of a PDF as a PNG, with the passage marked if the page has it. It blocks the thread. Throws `unprocessable` if PDFium cannot read the file. */
export async function drawPdfPage({ bytes, page: number, passage }: DrawRequest): Promise<Uint8Array> {
  const pdfium = await loadPdfium();
  using stack = new DisposableStack();
  const document = pdfium.FPDF_LoadMemDocument(copyIn(pdfium, stack, bytes), bytes.length, '');
  if (document === 0) throw unreadable('The file is not a readable PDF.');
  stack.defer(() => pdfium.FPDF_CloseDocument(document));
  const page = pdfium.FPDF_LoadPage(document, number - 1);
  if (page === 0) throw unreadable('The page cannot be read.');
  stack.defer(() => pdfium.FPDF_ClosePage(page));
  const size = sizeOf(pdfium, page);
  const marks = passage ? findMarks(pdfium, { page, size }, passage) : [];
  return drawPage(pdfium, page, size, (pixels) => {
    for (const mark of marks) paint(pixels, mark);
  });
}

function sizeOf(pdfium: Pdfium, page: number): Size {
  const [width, height] = [pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)];
  if (!(width > 0 && height > 0)) throw unreadable('The page has no size.');
  const scale = Math.min(widthPixels / width, heightPixelsMax / height);
  const pixels = (length: number) => Math.max(1, Math.round(length * scale));
  return { width: pixels(width), height: pixels(height) };
}

/** A rectangle in pixels from the top left. */
interface Mark {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface SizedPage {
  readonly page: number;
  readonly size: Size;
}

function findMarks(pdfium: Pdfium, sized: SizedPage, passage: PagePassage): Mark[] {
  using stack = new DisposableStack();
  const text = pdfium.FPDFText_LoadPage(sized.page);
  if (text === 0) return [];
  stack.defer(() => pdfium.FPDFText_ClosePage(text));
  const length = Math.max(0, pdfium.FPDFText_CountChars(text));
  const codes = Array.from({ length }, (_, index) => pdfium.FPDFText_GetUnicode(text, index));
  const found = findPassage(codes, passage);
  if (!found) return [];
  const count = pdfium.FPDFText_CountRects(text, found.first, found.last - found.first + 1);
  return Array.from({ length: Math.max(0, count) }, (_, index) => markOf(pdfium, sized, { text, index }));
}

/** Number of letters before or after a passage that tell it from others in the same words. */
const contextLength = 60;

/** The first and the last character of the passage on the page. Spaces, hyphens and ligatures do not count, as readers of PDFs differ in them. */
function findPassage(
  codes: readonly number[],
  { text, start, end }: PagePassage,
): { first: number; last: number } | undefined {
  const places: number[] = [];
  let letters = '';
  for (const [place, code] of codes.entries()) {
    const added = lettersOf(code <= 0x10ffff ? String.fromCodePoint(code) : '');
    letters += added;
    for (let index = 0; index < added.length; index++) places.push(place);
  }
  const wanted = lettersOf(text.slice(start, end));
  if (wanted === '') return undefined;
  const before = lettersOf(text.slice(0, start)).slice(-contextLength);
  const after = lettersOf(text.slice(end)).slice(0, contextLength);
  for (const [prefix, suffix] of [
    [before, after],
    [before, ''],
    ['', after],
    ['', ''],
  ] as const) {
    const at = letters.indexOf(prefix + wanted + suffix);
    if (at < 0) continue;
    const first = places[at + prefix.length] as number;
    return { first, last: places[at + prefix.length + wanted.length - 1] as number };
  }
  return undefined;
}

function lettersOf(text: string): string {
  return text.normalize('NFKD').replace(/[\s\p{Pd}\p{C}]+/gu, '');
}

/** The place of a line of the passage in the picture. */
function markOf(
  pdfium: Pdfium,
  { page, size }: SizedPage,
  { text, index }: { text: number; index: number },
): Mark {
  using stack = new DisposableStack();
  const edges = copyIn(pdfium, stack, new Uint8Array(4 * 8));
  const edge = (number: number) => pdfium.pdfium.getValue(edges + number * 8, 'double');
  pdfium.FPDFText_GetRect(text, index, edges, edges + 8, edges + 16, edges + 24);
  const [left, top, right, bottom] = [edge(0), edge(1), edge(2), edge(3)];
  const place = copyIn(pdfium, stack, new Uint8Array(2 * 4));
  const pixelAt = (x: number, y: number) => {
    pdfium.FPDF_PageToDevice(page, 0, 0, size.width, size.height, 0, x, y, place, place + 4);
    return [pdfium.pdfium.getValue(place, 'i32'), pdfium.pdfium.getValue(place + 4, 'i32')] as const;
  };
  // A page may be turned.
  const [one, other] = [pixelAt(left, top), pixelAt(right, bottom)];
  return {
    left: Math.max(0, Math.min(one[0], other[0]) - margin),
    top: Math.max(0, Math.min(one[1], other[1]) - margin),
    right: Math.min(size.width, Math.max(one[0], other[0]) + margin),
    bottom: Math.min(size.height, Math.max(one[1], other[1]) + margin),
  };
}

const margin = 3;
/** Red, green and blue of a highlighter. */
const ink = [255, 224, 102] as const;

/** Lays the ink over a part of the picture. The letters stay as dark as they are, also where two marks overlap. */
function paint({ width, rgba }: Pixels, { left, top, right, bottom }: Mark): void {
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const at = (y * width + x) * 4;
      for (const [channel, value] of ink.entries())
        rgba[at + channel] = Math.min(rgba[at + channel] as number, value);
    }
  }
}
