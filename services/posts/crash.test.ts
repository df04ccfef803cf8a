import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testFolder } from '#kit/testing/folder.ts';
import { PostSort } from '#proto/posts/v1/posts.ts';
import { recountStatistics } from './store-recount.ts';
import { liveSegments } from './store-search/segments.ts';
import {
  bulkCreate,
  dropSchema,
  exported,
  listing,
  onBothDatabases,
  startPosts,
  type World,
} from './testing.ts';

const batch = 100;

await onBothDatabases((world) => {
  test('killed while it loads, it has every batch that it acknowledged, and no half one', async (context) => {
    const dataFolder = testFolder('posts');
    if (world.databaseUrl) await dropSchema(world.databaseUrl);
    let acknowledged = 0;
    for (const batches of [7, 30]) {
      acknowledged = await loadAndKill(world, dataFolder, batches);
      const { client, open } = await startPosts(context, world, dataFolder);
      const posts = await exported(client);
      assert.ok(posts.length >= acknowledged, `${posts.length} posts of ${acknowledged} acknowledged`);
      assert.equal(posts.length % batch, 0);
      assert.deepEqual(
        posts.map(({ id }) => id),
        posts.map((_, index) => index + 1),
      );
      await using database = await open();
      assert.equal((await recountStatistics(database)).agreed, true);
    }
  });
});

test('posts are found alike before, while and after they are indexed', async (context) => {
  const { client, open } = await startPosts(context, { databaseUrl: undefined, remote: false });
  const rows = Array.from({ length: 5_000 }, (_, index) => ({
    userId: 1 + (index % 3),
    title: `Title ${(index * 7_919) % 5_000}`,
    body: index % 10 === 0 ? 'Tenth, with a needle-in-hay' : 'Others',
  }));
  await using database = await open();
  const check = async () => {
    const filter = { search: 'needle-IN-hay', userId: 2 };
    const expected = (await exported(client, filter)).map(({ title }) => title).sort();
    for (const page of [1, 3]) {
      const request = listing({ filter, sort: PostSort.POST_SORT_TITLE, descending: false, page });
      const { posts, total } = await client.listPosts(request);
      assert.equal(total, expected.length);
      assert.deepEqual(
        posts.map(({ title }) => title),
        expected.slice(20 * (page - 1), 20 * page),
      );
    }
  };
  for (let start = 0; start < 5_000; start += 1_000) {
    await bulkCreate(client, rows.slice(start, start + 1_000));
    await check();
  }
  await indexed(context, async () => (await liveSegments(database)).length === 2, check);
  await client.updatePost({ id: 11, title: 'A new title', ifRevisions: [] });
  await client.deletePost({ id: 41, ifRevisions: [] });
  await check();
});

/** Starts a process that loads posts, and kills it after so many batches; gives the last id that it acknowledged. */
async function loadAndKill(world: World, dataFolder: string, batches: number): Promise<number> {
  const script = new URL('./testing-loader.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, dataFolder, world.databaseUrl ?? '', String(batch)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  let acknowledged = 0;
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged = Number(line);
    if (++lines === batches) child.kill('SIGKILL');
  }
  await gone;
  return acknowledged;
}

/** Checks again and again until the index is there. */
async function indexed(
  context: TestContext,
  isThere: () => Promise<boolean>,
  check: () => Promise<void>,
): Promise<void> {
  while (!(await isThere())) {
    if (context.signal.aborted) throw new Error('the index was not made');
    await check();
    await delay(10);
  }
}
