import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Session } from '@octavo/data';
import { configOf, openServiceDatabase } from '@octavo/data/service';
import { sql } from 'kysely';
import { quotes } from '../service.ts';
import type { Tables } from '../tables.ts';
import { startQuotes } from '../testing.ts';

const service = await startQuotes();
const database = await openServiceDatabase<Tables>(
  quotes,
  configOf(quotes, service.environment),
  service.context,
);
const { kysely, dialect } = database;
after(async () => {
  await database[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

test('the quotes of categories are counted whatever changes many at once', async () => {
  for (const index of Array(12).keys())
    await service.add({ text: `Fog ${index} waits`, category: index % 2 ? 'Fog' : 'Rain' });
  const steps = [
    sql`UPDATE quote SET is_published = 0 WHERE id % 3 = 0`,
    sql`UPDATE quote SET category_id = (SELECT min(id) FROM category) WHERE id % 5 = 0`,
    sql`UPDATE quote SET is_published = 1, category_id = (SELECT max(id) FROM category) WHERE id % 6 = 0`,
    sql`UPDATE quote SET text = text WHERE id % 7 = 0`,
    sql`DELETE FROM quote WHERE id % 4 = 0`,
    sql`UPDATE quote SET is_published = 0 WHERE id < 0`,
    sql`DELETE FROM quote`,
  ];
  for (const step of steps) {
    await step.execute(kysely);
    assert.deepEqual(await countsOf('quotes'), await countsOf('counted'));
  }
});

test('a statement writes each category once', {
  skip: dialect === 'sqlite' && 'SQLite counts by row',
}, async () => {
  for (const index of Array(8).keys()) await service.add({ text: `Rain ${index} falls`, category: 'Rain' });
  const written = await database.write(async (session) => {
    const before = await writtenRows(session);
    await sql`UPDATE quote SET is_published = 0`.execute(session.kysely);
    return (await writtenRows(session)) - before;
  });
  assert.equal(written, 1);
});

/** Rows of categories that this connection has written, of late. */
async function writtenRows(session: Session<Tables>): Promise<number> {
  const count = sql<{
    rows: number;
  }>`SELECT pg_stat_get_xact_tuples_updated('quotes.category'::regclass) AS rows`;
  return (await count.execute(session.kysely)).rows[0]?.rows ?? 0;
}

/** Numbers of published quotes by category: those that are kept, or counted now. */
async function countsOf(kind: 'quotes' | 'counted'): Promise<unknown[]> {
  const counted = sql`(SELECT count(*) FROM quote WHERE category_id = category.id AND is_published = 1)`;
  const { rows } = await sql`SELECT id, ${kind === 'quotes' ? sql.ref('quotes') : counted} AS quotes
    FROM category ORDER BY id`.execute(kysely);
  return rows;
}
