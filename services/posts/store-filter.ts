import { type RawBuilder, sql } from 'kysely';
import type { Session } from '#kit/db/index.ts';
import { divider } from './fold.ts';
import type { PostFilter } from './post.ts';
import type { Tables } from './tables.ts';

type Dialect = Session<Tables>['dialect'];

/** What is searched of a post, in SQL; PostgreSQL has an index on just this. */
export const searchedText: RawBuilder<string> = sql<string>`coalesce(post.folded, lower(post.title) || ${sql.lit(divider)} || lower(post.body))`;

/** Whether a post has the term. `wanted` is what {@link wantedText} makes of it. */
export function hasTerm(dialect: Dialect, wanted: unknown): RawBuilder<boolean> {
  if (dialect === 'sqlite') return sql<boolean>`instr(${searchedText}, ${wanted}) > 0`;
  return sql<boolean>`${searchedText} LIKE ${wanted}`;
}

/** A filter as parameters of statements; those that a statement does not have are of no effect. */
export function filterParams(dialect: Dialect, { userId = 0, term = '' }: PostFilter) {
  const wanted = dialect === 'sqlite' ? term : `%${term.replace(/[\\%_]/g, '\\$&')}%`;
  return { userId, wanted };
}

export type FilterParams = ReturnType<typeof filterParams>;
