import assert from 'node:assert/strict';
import { statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { idsOf, insertNote, note, openWithNotes, Place, Steps } from '../contract/fixture.ts';
import { backupDatabase, restoreDatabase } from '../index.ts';

test('a backup taken while others write holds one moment, and restores elsewhere', async () => {
  await using place = new Place(undefined);
  await using target = new Place(undefined);
  const database = await openWithNotes(place, 2000);
  const file = join(place.options.folder, 'backup');
  let last = 2000;
  let copied = false;
  const writing = (async () => {
    while (!copied) {
      const pair = [note(++last), note(++last)];
      await database.write(async (session) => {
        for (const row of pair) await insertNote.run(session, row);
      });
    }
  })();
  assert.equal(await backupDatabase(place.options, file), true);
  copied = true;
  await writing;
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await restoreDatabase({ ...target.options, file });
  const ids = await idsOf(await target.open());
  assert.ok(ids.length >= 2000 && ids.length % 2 === 0 && ids.length <= last, `${ids.length} of ${last}`);
  assert.deepEqual(ids, (await idsOf(database)).slice(0, ids.length));
});

test('restoring over rows is refused unless it is wanted', async () => {
  await using place = new Place(undefined);
  const database = await openWithNotes(place, 2);
  const file = join(place.options.folder, 'backup');
  assert.equal(await backupDatabase(place.options, file), true);
  await insertNote.run(database, note(3));
  await database[Symbol.asyncDispose]();
  await assert.rejects(restoreDatabase({ ...place.options, file }), { code: 'conflict' });
  assert.deepEqual(await idsOf(await place.open()), [1, 2, 3]);
  await restoreDatabase({ ...place.options, file, overwrite: true });
  const restored = await place.open();
  assert.deepEqual(await idsOf(restored), [1, 2]);
  await assert.rejects(insertNote.run(restored, note(3, { author_id: 9 })), { code: 'conflict' });
});

test('a file that is no whole backup is refused, and one from a newer version', async () => {
  await using place = new Place(undefined);
  await using target = new Place(undefined);
  const steps = new Steps();
  await openWithNotes(place, 500);
  const file = join(place.options.folder, 'backup');
  assert.equal(await backupDatabase(place.options, file), true);
  steps.write('0000_nothing.sql', '');
  const older = restoreDatabase({ ...target.options, file, migrations: steps.folder });
  await assert.rejects(older, { code: 'precondition_failed', message: /newer than this program/ });
  truncateSync(file, statSync(file).size - 5000);
  await assert.rejects(restoreDatabase({ ...target.options, file }), { code: 'invalid_input' });
  writeFileSync(file, 'something else');
  await assert.rejects(restoreDatabase({ ...target.options, file }), { code: 'invalid_input' });
  await assert.rejects(restoreDatabase({ ...target.options, file: `${file}.gone` }), {
    code: 'invalid_input',
  });
  assert.deepEqual(await idsOf(await target.open()), []);
});

test('there is nothing to copy before the first start', async () => {
  await using place = new Place(undefined);
  assert.equal(await backupDatabase(place.options, join(place.options.folder, 'backup')), false);
});
