import { AppError } from '@octavo/core';

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
