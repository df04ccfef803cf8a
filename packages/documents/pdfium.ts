import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { init } from '@embedpdf/pdfium';

/** PDFium as WebAssembly. It has no access to files, the network or fonts of the system. */
export type Pdfium = Loaded & { readonly pdfium: { readonly HEAPU8: Uint8Array } };

type Loaded = Awaited<ReturnType<typeof init>>;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The pixels of a picture in rows from the top, each as red, green, blue and alpha. */
export interface Pixels extends Size {
  readonly rgba: Uint8Array;
}

let loading: Promise<Pdfium> | undefined;

/** Loads PDFium once for the thread, in about 50 ms and 25 MB. Every call on it blocks, so it belongs in a thread or process of its own. */
export function loadPdfium(): Promise<Pdfium> {
  loading ??= load();
  return loading;
}

/** Lets the next call of {@link loadPdfium} load it again, as after a crash. */
export function unloadPdfium(): void {
  loading = undefined;
}

async function load(): Promise<Pdfium> {
  const file = fileURLToPath(import.meta.resolve('@embedpdf/pdfium/pdfium.wasm'));
  const { buffer } = new Uint8Array(await readFile(file));
  // Its memory, which the types leave out, moves when it grows, so it is read again each time.
  const pdfium = (await init({ wasmBinary: buffer })) as Pdfium;
  pdfium.PDFiumExt_Init();
  return pdfium;
}

/** Allocates bytes of PDFium's memory, freed with the stack. Throws `RangeError` if there is no more. */
export function allocate(pdfium: Pdfium, stack: DisposableStack, length: number): number {
  const { malloc, free } = pdfium.pdfium.wasmExports;
  const address = malloc(length);
  if (address === 0) throw new RangeError('PDFium has no memory left');
  return stack.adopt(address, free);
}

/** The address of a copy of the bytes in PDFium's memory, freed with the stack. */
export function copyIn(pdfium: Pdfium, stack: DisposableStack, bytes: Uint8Array): number {
  const address = allocate(pdfium, stack, bytes.length);
  pdfium.pdfium.HEAPU8.set(bytes, address);
  return address;
}

/** Result of `read` for each of the first pages, undefined for one that PDFium cannot read; undefined if it cannot read the file. */
export function mapPages<Told>(
  pdfium: Pdfium,
  bytes: Uint8Array,
  { pagesMax, read }: { readonly pagesMax: number; readonly read: (page: number) => Told },
): (Told | undefined)[] | undefined {
  using stack = new DisposableStack();
  const document = pdfium.FPDF_LoadMemDocument(copyIn(pdfium, stack, bytes), bytes.length, '');
  if (document === 0) return undefined;
  stack.defer(() => pdfium.FPDF_CloseDocument(document));
  const length = Math.min(pagesMax, pdfium.FPDF_GetPageCount(document));
  return Array.from({ length }, (_, index) => {
    using own = new DisposableStack();
    const page = pdfium.FPDF_LoadPage(document, index);
    if (page === 0) return undefined;
    own.defer(() => pdfium.FPDF_ClosePage(page));
    return read(page);
  });
}

/** Draws a page on white as a PNG of that size in pixels. `change` may paint over it. */
export function drawPage(
  pdfium: Pdfium,
  page: number,
  { width, height }: Size,
  change: (pixels: Pixels) => void = () => {},
): Uint8Array<ArrayBuffer> {
  using stack = new DisposableStack();
  const length = width * height * 4;
  const address = allocate(pdfium, stack, length);
  const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, bgra, address, width * 4);
  stack.defer(() => pdfium.FPDFBitmap_Destroy(bitmap));
  pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xff_ff_ff_ff);
  pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, withAnnotations | asRgba);
  change({ width, height, rgba: pdfium.pdfium.HEAPU8.subarray(address, address + length) });
  const found = allocate(pdfium, stack, 4);
  const size = pdfium.EPDF_PNG_EncodeRGBA(address, width, height, width * 4, compressionLevel, found);
  if (size === 0) throw new Error('PDFium made no PNG');
  const png = stack.adopt(pdfium.pdfium.getValue(found, 'i32') >>> 0, pdfium.pdfium.wasmExports.free);
  return pdfium.pdfium.HEAPU8.slice(png, png + size);
}

/** Constants of PDFium's `fpdfview.h`. */
const bgra = 4;
const withAnnotations = 0x01;
const asRgba = 0x10;
const compressionLevel = 6;
