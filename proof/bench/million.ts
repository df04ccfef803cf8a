import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import type { Database } from '@octavo/data';
import { createCorpus } from '../../services/posts/corpus.ts';
import { openPostDatabase, type Tables } from '../../services/posts/database.ts';
import { insertPrepared, preparePosts } from '../../services/posts/posts/create.ts';
import { postText } from '../../services/posts/search/index.ts';

const batch = 1_000;
const indexBatch = 500;
const updatedEvery = 20;

/** Number of posts that stay between benchmarks; OCTAVO_BENCH_POSTS makes fewer. */
export const postCount = Number(process.env.OCTAVO_BENCH_POSTS || 1_000_000);
export const millionFolder = join(tmpdir(), `octavo-bench-fts-${postCount}`);

/** The posts database with its posts of a thousand users over two years, made at the first call. */
export async function openMillion(): Promise<Database<Tables>> {
  const done = existsSync(join(millionFolder, 'posts.sqlite'));
  mkdirSync(millionFolder, { recursive: true });
  const database = await openPosts(millionFolder);
  if (!done) await fill(database);
  return database;
}

export function openPosts(folder: string): Promise<Database<Tables>> {
  return openPostDatabase({ url: undefined, folder, log: silentLog });
}

async function fill(database: Database<Tables>): Promise<void> {
  const corpus = createCorpus({ seed: 1, size: postCount, users: 1_000 });
  const clock = new FakeClock();
  for (let start = 0; start < corpus.size; start += batch) {
    const posts = Array.from({ length: Math.min(batch, corpus.size - start) }, (_, index) =>
      corpus.at(start + index),
    );
    clock.set(posts[0]?.createdAtMs ?? 0);
    const prepared = await preparePosts(posts);
    const options = { nowMs: clock.now(), announcements: [] };
    await database.write((session) => insertPrepared(session, prepared, options), { alone: true });
    if ((start + batch) % 50_000 === 0) console.error(`${start + batch} posts`);
  }
  await database.write((session) =>
    session.kysely
      .updateTable('post')
      .set((e) => ({ updated_at_ms: e('updated_at_ms', '+', 86_400_000), revision: 2 }))
      .where((e) => e(e('id', '%', updatedEvery), '=', 0))
      .execute(),
  );
  console.error('indexing');
  while (await postText.hasPending(database)) {
    await database.write((session) => postText.indexPending(session, indexBatch), { mayBeLost: true });
  }
}
