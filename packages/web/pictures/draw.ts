import { readFile } from 'node:fs/promises';
import { allocate, copyIn, drawPage, loadPdfium, type Pdfium } from '@octavo/documents/pdfium';
import { codePointsOf, coveredText } from './coverage.ts';
import { fitText, lineHeight } from './lines.ts';
import type { Box, FontName, Picture, TextBox } from './picture.ts';

/** The picture as a PNG. It blocks the thread for about 0.1 s. */
export async function drawPicture(picture: Picture): Promise<Uint8Array<ArrayBuffer>> {
  const pdfium = await loadPdfium();
  using stack = new DisposableStack();
  const document = stack.adopt(pdfium.FPDF_CreateNewDocument(), pdfium.FPDF_CloseDocument);
  const page = stack.adopt(
    pdfium.FPDFPage_New(document, 0, picture.width, picture.height),
    pdfium.FPDF_ClosePage,
  );
  const canvas: Canvas = { pdfium, document, page, height: picture.height };
  const fonts = new Map<FontName, Font>();
  for (const part of picture.parts) {
    if (!('texts' in part)) {
      paintBox(canvas, part);
      continue;
    }
    const font = fonts.get(part.font) ?? (await openFont(canvas, stack, part.font));
    fonts.set(part.font, font);
    paintText(canvas, part, font);
  }
  pdfium.FPDFPage_GenerateContent(page);
  return drawPage(pdfium, page, picture);
}

interface Canvas {
  readonly pdfium: Pdfium;
  readonly document: number;
  readonly page: number;
  readonly height: number;
}

interface Font {
  readonly handle: number;
  readonly codePoints: ReadonlySet<number>;
  /** The width of a text in units of its size. Letters are set side by side, without kerning. */
  readonly measure: (text: string) => number;
}

const fontFiles = { sans: 'NotoSans-SemiBold.ttf', serif: 'NotoSerif-Regular.ttf' } as const;
const trueType = 2;

async function openFont({ pdfium, document }: Canvas, stack: DisposableStack, name: FontName): Promise<Font> {
  const bytes = await readFile(new URL(`fonts/${fontFiles[name]}`, import.meta.url));
  const address = copyIn(pdfium, stack, bytes);
  const handle = stack.adopt(
    pdfium.FPDFText_LoadFont(document, address, bytes.length, trueType, true),
    pdfium.FPDFFont_Close,
  );
  const found = allocate(pdfium, stack, 4);
  const widths = new Map<string, number>();
  const widthOf = (character: string) => {
    pdfium.FPDFFont_GetGlyphWidth(handle, character.codePointAt(0) ?? 0, 1_000, found);
    const width = pdfium.pdfium.getValue(found, 'float') / 1_000;
    widths.set(character, width);
    return width;
  };
  const measure = (text: string) => {
    let width = 0;
    for (const character of text) width += widths.get(character) ?? widthOf(character);
    return width;
  };
  return { handle, codePoints: codePointsOf(bytes), measure };
}

function paintBox({ pdfium, page, height }: Canvas, box: Box): void {
  const shape = pdfium.FPDFPageObj_CreateNewRect(box.x, height - box.y - box.height, box.width, box.height);
  pdfium.FPDFPageObj_SetFillColor(shape, ...colorOf(box.color), 255);
  pdfium.FPDFPath_SetDrawMode(shape, filled, false);
  pdfium.FPDFPage_InsertObject(page, shape);
}

const filled = 2;
/** Half of the height of a capital letter, in units of the size. */
const halfCapital = 0.36;

function paintText(canvas: Canvas, box: TextBox, { handle, codePoints, measure }: Font): void {
  const shown = box.texts.map((text) => coveredText(text, codePoints)).find((text) => text !== undefined);
  if (shown === undefined) return;
  const { size, lines } = fitText(shown, box, measure);
  const step = size * lineHeight;
  const left = { top: 0, middle: 0.5, bottom: 1 }[box.place ?? 'top'] * (box.height - step * lines.length);
  for (const [index, line] of lines.entries()) {
    const hanging = index === 0 && box.align !== 'right' ? measure(/^[“‘«„]/.exec(line)?.[0] ?? '') : 0;
    const free = box.align === 'right' ? box.width - measure(line) * size : -hanging * size;
    const baseline = box.y + left + step * (index + 0.5) + size * halfCapital;
    paintLine(canvas, { line, size, handle, color: box.color, x: box.x + free, baseline });
  }
}

interface Line {
  readonly line: string;
  readonly size: number;
  readonly handle: number;
  readonly color: string;
  readonly x: number;
  readonly baseline: number;
}

function paintLine({ pdfium, document, page, height }: Canvas, text: Line): void {
  using stack = new DisposableStack();
  const shape = pdfium.FPDFPageObj_CreateTextObj(document, text.handle, text.size);
  const words = copyIn(pdfium, stack, Buffer.from(`${text.line}\0`, 'utf16le'));
  pdfium.FPDFText_SetText(shape, words);
  pdfium.FPDFPageObj_SetFillColor(shape, ...colorOf(text.color), 255);
  pdfium.FPDFPageObj_Transform(shape, 1, 0, 0, 1, text.x, height - text.baseline);
  pdfium.FPDFPage_InsertObject(page, shape);
}

function colorOf(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
