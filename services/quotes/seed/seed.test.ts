import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeds } from '@octavo/octavo';
import { contextFor } from '@octavo/octavo/system';
import { testFolder } from '@octavo/testing';
import { insertQuote } from '../quotes/index.ts';
import { openQuotes } from '../service.ts';
import { readerId } from './store.ts';

test('demo quotes come beside quotes of other people only on demand, and use no existing account', async () => {
  const environment = { OCTAVO_DATA: testFolder('quotes'), LOG_LEVEL: 'silent', NODE_ENV: 'test' };
  const load = async (isForced: boolean) =>
    (await seeds.quotes?.(environment, { count: 1, isForced, onProgress: () => {} }))?.text;
  const { database, dayKeys } = await openQuotes(environment, contextFor('quotes', { environment }));
  await using _ = database;
  const nowMs = Date.UTC(2026, 0, 1);
  const sam = await database.write(async (session) => {
    const id = await readerId(session, { name: 'sam', passwordHash: 'x', nowMs });
    await session.kysely
      .updateTable('auth_user')
      .set({ email: 'sam@example.com' })
      .where('id', '=', id)
      .execute();
    const own = {
      text: 'Ours.',
      author: 'Sam',
      category: 'Own',
      source: '',
      attribution: 'verified',
    } as const;
    await insertQuote(session, { ...own, isPublished: true }, { writer: { id, isStaff: 1 }, nowMs, dayKeys });
    return id;
  });
  assert.equal(await load(false), undefined);
  assert.match((await load(true)) ?? '', /^\d{2,} quotes$/);
  assert.equal(await load(false), '0 quotes', 'once they are there, they are only completed');
  const likes = database.kysely.selectFrom('quote_like').select('id');
  assert.ok((await likes.execute()).length > 50);
  assert.deepEqual(await likes.where('user_id', '=', sam).execute(), []);
});
