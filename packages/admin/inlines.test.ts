import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { fieldsOf } from './testing/forms.ts';
import { addBooks, startLibrary } from './testing/start.ts';

const postgres = await testDatabaseUrl();
const book = ['view', 'add', 'change', 'delete'].map((action) => `library/book:${action}`);

describe('inlines on SQLite', () => cases(undefined));
describe('inlines on PostgreSQL', { skip: postgres.skip }, () => cases(postgres.url));

function cases(url: string | undefined): void {
  const rights = ['', 'view', 'add', 'view add', 'view change', 'view delete', 'add change delete'];
  for (const given of rights)
    test(`staff with the rights “${given}” on the children save their parent`, async () => {
      const { alice, bob, path, database } = await open(given.split(' ').filter((right) => right !== ''));
      const page = await alice.open(path);
      assert.equal(page.html.includes('shelf of Bob'), given !== '' && given !== 'add');
      const first = await alice.send(path, { ...fieldsOf(page.html), title: 'First' });
      assert.equal(first.status, 303, first.html);
      const hers = {
        ...fieldsOf((await alice.open(path)).html),
        title: 'Second',
        'copy-0-shelf': 'of Alice',
      };
      const his = fieldsOf((await bob.open(path)).html);
      await bob.send(path, { ...his, 'copy-0-shelf': 'changed', 'copy-1-shelf': 'new' });
      const second = await alice.send(path, hers);
      const mayChange = given.includes('change');
      assert.equal(second.status, mayChange ? 409 : 303, second.html);
      if (mayChange) {
        assert.match(second.html, /<b>bob<\/b> changed this/);
        assert.match(second.html, /copy: Shelf<\/td>[\s\S]*changed<\/td>[\s\S]*of Alice<\/td>/);
        assert.equal((await alice.send(path, fieldsOf(second.html))).status, 303);
      }
      const { title } = await database.kysely.selectFrom('book').select('title').executeTakeFirstOrThrow();
      assert.equal(title, 'Second');
      const shelves = await database.kysely.selectFrom('copy').select('shelf').orderBy('id').execute();
      const added = given === 'add' || given === 'view add' ? [{ shelf: 'of Alice' }] : [];
      const kept = [{ shelf: mayChange ? 'of Alice' : 'changed' }, { shelf: 'new' }];
      assert.deepEqual(shelves, given === 'add' ? [...kept, ...added] : kept);
    });

  test('a child that was changed meanwhile is not deleted in silence', async () => {
    for (const right of ['change', 'delete', 'change delete']) {
      const { alice, bob, path, database } = await open(right.split(' '));
      const hers = { ...fieldsOf((await alice.open(path)).html), 'copy-0-DELETE': 'true' };
      await bob.send(path, { ...fieldsOf((await bob.open(path)).html), 'copy-0-shelf': 'changed' });
      const conflict = await alice.send(path, hers);
      const count = async () => (await database.kysely.selectFrom('copy').select('id').execute()).length;
      assert.equal(await count(), 1);
      if (right === 'change') continue;
      assert.equal(conflict.status, 409);
      assert.match(conflict.html, /copy: Shelf<\/td>[\s\S]*changed<\/td>[\s\S]*to delete it<\/td>/);
      assert.equal((await alice.send(path, fieldsOf(conflict.html))).status, 303);
      assert.equal(await count(), 0);
    }
  });

  test('a child that was deleted meanwhile is not added by who may not add any', async () => {
    const { alice, path, database } = await open(['change']);
    const fields: Record<string, string> = {
      ...fieldsOf((await alice.open(path)).html),
      'copy-0-shelf': 'of Alice',
    };
    await database.kysely.deleteFrom('copy').execute();
    const conflict = await alice.send(path, fields);
    assert.equal(conflict.status, 409);
    assert.match(conflict.html, /Deleted copy<\/td>[\s\S]*of Alice[\s\S]*what is stored/);
    assert.equal((await alice.send(path, { ...fieldsOf(conflict.html), title: 'B' })).status, 303);
    const { _version: _, ...unversioned } = fields;
    assert.equal((await alice.send(path, unversioned)).status, 403);
    assert.deepEqual(await database.kysely.selectFrom('copy').selectAll().execute(), []);
  });

  async function open(rights: readonly string[]) {
    const library = await startLibrary(url);
    const { database, signedIn } = library;
    const [id] = await addBooks(database, [{ title: 'A' }]);
    const copy = { book_id: id, shelf: 'shelf of Bob', is_main: 0 };
    await database.kysely
      .insertInto('copy')
      .values(copy as never)
      .execute();
    const alice = await signedIn('alice', [...book, ...rights.map((right) => `library/copy:${right}`)]);
    return { database, alice, bob: await signedIn('bob'), path: `/admin/library/book/${id}/change/` };
  }
}
