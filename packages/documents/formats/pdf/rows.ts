import type { PlacedItem } from './items.ts';
import { lineOf } from './lines.ts';

/** Items of a row that stand close together. */
export interface Segment {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly items: readonly PlacedItem[];
}

export interface Row {
  readonly y: number;
  readonly height: number;
  readonly segments: readonly Segment[];
}

export interface Column {
  left: number;
  right: number;
}

/** Share of the height of a row from which a gap divides columns. */
const columnGap = 1.2;
/** Share of the height by which texts of one row may be apart. */
const sameRow = 0.5;

/** The rows of a page from the top, each in segments from the left. */
export function rowsIn(items: readonly PlacedItem[]): Row[] {
  const groups: PlacedItem[][] = [];
  for (const item of items.toSorted((one, other) => other.y - one.y)) {
    const group = groups.at(-1);
    const first = group?.[0];
    if (first && first.y - item.y <= Math.max(first.height, item.height) * sameRow) group.push(item);
    else groups.push([item]);
  }
  return groups.map((group) => {
    const height = Math.max(...group.map((item) => item.height));
    return { y: group[0]?.y ?? 0, height, segments: segmentsOf(group, height * columnGap) };
  });
}

/** Items of a row from the left, those with less than a gap between them as one. */
export function segmentsOf(items: readonly PlacedItem[], gap: number): Segment[] {
  const parts: PlacedItem[][] = [];
  let right = Number.NEGATIVE_INFINITY;
  for (const item of items.toSorted((one, other) => one.left - other.left)) {
    if (item.left - right > gap) parts.push([item]);
    else parts.at(-1)?.push(item);
    right = Math.max(right, item.right);
  }
  return parts.map(segmentOf);
}

export function segmentOf(items: readonly PlacedItem[]): Segment {
  return {
    text: lineOf(items).text,
    left: Math.min(...items.map(({ left }) => left)),
    right: Math.max(...items.map(({ right }) => right)),
    items,
  };
}
