import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { note, openWithNotes, Place } from './contract/fixture.ts';
import { scan } from './index.ts';

const slow = sql<{
  count: number;
}>`with recursive number (n) as (select 1 union all select n + 1 from number where n < 1000000)
  select count(*) as count from number`;

test('a read that may touch many rows leaves the event loop to others, and a small one sees its snapshot', async () => {
  await using place = new Place(undefined);
  const database = await openWithNotes(place, 3);
  const order: string[] = [];
  const counted = scan(slow, { database, session: database, touched: 1_000_000 }).then((rows) => {
    order.push('counted');
    return rows;
  });
  await new Promise(setImmediate);
  order.push('other');
  assert.deepEqual(await counted, [{ count: 1_000_000 }]);
  assert.deepEqual(order, ['other', 'counted']);
  await database.read(async (session) => {
    const notes = session.kysely.selectFrom('note').selectAll().orderBy('id');
    assert.deepEqual(await scan(notes, { database, session, touched: 3 }), [note(1), note(2), note(3)]);
    assert.deepEqual(await scan(notes, { database, session, touched: 10_001 }), [note(1), note(2), note(3)]);
  });
});
