import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pgbouncerIsMissing, startPgbouncer, testDatabaseUrl } from '@octavo/testing/engines';
import pg from 'pg';
import { idsOf, openWithNotes, Place } from '../contract/fixture.ts';

const database = await testDatabaseUrl();
const skip = database.skip || pgbouncerIsMissing();
const url = String(database.url);

test('a pooler in transaction mode is refused before anything is read, however its connections take turns', {
  skip,
}, async () => {
  const poolers: Record<string, number>[] = [{}, { default_pool_size: 1 }, { server_round_robin: 1 }];
  for (const settings of poolers) {
    const pooled = await startPgbouncer(url, { pool_mode: 'transaction', ...settings });
    // Other connections of the pooler are open, as on a day with requests.
    const others = await Promise.all([1, 2, 3].map(() => inUse(pooled, 'default_pool_size' in settings)));
    await using place = new Place(pooled);
    await assert.rejects(place.open(), {
      name: 'AppError',
      reason: 'CONFIG',
      message: `${new URL(pooled).host} is a pooler in transaction mode, which would mix the tables of services. Set its pool mode to session, or name PostgreSQL itself in DATABASE_URL.`,
    });
    for (const other of others) await other.end();
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(`SELECT 1 FROM pg_namespace WHERE nspname LIKE 't\\_%'`);
  await client.end();
  assert.deepEqual(rows, []);
});

test('a pooler in session mode is like PostgreSQL itself', { skip }, async () => {
  await using place = new Place(await startPgbouncer(url, { pool_mode: 'session' }));
  assert.deepEqual(await idsOf(await openWithNotes(place, 2)), [1, 2]);
});

/** A client that has used a connection to the server and, unless there is only one, got it beside the others. */
async function inUse(pooled: string, isOnly: boolean): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: pooled });
  await client.connect();
  await client.query(isOnly ? 'SELECT 1' : 'SELECT pg_sleep(0.05)');
  return client;
}
