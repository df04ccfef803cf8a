/**
 * Single durable creates at the post backend with 64 clients at once, beside one bare node:sqlite transaction (and so one
 * sync of the disk) a row into the same tables and indexes. Rounds alternate, the best of each counts.
 *
 *   node proof/bench/creates.ts [rounds] [seconds]
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createCorpus } from '../../services/posts/corpus.ts';
import { type PreparedPosts, preparePosts } from '../../services/posts/posts/create.ts';
import { bareInserts } from './bare-posts.ts';
import { openPosts } from './million.ts';
import { quantile, scratchFolder, startBenchPosts } from './posts-bench.ts';

const [rounds = 3, seconds = 3] = process.argv.slice(2).map(Number);
const clients = 64;
const corpus = createCorpus({ seed: 11, size: 50_000, users: 50 });
const rows = Array.from({ length: corpus.size }, (_, index) => {
  const { userId, title, body } = corpus.at(index);
  return { userId, title, body };
});
const best = { service: 0, bare: 0, row: 0 };
const latencies: number[] = [];
for (let round = 0; round < rounds; round++) {
  best.row = Math.max(best.row, await bare(false));
  best.bare = Math.max(best.bare, await bare(true));
  best.service = Math.max(best.service, await service());
}
console.log(
  `bare, one sync a row  ${Math.round(best.bare)} rows/s (without statistics ${Math.round(best.row)})`,
);
console.log(
  `service, ${clients} clients   ${Math.round(best.service)} rows/s, ${(best.service / best.bare).toFixed(1)} times`,
);
console.log(
  `latency ms            p50 ${quantile(latencies, 0.5).toFixed(1)} p99 ${quantile(latencies, 0.99).toFixed(1)}`,
);

async function service(): Promise<number> {
  using folder = scratchFolder();
  await using posts = await startBenchPosts(folder.path);
  const endMs = performance.now() + seconds * 1_000;
  let created = 0;
  const work = async () => {
    while (performance.now() < endMs) {
      const startedMs = performance.now();
      await posts.client.createPost({ post: rows[created++ % rows.length] });
      latencies.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  return created / seconds;
}

/** One transaction a row, with its statistics or without. */
async function bare(withStatistics: boolean): Promise<number> {
  using folder = scratchFolder();
  await (await openPosts(folder.path))[Symbol.asyncDispose]();
  const database = new DatabaseSync(join(folder.path, 'posts.sqlite'));
  database.exec('PRAGMA synchronous = FULL');
  const prepared = await Promise.all(rows.slice(0, 1_000).map((row) => preparePosts([row])));
  const insertAll = bareInserts(database);
  const insertRow = database.prepare('INSERT INTO post VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)');
  const endMs = performance.now() + seconds * 1_000;
  let id = 0;
  for (; performance.now() < endMs; id++) {
    const one = prepared[id % prepared.length] as PreparedPosts;
    if (withStatistics) insertAll([one], id);
    else {
      const { userId, title, body, normalized } = one.rows[0] as PreparedPosts['rows'][number];
      insertRow.run(id + 1, userId, title, body, Date.now(), Date.now(), 1, normalized);
    }
  }
  database.close();
  return id / seconds;
}
