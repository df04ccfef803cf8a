/**
 * Bulk creation at the post backend, rows a second, durable: batches of 1,000 posts of the corpus by its client, beside
 * prepared inserts of the same rows into the same tables and indexes, one bare node:sqlite transaction a batch. Bare inserts
 * are given what must be computed (normalized texts, counted characters): with the statistics of each row, and, as the service
 * writes them, with those of the batch summed up first. The service runs with its worker, which has the new posts classified, and
 * without. Rounds alternate, the best of each counts.
 * Then the longest time that the event loop stood still while 1,000 posts of full size were created.
 *
 *   node proof/bench/bulk.ts [rounds] [batches]
 */

import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '@octavo/core';
import { createCorpus } from '../../services/posts/corpus.ts';
import { type PreparedPosts, preparePosts } from '../../services/posts/posts/create.ts';
import type { NewPost } from '../../services/posts/posts/index.ts';
import { bareInserts } from './bare-posts.ts';
import { openPosts } from './million.ts';
import { scratchFolder, startBenchPosts } from './posts-bench.ts';

const [rounds = 3, batches = 20] = process.argv.slice(2).map(Number);
const rows = 1_000;
const corpus = createCorpus({ seed: 9, size: rows * batches, users: 50 });
const best = { service: 0, alone: 0, bare: 0, summed: 0 };
for (let round = 0; round < rounds; round++) {
  best.bare = Math.max(
    best.bare,
    await bare((posts) => Promise.all(posts.map((post) => preparePosts([post])))),
  );
  best.summed = Math.max(best.summed, await bare(async (posts) => [await preparePosts(posts)]));
  best.alone = Math.max(best.alone, await service({ POSTS_WORKER: 'off' }));
  best.service = Math.max(best.service, await service({}));
}
const share = (floor: number) => (best.service / floor).toFixed(2);
console.log(`bare inserts, row by row            ${Math.round(best.bare)} rows/s`);
console.log(`bare inserts, statistics summed up  ${Math.round(best.summed)} rows/s`);
console.log(`service, nothing else done          ${Math.round(best.alone)} rows/s`);
console.log(
  `service, new posts classified       ${Math.round(best.service)} rows/s: ${share(best.bare)} and ${share(best.summed)} of these`,
);
await stalls();

async function service(settings: Environment): Promise<number> {
  using folder = scratchFolder();
  await using posts = await startBenchPosts(folder.path, settings);
  let ms = 0;
  // The thread is started.
  await posts.client.bulkCreatePosts({
    posts: batchOf(0),
    errors: [],
    idempotencyKey: '',
    digest: Buffer.alloc(0),
  });
  for (let batch = 0; batch < batches; batch++) {
    const request = { posts: batchOf(batch), errors: [], idempotencyKey: '', digest: Buffer.alloc(0) };
    const startedMs = performance.now();
    await posts.client.bulkCreatePosts(request);
    ms += performance.now() - startedMs;
  }
  return (rows * batches * 1_000) / ms;
}

async function bare(prepare: (posts: NewPost[]) => Promise<PreparedPosts[]>): Promise<number> {
  using folder = scratchFolder();
  // The migrations make the schema.
  await (await openPosts(folder.path))[Symbol.asyncDispose]();
  const database = new DatabaseSync(join(folder.path, 'posts.sqlite'));
  database.exec('PRAGMA synchronous = FULL');
  const insert = bareInserts(database);
  let ms = 0;
  for (let batch = 0; batch < batches; batch++) {
    const parts = await prepare(batchOf(batch));
    const startedMs = performance.now();
    insert(parts, batch * rows);
    ms += performance.now() - startedMs;
  }
  database.close();
  return (rows * batches * 1_000) / ms;
}

async function stalls(): Promise<void> {
  using folder = scratchFolder();
  await using posts = await startBenchPosts(folder.path);
  const full = Array.from({ length: rows }, (_, index) => ({ userId: 1, ...fullSize(index) }));
  const request = { posts: full, errors: [], idempotencyKey: '', digest: Buffer.alloc(0) };
  await posts.client.bulkCreatePosts(request);
  await delay(1_000);
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const startedMs = performance.now();
  await posts.client.bulkCreatePosts(request);
  const ms = performance.now() - startedMs;
  await delay(20);
  loop.disable();
  console.log(
    `1,000 posts of 10,000 characters: ${ms.toFixed(0)} ms, event loop p99 ${(loop.percentile(99) / 1e6).toFixed(1)} ms, longest ${(loop.max / 1e6).toFixed(1)} ms`,
  );
}

function fullSize(index: number): { title: string; body: string } {
  let body = '';
  for (let at = index; body.length < 10_000; at++) body += `${corpus.at(at % corpus.size).body} `;
  return { title: `Of full size ${index}`, body: body.slice(0, 10_000).toWellFormed() };
}

function batchOf(batch: number): NewPost[] {
  return Array.from({ length: rows }, (_, index) => {
    const { userId, title, body } = corpus.at(batch * rows + index);
    return { userId, title, body };
  });
}
