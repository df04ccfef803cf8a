import { AppError } from '#kit/errors.ts';

/** One page of a list. */
export interface Page<T> {
  readonly items: T[];
  /** How many there are on all pages. */
  readonly total: number;
  /** Where the next page starts; absent on the last one. */
  readonly next?: string | undefined;
}

export interface PageRequest {
  readonly limit: number;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
}

/** Databases refuse fractions and larger numbers where they keep integers. */
type CursorKind = 'integer' | 'number' | 'string';

/** A place in a list, as an opaque text. */
export function encodeCursor(place: readonly (number | string)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** The place in a cursor whose values have these kinds; empty without a cursor. Throws `invalid_input` for any other text. */
export function decodeCursor(
  cursor: string | undefined,
  kinds: readonly CursorKind[],
): readonly (number | string)[] {
  if (cursor === undefined) return [];
  const place = parse(cursor);
  const isPlace = Array.isArray(place) && place.length === kinds.length;
  if (isPlace && place.every((value, index) => isOf(value, kinds[index]))) return place;
  throw new AppError('invalid_input', 'cursor must come from the Link header of a page.', {
    fields: { cursor: 'must come from the Link header of a page' },
  });
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function isOf(value: unknown, kind: CursorKind | undefined): boolean {
  if (kind === 'integer') return Number.isSafeInteger(value);
  if (kind === 'number') return typeof value === 'number' && Number.isFinite(value);
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed();
}

interface Dated {
  readonly id: string;
  readonly created_at_ms: number;
}

/** Where a page of a list starts that is sorted by `createdAt` and `id`, newest first; one more than the page, to see whether there are more. */
export function placeByTime({ cursor, limit }: PageRequest): {
  beforeMs: number;
  beforeId: string;
  limit: number;
} {
  const place = decodeCursor(cursor, ['integer', 'string']) as [number?, string?];
  const [beforeMs = Number.MAX_SAFE_INTEGER, beforeId = ''] = place;
  return { beforeMs, beforeId, limit: limit + 1 };
}

/** The page of the rows that {@link placeByTime} asks for. */
export function pageByTime<R extends Dated, T>(
  rows: readonly R[],
  { request: { limit }, total, view }: { request: PageRequest; total: number; view: (row: R) => T },
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { items: shown.map(view), total, next: last && encodeCursor([last.created_at_ms, last.id]) };
}
