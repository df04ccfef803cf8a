import { allocate, type Pdfium } from '../../pdfium.ts';
import { joined, type Matrix, matrixOf, movedPoint, objectsOf } from './page-objects.ts';

/** A straight line along a side of the page: at the place `at` of the other side, in units of the page from the bottom left. */
export interface Rule {
  readonly isUpright: boolean;
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** Constants of PDFium's `fpdf_edit.h`. */
const pathObject = 2;
const curveTo = 1;
const moveTo = 2;

/** A drawing of more lines, or objects, is a picture. */
const rulesMax = 2_000;
const objectsMax = 20_000;
const segmentsMax = 1_000;
/** A filled shape up to this size is a line. */
const thickMax = 3;
const lengthMin = 4;
/** Difference between the ends of a line that is straight. */
const leanMax = 0.5;

/** The lines that a page draws; none if there are too many. */
export function rulesOn(pdfium: Pdfium, page: number): Rule[] {
  using stack = new DisposableStack();
  const values = allocate(pdfium, stack, 2 * 4);
  const rules: Rule[] = [];
  let count = 0;
  for (const { object, type, matrix } of objectsOf(pdfium, page)) {
    if (++count > objectsMax || rules.length > rulesMax) return [];
    if (type === pathObject) rules.push(...rulesOf(pdfium, { object, matrix, values }));
  }
  return rules;
}

interface Path {
  readonly object: number;
  readonly matrix: Matrix;
  /** Memory for two values. */
  readonly values: number;
}

type Point = readonly [x: number, y: number];

function rulesOf(pdfium: Pdfium, path: Path): Rule[] {
  const { object, values } = path;
  const count = pdfium.FPDFPath_CountSegments(object);
  if (count < 2 || count > segmentsMax) return [];
  if (!pdfium.FPDFPath_GetDrawMode(object, values, values + 4)) return [];
  const [isFilled, isStroked] = [values, values + 4].map((at) => pdfium.pdfium.getValue(at, 'i32') !== 0);
  const lines = linesIn(pdfium, path, count);
  if (isStroked) return lines.flatMap((line) => line.slice(1).flatMap((end, at) => ruleOf(line[at], end)));
  return isFilled ? lines.flatMap(thinRule) : [];
}

/** The straight lines of a path, each by its corners. */
function linesIn(pdfium: Pdfium, { object, matrix, values }: Path, count: number): Point[][] {
  const own = matrixOf(pdfium, object);
  const change = own ? joined(own, matrix) : matrix;
  const lines: Point[][] = [];
  let start: Point | undefined;
  for (let index = 0; index < count; index++) {
    const segment = pdfium.FPDFPath_GetPathSegment(object, index);
    if (!pdfium.FPDFPathSegment_GetPoint(segment, values, values + 4)) return [];
    const [x = 0, y = 0] = [values, values + 4].map((at) => pdfium.pdfium.getValue(at, 'float'));
    const point = movedPoint(change, x, y);
    const type = pdfium.FPDFPathSegment_GetType(segment);
    if (type === moveTo || type === curveTo) lines.push([point]);
    else lines.at(-1)?.push(point);
    if (type === moveTo) start = point;
    if (start && pdfium.FPDFPathSegment_GetClose(segment)) lines.at(-1)?.push(start);
  }
  return lines;
}

function ruleOf([x1, y1]: Point = [0, 0], [x2, y2]: Point): Rule[] {
  const [width, height] = [Math.abs(x2 - x1), Math.abs(y2 - y1)];
  if (width <= leanMax && height >= lengthMin)
    return [{ isUpright: true, at: (x1 + x2) / 2, from: Math.min(y1, y2), to: Math.max(y1, y2) }];
  if (height <= leanMax && width >= lengthMin)
    return [{ isUpright: false, at: (y1 + y2) / 2, from: Math.min(x1, x2), to: Math.max(x1, x2) }];
  return [];
}

/** The line that a thin filled shape looks like. */
function thinRule(points: readonly Point[]): Rule[] {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, right, bottom, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  if (right - left <= thickMax && top - bottom >= lengthMin)
    return [{ isUpright: true, at: (left + right) / 2, from: bottom, to: top }];
  if (top - bottom <= thickMax && right - left >= lengthMin)
    return [{ isUpright: false, at: (bottom + top) / 2, from: left, to: right }];
  return [];
}
