import { allocate, copyIn, drawPage, loadPdfium, type Pdfium, type Pixels } from '#kit/pictures/pdfium.ts';

/** A rectangle of a page in its own units, from the bottom left. */
export interface Area {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

/** Text in a color below this in any channel stands out from white paper; only lighter text is compared with its ground. */
const lightMin = 230;
/** Most that the channels of the pixels of a text differ by if nobody can read it. */
const contrastMin = 16;
const sidePixelsMax = 1_200;

/** For each page, the areas of light texts that have the color of their ground. There are none if PDFium cannot read the file. */
export async function unseenAreas(bytes: Uint8Array, pagesMax: number): Promise<Area[][]> {
  const pdfium = await loadPdfium();
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

const textObject = 1;

/** The areas of texts in light colors. */
function lightTexts(pdfium: Pdfium, page: number): Area[] {
  using stack = new DisposableStack();
  const values = allocate(pdfium, stack, 4 * 4);
  const value = (place: number, type: 'i32' | 'float') => pdfium.pdfium.getValue(values + place * 4, type);
  const areas: Area[] = [];
  for (let index = 0; index < pdfium.FPDFPage_CountObjects(page); index++) {
    const object = pdfium.FPDFPage_GetObject(page, index);
    if (pdfium.FPDFPageObj_GetType(object) !== textObject) continue;
    if (!pdfium.FPDFPageObj_GetFillColor(object, values, values + 4, values + 8, values + 12)) continue;
    if ([0, 1, 2].some((channel) => value(channel, 'i32') < lightMin)) continue;
    if (!pdfium.FPDFPageObj_GetBounds(object, values, values + 4, values + 8, values + 12)) continue;
    areas.push({
      left: value(0, 'float'),
      bottom: value(1, 'float'),
      right: value(2, 'float'),
      top: value(3, 'float'),
    });
  }
  return areas;
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
