import assert from 'node:assert/strict';
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  bulkCreate,
  inTestMode,
  refusal,
  startPosts,
  type TestPosts,
  type World,
} from './testing/testing.ts';

const post = { userId: 7, title: 'Fog', body: 'The ferries wait.' };

await inTestMode((world) => {
  test('a ping answers with and without posts, and while a long write holds the lock', async (context) => {
    const posts = await startPosts(context, world);
    await posts.client.ping({});
    await bulkCreate(posts.client, Array(100).fill(post));
    await posts.client.ping({});
    await delay(1_000);
    const undo = await changeDatabase(posts, world, {
      sqlite: 'BEGIN IMMEDIATE',
      postgres: 'BEGIN; LOCK TABLE posts.health_probe IN EXCLUSIVE MODE',
    });
    await posts.client.ping({}, { timeoutMs: 1_000 });
    await undo();
  });

  test('a ping fails while nothing can be written, and works again afterwards', async (context) => {
    const posts = await startPosts(context, world);
    const { client } = posts;
    // A trigger fails as a full disk does.
    const undo = await changeDatabase(posts, world, {
      sqlite: `CREATE TRIGGER full BEFORE UPDATE ON health_probe BEGIN SELECT RAISE(ABORT, 'full'); END`,
      postgres: `CREATE FUNCTION posts.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full; END $$;
        CREATE TRIGGER full_disk BEFORE UPDATE ON posts.health_probe EXECUTE FUNCTION posts.full()`,
    });
    await refusal(client.ping({}));
    await refusal(client.ping({}));
    await undo();
    const repair = await changeDatabase(posts, world, {
      sqlite: 'DROP TRIGGER full',
      postgres: 'DROP TRIGGER full_disk ON posts.health_probe',
    });
    await repair();
    await delay(1_000);
    await client.ping({});
  });

  const skip = world.databaseUrl !== undefined && 'the files of PostgreSQL are its own';
  test('a ping fails where a page of the posts is damaged', { skip }, async (context) => {
    const posts = await startPosts(context, world);
    await bulkCreate(posts.client, Array(500).fill(post));
    await posts.client.ping({});
    const file = join(posts.dataFolder, 'posts.sqlite');
    using database = new DatabaseSync(file);
    const root = database.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'post'`).get()?.rootpage;
    const { page_size: pageSize } = database.prepare('PRAGMA page_size').get() as { page_size: number };
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    writeSync(openSync(file, 'r+'), Buffer.alloc(pageSize, 0xff), 0, pageSize, (Number(root) - 1) * pageSize);
    database.exec('UPDATE health_probe SET written_at_ms = 1');
    assert.equal((await refusal(posts.client.ping({}))).code, 'internal');
  });
});

/** Runs a statement on a connection that stays open until the function that it gives is called. */
async function changeDatabase(
  { dataFolder }: TestPosts,
  { databaseUrl }: World,
  sql: { sqlite: string; postgres: string },
): Promise<() => Promise<void>> {
  if (databaseUrl === undefined) {
    const database = new DatabaseSync(join(dataFolder, 'posts.sqlite'));
    database.exec(sql.sqlite);
    return async () => database.close();
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(sql.postgres);
  return () => client.end();
}
