import type { DatabaseSync } from 'node:sqlite';
import type { Drafts } from '../services/posts/drafts.ts';

/**
 * Inserts of ready posts by prepared statements on bare node:sqlite, one transaction a call: the same tables and indexes
 * that the service writes, and nothing computed on the way. Statistics are written once for each of the drafts.
 */
export function bareInserts(database: DatabaseSync): (parts: readonly Drafts[], lastId: number) => void {
  const post = database.prepare('INSERT INTO post VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const total = database.prepare(
    'UPDATE post_total SET last_id = last_id + ?, posts = posts + ?, characters = characters + ?, last_created_at_ms = ?',
  );
  const upsert = (table: string, key: string, count: string) =>
    database.prepare(
      `INSERT INTO ${table} VALUES (?, ?) ON CONFLICT (${key}) DO UPDATE SET ${count} = ${count} + excluded.${count}`,
    );
  const users = upsert('user_tally', 'user_id', 'posts');
  const lengths = upsert('length_tally', 'length', 'posts');
  const characters = upsert('character_tally', 'code_point', 'occurrences');
  const hours = upsert('hour_tally', 'hour', 'posts');
  const write = ({ rows, tally }: Drafts, lastId: number, nowMs: number) => {
    total.run(tally.posts, tally.posts, tally.characters, nowMs);
    for (const [index, { userId, title, body, folded }] of rows.entries()) {
      post.run(lastId + index + 1, userId, title, body, nowMs, nowMs, 1, folded);
    }
    for (const [key, count] of tally.users) users.run(key, count);
    for (const [key, count] of tally.lengths) lengths.run(key, count);
    for (const [key, count] of tally.characterCounts()) characters.run(key, count);
    hours.run(new Date(nowMs).getUTCHours(), tally.posts);
  };
  return (parts, lastId) => {
    const nowMs = Date.now();
    let id = lastId;
    database.exec('BEGIN IMMEDIATE');
    for (const part of parts) {
      write(part, id, nowMs);
      id += part.rows.length;
    }
    database.exec('COMMIT');
  };
}
