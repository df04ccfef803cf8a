import {
  allocate,
  copyIn,
  drawPage,
  loadPdfium,
  type Pdfium,
  type Pixels,
  unloadPdfium,
} from '../../pdfium.ts';

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

/**
 * For each page, the areas of light texts that have the color of their ground. There are none if PDFium cannot read the file. Undefined if
 * it crashed on it.
 */
export async function unseenAreas(bytes: Uint8Array, pagesMax: number): Promise<Area[][] | undefined> {
  const pdfium = await loadPdfium();
  try {
    return areasIn(pdfium, bytes, pagesMax);
  } catch {
    // What is left of it cannot be trusted, not even to free its memory.
    unloadPdfium();
    return undefined;
  }
}

function areasIn(pdfium: Pdfium, bytes: Uint8Array, pagesMax: number): Area[][] {
  using stack = new DisposableStack();
  const document = pdfium.FPDF_LoadMemDocument(copyIn(pdfium, stack, bytes), bytes.length, '');
  if (document === 0) return [];
  stack.defer(() => pdfium.FPDF_CloseDocument(document));
  const length = Math.min(pagesMax, pdfium.FPDF_GetPageCount(document));
  return Array.from({ length }, (_, index) => unseenOn(pdfium, document, index));
}

function unseenOn(pdfium: Pdfium, document: number, index: number): Area[] {
  using stack = new DisposableStack();
  const page = pdfium.FPDF_LoadPage(document, index);
  if (page === 0) return [];
  stack.defer(() => pdfium.FPDF_ClosePage(page));
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

/** Constants of PDFium's `fpdf_edit.h`. */
const textObject = 1;
const formObject = 5;
/** Forms that hold themselves end here. */
const depthMax = 8;

/** A change of coordinates, as PDF writes it: x' = a x + c y + e, y' = b x + d y + f. */
type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];
const identity: Matrix = [1, 0, 0, 1, 0, 0];

/** The areas of texts in light colors, also of those in forms that the page draws. */
function lightTexts(pdfium: Pdfium, page: number): Area[] {
  using stack = new DisposableStack();
  const values = allocate(pdfium, stack, 6 * 4);
  const value = (place: number, type: 'i32' | 'float') => pdfium.pdfium.getValue(values + place * 4, type);
  const areas: Area[] = [];
  const addText = (object: number, matrix: Matrix) => {
    if (!pdfium.FPDFPageObj_GetFillColor(object, values, values + 4, values + 8, values + 12)) return;
    if ([0, 1, 2].some((channel) => value(channel, 'i32') < lightMin)) return;
    if (!pdfium.FPDFPageObj_GetBounds(object, values, values + 4, values + 8, values + 12)) return;
    const [left, bottom, right, top] = [0, 1, 2, 3].map((place) =>
      value(place, 'float'),
    ) as unknown as Matrix;
    areas.push(moved({ left, bottom, right, top }, matrix));
  };
  const addAll = (objects: readonly number[], matrix: Matrix, depth: number) => {
    for (const object of objects) {
      const type = pdfium.FPDFPageObj_GetType(object);
      if (type === textObject) addText(object, matrix);
      if (type !== formObject || depth >= depthMax || !pdfium.FPDFPageObj_GetMatrix(object, values)) continue;
      const own = [0, 1, 2, 3, 4, 5].map((place) => value(place, 'float')) as unknown as Matrix;
      const count = pdfium.FPDFFormObj_CountObjects(object);
      const inner = Array.from({ length: count }, (_, index) => pdfium.FPDFFormObj_GetObject(object, index));
      addAll(inner, joined(own, matrix), depth + 1);
    }
  };
  const length = pdfium.FPDFPage_CountObjects(page);
  const objects = Array.from({ length }, (_, index) => pdfium.FPDFPage_GetObject(page, index));
  addAll(objects, identity, 0);
  return areas;
}

/** One change of coordinates, and then another. */
function joined([a, b, c, d, e, f]: Matrix, [A, B, C, D, E, F]: Matrix): Matrix {
  return [A * a + C * b, B * a + D * b, A * c + C * d, B * c + D * d, A * e + C * f + E, B * e + D * f + F];
}

function moved({ left, bottom, right, top }: Area, [a, b, c, d, e, f]: Matrix): Area {
  const corners = [left, right].flatMap((x) =>
    [bottom, top].map((y) => [a * x + c * y + e, b * x + d * y + f] as const),
  );
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
