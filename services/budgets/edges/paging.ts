import { AppError } from '@octavo/core';
import type { Page, PageRequest } from '@octavo/web/rest';
import { decodeCursor, encodeCursor } from '@octavo/web/rest';

/** The id of a row, which may be deleted. Throws `invalid_input` for another text. */
export function idOfRow(id: string): string {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return id;
  throw new AppError('invalid_input', 'after must be the id of the last row.', {
    fields: { after: 'must be the id of the last row' },
  });
}

interface Dated {
  readonly id: string;
  readonly created_at_ms: number;
}

/** Start of a page ordered by `createdAt` and `id`, newest first; fetches one extra row to detect a next page. */
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

/** A page of a short list that was read whole. */
export function pageOf<R, T>(
  rows: readonly R[],
  { limit, cursor }: PageRequest,
  view: (row: R) => T,
): Page<T> {
  const [start = 0] = decodeCursor(cursor, ['integer']) as [number?];
  const end = start + limit;
  const next = end < rows.length ? encodeCursor([end]) : undefined;
  return { items: rows.slice(start, end).map(view), total: rows.length, next };
}
