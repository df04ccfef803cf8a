import { allocate, type Pdfium } from '../../pdfium.ts';

/** A change of coordinates, as PDF writes it: x' = a x + c y + e, y' = b x + d y + f. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/** An object that a page draws, and the change from the coordinates of its form to those of the page. */
export interface PageObject {
  readonly object: number;
  /** A constant of PDFium's `fpdf_edit.h`. */
  readonly type: number;
  readonly matrix: Matrix;
}

const formObject = 5;
/** Forms that hold themselves end here. */
const depthMax = 8;
const identity: Matrix = [1, 0, 0, 1, 0, 0];

/** The objects of a page in the order in which they are painted, those of forms in their place. */
export function* objectsOf(pdfium: Pdfium, page: number): Generator<PageObject> {
  for (let index = 0; index < pdfium.FPDFPage_CountObjects(page); index++)
    yield* withInner(pdfium, { object: pdfium.FPDFPage_GetObject(page, index), matrix: identity, depth: 0 });
}

function* withInner(
  pdfium: Pdfium,
  { object, matrix, depth }: { object: number; matrix: Matrix; depth: number },
): Generator<PageObject> {
  const type = pdfium.FPDFPageObj_GetType(object);
  if (type !== formObject) {
    yield { object, type, matrix };
    return;
  }
  const own = depth < depthMax ? matrixOf(pdfium, object) : undefined;
  if (!own) return;
  for (let index = 0; index < pdfium.FPDFFormObj_CountObjects(object); index++)
    yield* withInner(pdfium, {
      object: pdfium.FPDFFormObj_GetObject(object, index),
      matrix: joined(own, matrix),
      depth: depth + 1,
    });
}

/** The change from the coordinates of an object to those of its page or form. */
export function matrixOf(pdfium: Pdfium, object: number): Matrix | undefined {
  using stack = new DisposableStack();
  const values = allocate(pdfium, stack, 6 * 4);
  if (!pdfium.FPDFPageObj_GetMatrix(object, values)) return undefined;
  return [0, 1, 2, 3, 4, 5].map((place) =>
    pdfium.pdfium.getValue(values + place * 4, 'float'),
  ) as unknown as Matrix;
}

/** One change of coordinates, and then another. */
export function joined([a, b, c, d, e, f]: Matrix, [A, B, C, D, E, F]: Matrix): Matrix {
  return [A * a + C * b, B * a + D * b, A * c + C * d, B * c + D * d, A * e + C * f + E, B * e + D * f + F];
}

/** A point after a change of coordinates. */
export function movedPoint([a, b, c, d, e, f]: Matrix, x: number, y: number): readonly [number, number] {
  return [a * x + c * y + e, b * x + d * y + f];
}
