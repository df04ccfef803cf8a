import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { testFolder } from '@octavo/testing';
import { sql } from 'kysely';
import { openPostDatabase } from '../database.ts';
import { PageThreads } from './page-threads.ts';
import type { PageRequest } from './request.ts';

const posts = 300;
const first: PageRequest = { order: 'id', descending: true, offset: 0, limit: 20 };

test('a thread starts only for pages that would delay others', async () => {
  await using database = await openPostDatabase({
    url: undefined,
    folder: testFolder('pages'),
    log: silentLog,
  });
  await database.write(async ({ kysely }) => {
    await sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${posts})
      insert into post (id, user_id, title, body, created_at_ms, updated_at_ms, revision)
      select i, 1, 'Ferries', 'They wait in fog.', i, i, 1 from n`.execute(kysely);
    await kysely.updateTable('post_total').set({ posts, last_id: posts }).execute();
  });
  // Threads read a database of their own here, which is empty.
  const folder = testFolder('pages-of-threads');
  await using threads = new PageThreads({ database, folder });
  assert.equal((await threads.read({ ...first, offset: 280 })).posts.length, 20);
  assert.equal((await threads.read({ ...first, offset: 50_000 })).total, posts);
  assert.equal((await threads.read({ ...first, offset: 50_001 })).total, 0);
  assert.equal((await threads.read({ ...first, order: 'title' })).total, 0);
});
