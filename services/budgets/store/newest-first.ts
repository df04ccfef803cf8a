import { type SelectQueryBuilder, sql } from 'kysely';
import type { Tables } from './tables.ts';

/** Place in a list of an account, as `placeByTime` gives it. */
export interface PlaceByTime {
  readonly owner: number;
  readonly beforeMs: number;
  readonly beforeId: string;
  readonly limit: number;
}

/** Takes the rows of an account from a place on, the newest first. */
export function newestFirst({ owner, beforeMs, beforeId, limit }: PlaceByTime) {
  const [createdAt, id] = [sql.ref('created_at_ms'), sql.ref('id')];
  return <T extends keyof Tables, Row>(query: SelectQueryBuilder<Tables, T, Row>) =>
    query
      .where(sql<boolean>`${sql.ref('owner')} = ${owner}`)
      .where(sql<boolean>`(${createdAt}, ${id}) < (${beforeMs}, ${beforeId})`)
      .orderBy(createdAt, 'desc')
      .orderBy(id, 'desc')
      .limit(limit);
}
