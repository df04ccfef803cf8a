import { type Database, DatabaseHealth } from '#kit/db/index.ts';
import type { Log } from '#kit/log.ts';
import type { Tables } from './database.ts';
import { lastPostId, postUpTo } from './statistics/index.ts';

/**
 * Whether the database of the posts can be read and written. It reads the newest post and one at random, which finds damaged pages. It
 * costs the same at a million posts.
 */
export function createHealth(database: Database<Tables>, log: Log): DatabaseHealth<Tables> {
  return new DatabaseHealth({ database, log, read: readSome });
}

async function readSome(database: Database<Tables>): Promise<void> {
  const last = await lastPostId(database);
  const ids = [last, Math.ceil(Math.random() * last)];
  await Promise.all(ids.map((upTo) => postUpTo.first(database, { upTo })));
}
