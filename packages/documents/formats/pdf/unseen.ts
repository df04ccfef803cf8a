import {
  allocate,
  drawPage,
  loadPdfium,
  mapPages,
  type Pdfium,
  type Pixels,
  unloadPdfium,
} from '../../pdfium.ts';
import { type Matrix, movedPoint, objectsOf } from './page-objects.ts';
import { type Rule, rulesOn } from './rules.ts';

/** A rectangle of a page in its own units, from the bottom left. */
export interface Area {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

/** Text in a color below this in any channel stands out from white paper; only lighter text is compared with its ground. */
const lightMin = 230;
/** Largest difference between the color channels of unreadable text and its ground. */
const contrastMin = 16;
const sidePixelsMax = 1_200;

/** Light texts that have the color of their ground, and lines that are drawn. */
export interface DrawnPage {
  readonly unseen: readonly Area[];
  readonly rules: readonly Rule[];
}

/** Lines and unseen texts of each page, as PDFium tells them. There are no pages if it cannot read the file. Undefined if it crashed on it. */
export async function drawnPages(bytes: Uint8Array, pagesMax: number): Promise<DrawnPage[] | undefined> {
  const pdfium = await loadPdfium();
  try {
    const pages = mapPages(pdfium, bytes, { pagesMax, read: (page) => drawnOn(pdfium, page) });
    return pages?.map((page) => page ?? { unseen: [], rules: [] }) ?? [];
  } catch {
    // What is left of it cannot be trusted, not even to free its memory.
    unloadPdfium();
    return undefined;
  }
}

/** Lines and unseen texts of a page. */
export function drawnOn(pdfium: Pdfium, page: number): DrawnPage {
  return { unseen: unseenOn(pdfium, page), rules: rulesOn(pdfium, page) };
}

function unseenOn(pdfium: Pdfium, page: number): Area[] {
  const light = lightTexts(pdfium, page);
  if (light.length === 0) return [];
  const [width, height] = [pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)];
  if (!(width > 0 && height > 0)) return [];
  const scale = Math.min(1, sidePixelsMax / Math.max(width, height));
  const size = { width: Math.ceil(width * scale), height: Math.ceil(height * scale) };
  let unseen: Area[] = [];
  drawPage(pdfium, page, size, (pixels) => {
    unseen = light.filter((area) => isEven(pixels, pixelsOf(pdfium, page, { area, pixels })));
  });
  return unseen;
}

/** Constant of PDFium's `fpdf_edit.h`. */
const textObject = 1;

/** The areas of texts in light colors. */
function lightTexts(pdfium: Pdfium, page: number): Area[] {
  using stack = new DisposableStack();
  const values = allocate(pdfium, stack, 4 * 4);
  const value = (place: number, type: 'i32' | 'float') => pdfium.pdfium.getValue(values + place * 4, type);
  const areas: Area[] = [];
  for (const { object, type, matrix } of objectsOf(pdfium, page)) {
    if (type !== textObject) continue;
    if (!pdfium.FPDFPageObj_GetFillColor(object, values, values + 4, values + 8, values + 12)) continue;
    if ([0, 1, 2].some((channel) => value(channel, 'i32') < lightMin)) continue;
    if (!pdfium.FPDFPageObj_GetBounds(object, values, values + 4, values + 8, values + 12)) continue;
    const [left = 0, bottom = 0, right = 0, top = 0] = [0, 1, 2, 3].map((place) => value(place, 'float'));
    areas.push(moved({ left, bottom, right, top }, matrix));
  }
  return areas;
}

function moved({ left, bottom, right, top }: Area, matrix: Matrix): Area {
  const corners = [left, right].flatMap((x) => [bottom, top].map((y) => movedPoint(matrix, x, y)));
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  return { left: Math.min(...xs), bottom: Math.min(...ys), right: Math.max(...xs), top: Math.max(...ys) };
}

interface PixelArea {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
}

/** The pixels of an area, of which a page that is turned has other corners first. */
function pixelsOf(
  pdfium: Pdfium,
  page: number,
  { area, pixels }: { readonly area: Area; readonly pixels: Pixels },
): PixelArea {
  using stack = new DisposableStack();
  const place = allocate(pdfium, stack, 2 * 4);
  const at = (x: number, y: number) => {
    pdfium.FPDF_PageToDevice(page, 0, 0, pixels.width, pixels.height, 0, x, y, place, place + 4);
    return [pdfium.pdfium.getValue(place, 'i32'), pdfium.pdfium.getValue(place + 4, 'i32')] as const;
  };
  const [[oneX, oneY], [otherX, otherY]] = [at(area.left, area.top), at(area.right, area.bottom)];
  const within = (value: number, most: number) => Math.min(most, Math.max(0, value));
  return {
    x: [within(Math.min(oneX, otherX), pixels.width), within(Math.max(oneX, otherX), pixels.width)],
    y: [within(Math.min(oneY, otherY), pixels.height), within(Math.max(oneY, otherY), pixels.height)],
  };
}

/** Returns true if the pixels differ too little to read anything in them. An area outside of the page has none. */
function isEven({ width, rgba }: Pixels, { x, y }: PixelArea): boolean {
  const [least, most] = [
    [255, 255, 255],
    [0, 0, 0],
  ];
  for (let row = y[0]; row < y[1]; row++) {
    for (let column = x[0]; column < x[1]; column++) {
      for (let channel = 0; channel < 3; channel++) {
        const value = rgba[(row * width + column) * 4 + channel] as number;
        if (value < (least[channel] as number)) least[channel] = value;
        if (value > (most[channel] as number)) most[channel] = value;
      }
    }
  }
  return most.every((value, channel) => value - (least[channel] as number) < contrastMin);
}
