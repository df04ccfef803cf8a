import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { sql } from 'kysely';
import pg from 'pg';
import { Registry } from 'prom-client';
import { idsOf, insertNote, note, notesIn, openWithNotes, Place, Steps } from '../contract/fixture.ts';
import { processName } from './connections.ts';

const { url, skip } = await testDatabaseUrl();
const slow = sql`select pg_sleep(0.01)`;

test('the databases of a process share its connections, and the last to close ends them', {
  skip,
}, async () => {
  await using server = await observe();
  await using last = new Place(url);
  const database = await openWithNotes(last, 1);
  {
    await using place = new Place(url);
    const others = await Promise.all([openWithNotes(place, 2), place.open()]);
    const asked = [database, ...others].flatMap(({ kysely }) =>
      Array.from({ length: 20 }, () => slow.execute(kysely)),
    );
    await Promise.all(asked);
    assert.equal(await server.connections(), 8);
    assert.deepEqual(await idsOf(others[0]), [1, 2]);
  }
  assert.deepEqual(await idsOf(database), [1]);
  await database[Symbol.asyncDispose]();
  await until(async () => (await server.connections()) === 0);
});

test('a database that closes ends its streams, and not those of others', { skip }, async () => {
  await using kept = new Place(url);
  await using closed = new Place(url);
  const [database, other] = [await openWithNotes(kept, 3), await openWithNotes(closed, 3)];
  const rows = database.stream(notesIn(database), { batchRows: 1 })[Symbol.asyncIterator]();
  await rows.next();
  const cut = other.stream(notesIn(other), { batchRows: 1 })[Symbol.asyncIterator]();
  await cut.next();
  await other[Symbol.asyncDispose]();
  await assert.rejects(async () => {
    for (;;) if ((await cut.next()).done) return;
  });
  await assert.rejects(idsOf(other), /is closed/);
  assert.deepEqual((await rows.next()).value, [note(2)]);
  assert.deepEqual((await rows.next()).value, [note(3)]);
  assert.equal((await rows.next()).done, true);
});

test('one connection, and one for streams, are enough', { skip }, async () => {
  await using server = await observe();
  await using place = new Place(url);
  const database = await place.open({ connections: 1 });
  await Promise.all(Array.from({ length: 20 }, (_, index) => insertNote.run(database, note(index + 1))));
  const batches = database.stream(notesIn(database), { batchRows: 5 });
  let streamed = 0;
  for await (const rows of batches) {
    streamed += rows.length;
    await database.write((session) => insertNote.run(session, note(100 + streamed)));
  }
  assert.equal(streamed, 20);
  assert.equal((await idsOf(database)).length, 24);
  assert.equal(await server.connections(), 2);
});

test('a migration whose connection is lost begins again', { skip, timeout: 30_000 }, async () => {
  await using server = await observe();
  await using other = await observe();
  await using place = new Place(url);
  const steps = new Steps();
  steps.write(
    '0001_first.sql',
    'CREATE TABLE a (id bigint); LOCK TABLE public.in_the_way; INSERT INTO a VALUES (1);',
  );
  await server.run('CREATE TABLE public.in_the_way ()');
  await other.run('BEGIN; LOCK TABLE public.in_the_way');
  const opening = place.open({ migrations: steps.folder });
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = '${processName}' AND datname = current_database() AND wait_event_type = 'Lock'`;
  await until(async () => (await server.run(end)) === 1);
  await other.run('COMMIT');
  const { rows } = await sql`select id from a`.execute((await opening).kysely);
  assert.deepEqual(rows, [{ id: 1 }]);
});

test('metrics say how many connections this process has, and the server', { skip }, async () => {
  await using place = new Place(url);
  const metrics = new Registry();
  await place.open({ metrics });
  await place.open({ metrics });
  const text = await metrics.metrics();
  for (const state of ['used', 'idle', 'waiting'])
    assert.match(text, new RegExp(`db_connections\\{state="${state}"\\} \\d`));
  const [, taken] = /db_server_connections\{server="[^"]+",of="taken"\} (\d+)/.exec(text) ?? [];
  const [, most] = /db_server_connections\{server="[^"]+",of="most"\} (\d+)/.exec(text) ?? [];
  assert.ok(Number(taken) >= 1 && Number(most) > Number(taken), text);
});

/** A client that runs scripts in the database, and counts the connections of this process there. */
async function observe() {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const run = async (script: string) => (await client.query(script)).rowCount;
  const ofThisProcess = `SELECT 1 FROM pg_stat_activity WHERE application_name = '${processName}' AND datname = current_database()`;
  return { run, connections: () => run(ofThisProcess), [Symbol.asyncDispose]: () => client.end() };
}
