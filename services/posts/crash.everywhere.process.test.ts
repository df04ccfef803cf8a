import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { recountStatistics } from './statistics/index.ts';
import { dropSchema, exported, inTestMode, startPosts, type World } from './testing/testing.ts';

const batch = 100;

await inTestMode((world) => {
  test('after a kill during a load every acknowledged batch is there, and no partial one', async (context) => {
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

/** Starts a process that loads posts, and kills it after `batches` batches; returns the last id that it acknowledged. */
async function loadAndKill(world: World, dataFolder: string, batches: number): Promise<number> {
  const script = new URL('./testing/loader.ts', import.meta.url).pathname;
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
