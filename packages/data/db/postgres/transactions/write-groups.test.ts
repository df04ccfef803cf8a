import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startGate, testDatabaseUrl } from '@octavo/testing/engines';
import { Registry } from 'prom-client';
import { idsOf, insertNote, note, openWithNotes, Place, type Tables } from '../../contract/fixture.ts';
import type { Database, WriteSession } from '../../index.ts';

const { url, skip } = await testDatabaseUrl();
const locks = ['notes'];

/** Writes that are asked for at once, and how each ended: `done`, or the code of its error. */
async function outcomes(writes: readonly Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(writes);
  return settled.map((each) =>
    each.status === 'fulfilled' ? 'done' : (each.reason.code ?? each.reason.message),
  );
}

/** Every second one is there already. A group of three has one that fails. */
const pairs = [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7];

const insert = (database: Database<Tables>, id: number) =>
  database.write((session) => insertNote.run(session, note(id)), { locks });

describe('writes that wait for the same locks', { skip }, () => {
  test('share a commit, and one that fails is undone alone', async () => {
    await using place = new Place(url);
    const metrics = new Registry();
    const database = await place.open({ metrics });
    const ids = [1, 2, 2, 3, 1, 4];
    const ends = await outcomes(ids.map((id) => insert(database, id)));
    assert.deepEqual(ends, ['done', 'done', 'conflict', 'done', 'conflict', 'done']);
    assert.deepEqual(await idsOf(database), [1, 2, 3, 4]);
    const text = await metrics.metrics();
    assert.match(text, /db_write_group_size_sum\S* 6\n/);
    assert.match(text, /db_commit_duration_seconds_count\S* [1-5]\n/);
    assert.match(text, /db_write_queue_depth\S* 0\n/);
  });

  test('do not share it with one that fails first, nor with one that is alone', async () => {
    await using place = new Place(url);
    const database = await openWithNotes(place, 1);
    const alone = database.write((session) => insertNote.run(session, note(9)), { locks, alone: true });
    assert.deepEqual(await outcomes([alone, ...[1, 2, 3].map((id) => insert(database, id))]), [
      'done',
      'conflict',
      'done',
      'done',
    ]);
    assert.deepEqual(await idsOf(database), [1, 2, 3, 9]);
  });

  test('do not hold up those of another lock', async () => {
    await using place = new Place(url);
    const database = await place.open();
    const middle = Promise.withResolvers<void>();
    const held = database.write(() => middle.promise, { locks });
    const many = Array.from({ length: 100 }, (_, index) => insert(database, index + 1));
    await database.write((session) => insertNote.run(session, note(200)), { locks: ['others'] });
    assert.deepEqual(await idsOf(database), [200]);
    middle.resolve();
    await Promise.all([held, ...many]);
    assert.equal((await idsOf(database)).length, 101);
  });

  test('of two locks take turns on one connection', async () => {
    await using place = new Place(url);
    const database = await place.open({ connections: 1 });
    const writes = Array.from({ length: 20 }, (_, index) =>
      database.write((session) => insertNote.run(session, note(index + 1)), {
        locks: [`notes ${index % 2}`],
      }),
    );
    await Promise.all(writes);
    assert.equal((await idsOf(database)).length, 20);
  });

  test('are unknown together where the commit was not confirmed, also one that had failed', async () => {
    const { gate, database, place } = await gated();
    await using _place = place;
    gate.cutResponseTo('RELEASE one', 'COMMIT');
    const ends = await outcomes(pairs.map((id) => insert(database, id)));
    const unknown = ends.filter((end) => end === 'timeout').length;
    assert.ok(unknown >= 3, ends.join());
    assert.match(ends.join(), new RegExp(`(timeout,?){${unknown}}`));
    assert.deepEqual(await idsOf(database), [...new Set(pairs)]);
  });

  test('are undone together where the connection is lost, and the rest goes on', async () => {
    const { gate, database, place } = await gated();
    await using _place = place;
    gate.cutResponseTo('ROLLBACK TO one');
    const ends = await outcomes(pairs.map((id) => insert(database, id)));
    const undone = ends.filter((end) => end === 'unavailable').length;
    assert.ok(undone >= 2, ends.join());
    assert.match(ends.join(), new RegExp(`(unavailable,?){${undone}}`));
    assert.deepEqual(
      await idsOf(database),
      pairs.filter((_, index) => ends[index] === 'done'),
    );
    gate.cut();
    assert.deepEqual(await outcomes([4, 5, 6].map((id) => insert(database, id))), [
      'unavailable',
      'unavailable',
      'unavailable',
    ]);
  });

  test('run again together after a conflict with another process', async () => {
    await using place = new Place(url);
    const [one, two] = [await openWithNotes(place, 2), await place.open()];
    const touch = (database: Database<Tables>, name: string, ids: readonly number[]) =>
      ids.map((id) =>
        database.write(
          ({ kysely }) => kysely.updateTable('note').set({ body: name }).where('id', '=', id).execute(),
          { locks: [name] },
        ),
      );
    for (let round = 0; round < 3; round++)
      await Promise.all([...touch(one, 'one', [1, 2]), ...touch(two, 'two', [2, 1])]);
  });

  test('let go what one that failed has locked', async () => {
    await using place = new Place(url);
    const [one, two] = [await place.open(), await place.open()];
    const sharing = async (session: WriteSession<Tables>, id: number) => {
      await session.share('shared');
      await session.share('shared');
      await insertNote.run(session, note(id));
      return (await two.sharers('shared')).size;
    };
    const seen = await Promise.allSettled([
      one.write(async () => (await two.sharers('shared')).size, { locks }),
      one.write((session) => sharing(session, 1).then(() => insertNote.run(session, note(1))), { locks }),
      one.write(async () => (await two.sharers('shared')).size, { locks }),
      one.write((session) => sharing(session, 2), { locks }),
      one.write(async () => (await two.sharers('shared')).size, { locks }),
    ]);
    assert.deepEqual(
      seen.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.code)),
      [0, 'conflict', 0, 1, 1],
    );
  });

  test('are done before the database is closed, which takes no more', async () => {
    await using place = new Place(url);
    const [database, other] = [await place.open(), await place.open()];
    const writes = [1, 2, 3].map((id) => insert(database, id));
    await database[Symbol.asyncDispose]();
    assert.deepEqual(await outcomes(writes), ['done', 'done', 'done']);
    await assert.rejects(insert(database, 4), /closed/);
    assert.deepEqual(await idsOf(other), [1, 2, 3]);
  });
});

test('statements that are sent behind one that fails leave nothing', { skip }, async () => {
  await using place = new Place(url);
  const database = await openWithNotes(place, 1);
  const all = (ids: readonly number[], options: { locks?: readonly string[] }) =>
    database.write((session) => Promise.all(ids.map((id) => insertNote.run(session, note(id)))), options);
  await assert.rejects(all([1, 2, 3, 4], {}), { code: 'conflict' });
  const ends = await outcomes([insert(database, 9), all([1, 5, 6, 7], { locks }), insert(database, 10)]);
  assert.deepEqual(ends, ['done', 'conflict', 'done']);
  assert.deepEqual(await idsOf(database), [1, 9, 10]);
});

/** A database behind a gate that can cut its connections. */
async function gated() {
  const target = new URL(url as string);
  const gate = await startGate(`${target.hostname}:${target.port || 5432}`);
  target.host = gate.address;
  const place = new Place(target.href);
  return { gate, place, database: await place.open() };
}
