import type { DatabaseSync } from 'node:sqlite';
import type { PreparedPosts } from '../../services/posts/posts/create.ts';

/**
 * Inserts of ready posts by prepared statements on bare node:sqlite, one transaction a call: the same tables and indexes
 * that the service writes, without any computing. Statistics are written once for each part.
 */
export function bareInserts(
  database: DatabaseSync,
): (parts: readonly PreparedPosts[], lastId: number) => void {
  const post = database.prepare('INSERT INTO post VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)');
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
  const write = ({ rows, delta }: PreparedPosts, lastId: number, nowMs: number) => {
    total.run(delta.posts, delta.posts, delta.characters, nowMs);
    for (const [index, { userId, title, body, normalized }] of rows.entries()) {
      post.run(lastId + index + 1, userId, title, body, nowMs, nowMs, 1, normalized);
    }
    for (const [key, count] of delta.users) users.run(key, count);
    for (const [key, count] of delta.lengths) lengths.run(key, count);
    for (const [key, count] of delta.characterCounts()) characters.run(key, count);
    hours.run(new Date(nowMs).getUTCHours(), delta.posts);
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
