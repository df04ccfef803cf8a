import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '@octavo/testing';
import { pgbouncerIsMissing, startPgbouncer, testDatabaseUrl } from '@octavo/testing/engines';
import { sql } from 'kysely';
import pg from 'pg';
import { idsOf, insertNote, note, noteById, openWithNotes, Place } from '../contract/fixture.ts';
import { lifecycleContract } from '../contract/lifecycle.suite.ts';
import { processContract } from '../contract/processes.suite.ts';
import { readContract } from '../contract/reads.suite.ts';
import { statementContract } from '../contract/statements.suite.ts';
import { writeContract } from '../contract/writes.suite.ts';

const database = await testDatabaseUrl();
const skip = database.skip || pgbouncerIsMissing();
const url = String(database.url);
const transactions = { pool_mode: 'transaction' };
const poolers: Record<string, number>[] = [{}, { default_pool_size: 1 }, { server_round_robin: 1 }];

test('a pooler in transaction mode is refused before anything is read, however its connections take turns', {
  skip,
}, async () => {
  for (const settings of poolers) {
    const pooled = await startPgbouncer(url, { ...transactions, ...settings });
    // Other connections of the pooler are open, as on a day with requests.
    const others = await Promise.all([1, 2, 3].map(() => inUse(pooled, 'default_pool_size' in settings)));
    await using place = new Place(pooled);
    await assert.rejects(place.open(), {
      name: 'AppError',
      reason: 'CONFIG',
      message: `${new URL(pooled).host} is a pooler in transaction mode. Set DATABASE_POOLER=transaction, or name PostgreSQL itself in DATABASE_URL.`,
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

describe('through a pooler in transaction mode', { skip }, async () => {
  const server = {
    url: skip ? url : await startPgbouncer(url, transactions),
    pooler: 'transaction',
  } as const;
  statementContract(server);
  writeContract(server);
  readContract(server);
  lifecycleContract(server);
  processContract(server);

  test('databases with the same tables share three connections and are not mixed, and transactions keep their timeouts', async () => {
    const narrow = { ...server, url: await startPgbouncer(url, { ...transactions, default_pool_size: 3 }) };
    await using one = new Place(narrow);
    await using two = new Place(narrow);
    const [first, second] = [await openWithNotes(one, 1), await openWithNotes(two, 2)];
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const database = index % 2 === 0 ? first : second;
        await insertNote.run(database, note(10 + index, { body: String(index % 2) }));
        assert.equal((await noteById.first(database, { id: 10 + index }))?.body, String(index % 2));
      }),
    );
    assert.equal((await idsOf(first)).length, 21);
    assert.equal((await idsOf(second)).length, 22);
    const timeout = sql<{ value: string }>`select current_setting('statement_timeout') as value`;
    for (const within of [first.read, first.write])
      assert.equal(
        await within.call(first, async ({ kysely }) => (await timeout.execute(kysely)).rows[0]?.value),
        '1min',
      );
  });

  test('a stream that is aborted ends what computes in the server', async () => {
    await using place = new Place(server);
    const database = await place.open();
    const stop = new AbortController();
    const computing = Array.fromAsync(
      database.stream(sql`select pg_sleep(60)`, { batchRows: 1, signal: stop.signal }),
    );
    const asleep = sql`select 1 from pg_stat_activity where datname = current_database() and query like 'FETCH%' and state = 'active'`;
    await until(async () => (await asleep.execute(database.kysely)).rows.length === 1);
    stop.abort(new Error('enough'));
    await assert.rejects(computing, /enough/);
    await until(async () => (await asleep.execute(database.kysely)).rows.length === 0);
  });
});

test('prepared statements are kept only by a pooler that knows them', { skip }, async () => {
  for (const settings of poolers) {
    const pooled = await startPgbouncer(url, { ...transactions, ...settings });
    await using place = new Place({ url: pooled, pooler: 'named' });
    // PgBouncer 1.21 and later keep them once they are told to.
    await assert.rejects(place.open(), { reason: 'CONFIG', message: /does not keep prepared statements/ });
  }
});

test('migrations go to PostgreSQL itself where its address is given', { skip }, async () => {
  const pooled = await startPgbouncer(url, transactions);
  await using place = new Place({
    url: pooled,
    pooler: 'transaction',
    directUrl: 'postgres://127.0.0.1:1/none',
  });
  await assert.rejects(place.open(), { code: 'unavailable', message: /127\.0\.0\.1:1 cannot be reached/ });
  assert.deepEqual(await idsOf(await place.open({ directUrl: url })), []);
});

/** A client that has used a connection to the server and, unless there is only one, got it beside the others. */
async function inUse(pooled: string, isOnly: boolean): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: pooled });
  await client.connect();
  await client.query(isOnly ? 'SELECT 1' : 'SELECT pg_sleep(0.05)');
  return client;
}
