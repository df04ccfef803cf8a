import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@octavo/core';
import { Registry } from 'prom-client';
import { type Session, statement } from '../index.ts';
import {
  countNotes,
  idsOf,
  insertNote,
  note,
  noteById,
  openWithNotes,
  Place,
  type Server,
  type Tables,
} from './fixture.ts';

const bodyOf = statement<Tables, { id: number }>()((db, p) =>
  db.selectFrom('note').select('body').where('id', '=', p('id')),
);
const setBody = statement<Tables, { id: number; body: string }>()((db, p) =>
  db
    .updateTable('note')
    .set({ body: p('body') })
    .where('id', '=', p('id')),
);

/** Writes are durable together or not at all, and never mix with one another. */
export function writeContract(server: Server): void {
  test('a write that throws leaves nothing', async () => {
    await using place = new Place(server);
    const database = await place.open();
    const failure = new AppError('forbidden', 'no');
    const write = database.write(async (session) => {
      await insertNote.run(session, note(1));
      throw failure;
    });
    await assert.rejects(write, failure);
    assert.deepEqual(await idsOf(database), []);
  });

  test('a write that awaits in the middle takes in no write of another request, and loses none', async () => {
    await using place = new Place(server);
    const database = await place.open();
    const middle = Promise.withResolvers<void>();
    const others = Promise.withResolvers<void>();
    const doomed = database.write(async (session) => {
      await insertNote.run(session, note(1));
      middle.resolve();
      await others.promise;
      throw new Error('rolled back');
    });
    await middle.promise;
    const statementOfAnother = insertNote.run(database, note(2));
    const writeOfAnother = database.write((session) => insertNote.run(session, note(3)));
    const seenMeanwhile = await idsOf(database);
    others.resolve();
    await assert.rejects(doomed, /rolled back/);
    await Promise.all([statementOfAnother, writeOfAnother]);
    assert.ok(!seenMeanwhile.includes(1));
    assert.deepEqual(await idsOf(database), [2, 3]);
  });

  test('of many writes at once the failing ones fail alone', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 1);
    const ids = Array.from({ length: 40 }, (_, index) => index + 2);
    const results = await Promise.allSettled(
      ids.map((id) =>
        database.write(async (session) => {
          await insertNote.run(session, note(id));
          await nextTurn();
          if (id % 3 === 0) await insertNote.run(session, note(1));
        }),
      ),
    );
    const kept = ids.filter((id) => id % 3 !== 0);
    assert.deepEqual(
      ids.filter((_, index) => results[index]?.status === 'fulfilled'),
      kept,
    );
    assert.deepEqual(await idsOf(database), [1, ...kept]);
  });

  test('a write sees its own changes, others only after it', async () => {
    await using place = new Place(server);
    const database = await place.open();
    await database.write(async (session) => {
      await insertNote.run(session, note(1));
      assert.deepEqual(await noteById.first(session, { id: 1 }), note(1));
      assert.equal((await session.kysely.selectFrom('note').selectAll().execute()).length, 1);
    });
    assert.deepEqual(await noteById.first(database, { id: 1 }), note(1));
  });

  test('a failed statement ends the write, even if the work goes on', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 1);
    const swallowing = database.write(async (session) => {
      await insertNote.run(session, note(2));
      await insertNote.run(session, note(1)).catch(() => {});
      await insertNote.run(session, note(3)).catch(() => {});
    });
    await assert.rejects(swallowing, { code: 'conflict' });
    assert.deepEqual(await idsOf(database), [1]);
  });

  test('the database itself is refused inside its own write, and only there', async () => {
    await using place = new Place(server);
    await using elsewhere = new Place(server);
    const database = await openWithNotes(place, 1);
    const other = await elsewhere.open();
    const refused = /use the session/;
    const late = await database.write(async (session) => {
      await assert.rejects(async () => noteById.first(database, { id: 1 }), refused);
      await assert.rejects(async () => insertNote.run(database, note(2)), refused);
      await assert.rejects(database.kysely.selectFrom('note').selectAll().execute(), refused);
      await assert.rejects(async () => database.write(async () => {}), refused);
      await assert.rejects(async () => database.read(async () => {}), refused);
      await insertNote.run(other, note(5));
      await insertNote.run(session, note(3));
      return { afterwards: () => insertNote.run(database, note(4)) };
    });
    await late.afterwards();
    assert.deepEqual(await idsOf(database), [1, 3, 4]);
    assert.deepEqual(await idsOf(other), [5]);
  });

  test('a session is refused after its write', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 1);
    let kept: Session<Tables> | undefined;
    await database.write(async (session) => {
      kept = session;
    });
    await assert.rejects(
      async () => insertNote.run(kept as Session<Tables>, note(2)),
      /this session has ended/,
    );
    assert.deepEqual(await idsOf(database), [1]);
  });

  test('statements started together inside a write run one after another', async () => {
    await using place = new Place(server);
    const database = await place.open();
    await database.write((session) => Promise.all([1, 2, 3].map((id) => insertNote.run(session, note(id)))));
    assert.deepEqual(await idsOf(database), [1, 2, 3]);
  });

  test('writes that hold the same lock run one after another', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 1);
    await setBody.run(database, { id: 1, body: '0' });
    const readThenWrite = (): Promise<void> =>
      database.write(async (session) => {
        await session.lock('note 1');
        const row = await bodyOf.first(session, { id: 1 });
        await nextTurn();
        await setBody.run(session, { id: 1, body: String(Number(row?.body) + 1) });
      });
    await Promise.all(Array.from({ length: 20 }, readThenWrite));
    assert.equal((await bodyOf.first(database, { id: 1 }))?.body, '20');
  });

  test('writes of one lock see those before them, fail alone, and run as their callers', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 1);
    const caller = new AsyncLocalStorage<number>();
    const add = (id: number): Promise<number | undefined> =>
      database.write(
        async (session) => {
          const { count = 0 } = (await countNotes.first(session, {})) ?? {};
          await nextTurn();
          await insertNote.run(session, note(id % 5 === 0 ? 1 : count + 1));
          return caller.getStore();
        },
        { locks: ['notes'] },
      );
    const ids = Array.from({ length: 20 }, (_, index) => index + 1);
    const results = await Promise.allSettled(ids.map((id) => caller.run(id, () => add(id))));
    const ends = results.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.code));
    assert.deepEqual(
      ends,
      ids.map((id) => (id % 5 === 0 ? 'conflict' : id)),
    );
    assert.equal((await idsOf(database)).length, 17);
  });

  test('transactions that block one another are run again', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 2);
    const touch = (first: number, second: number): Promise<void> =>
      database.write(async (session) => {
        await setBody.run(session, { id: first, body: `${first} ${second}` });
        await nextTurn();
        await setBody.run(session, { id: second, body: `${first} ${second}` });
      });
    await Promise.all(Array.from({ length: 4 }, (_, index) => (index % 2 ? touch(1, 2) : touch(2, 1))));
    assert.equal(
      (await bodyOf.first(database, { id: 1 }))?.body,
      (await bodyOf.first(database, { id: 2 }))?.body,
    );
  });

  test('a long write of its own does not wait for others to share its commit', async () => {
    await using place = new Place(server);
    const database = await place.open();
    const order: string[] = [];
    const before = database
      .write((session) => insertNote.run(session, note(1)))
      .then(() => order.push('before'));
    const long = database.write(
      async (session) => {
        order.push('long begins');
        await insertNote.run(session, note(2));
      },
      { alone: true },
    );
    await Promise.all([before, long]);
    assert.equal((await countNotes.first(database, {}))?.count, 2);
    if (database.dialect === 'sqlite') assert.deepEqual(order, ['before', 'long begins']);
  });

  test('the writer reports its metrics', async () => {
    await using place = new Place(server);
    const metrics = new Registry();
    const database = await place.open({ metrics });
    await Promise.all([1, 2, 3].map((id) => database.write((session) => insertNote.run(session, note(id)))));
    const text = await metrics.metrics();
    const labels = `{database="${place.options.name}"}`;
    const commits = database.dialect === 'sqlite' ? 1 : 3;
    assert.ok(text.includes(`db_write_queue_depth${labels} 0`), text);
    assert.ok(text.includes(`db_write_group_size_sum${labels} 3`), text);
    assert.ok(text.includes(`db_commit_duration_seconds_count${labels} ${commits}`), text);
  });
}
