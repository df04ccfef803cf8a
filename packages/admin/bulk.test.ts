import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { addBooks, startLibrary } from './testing/start.ts';

const postgres = await testDatabaseUrl();
const list = '/admin/library/book/';

describe('deletions and bulk actions on SQLite', () => cases(undefined));
describe('deletions and bulk actions on PostgreSQL', { skip: postgres.skip }, () => cases(postgres.url));

function cases(url: string | undefined): void {
  test('a deletion names what goes with it, at every level, and what is in the way', async () => {
    const { alice, database } = await open();
    const { id: author } = await database.kysely
      .insertInto('author')
      .values({ name: 'Eliot' } as never)
      .returning('id')
      .executeTakeFirstOrThrow();
    const [first, second] = await addBooks(database, [
      { title: 'A', author_id: author },
      { title: 'B', author_id: author },
    ]);
    for (const book_id of [first, first, second]) {
      const { id } = await database.kysely
        .insertInto('copy')
        .values({ book_id, shelf: 'x', is_main: 0 } as never)
        .returning('id')
        .executeTakeFirstOrThrow();
      await database.kysely
        .insertInto('loan')
        .values([
          { copy_id: id, reader: 'r' },
          { copy_id: id, reader: 's' },
        ] as never[])
        .execute();
    }
    const page = await alice.open(`${list}${first}/delete/`);
    assert.match(page.html, /<li>2 copies<\/li><li>4 loans<\/li>/);
    const ofAuthor = await alice.open(`/admin/library/author/${author}/delete/`);
    assert.match(ofAuthor.html, /no longer refer to it[\s\S]*<li>2 books</);
    await database.kysely
      .insertInto('award')
      .values({ author_id: author, name: 'Prize' } as never)
      .execute();
    const refused = await alice.open(`/admin/library/author/${author}/delete/`);
    assert.match(refused.html, /Awards still refer to it \(1\): delete them first/);
    assert.doesNotMatch(refused.html, /<button class="danger"/);
    assert.equal((await alice.send(`/admin/library/author/${author}/delete/`, { post: 'yes' })).status, 409);
    await database.kysely.deleteFrom('award').execute();
    assert.equal((await alice.send(`/admin/library/author/${author}/delete/`, { post: 'yes' })).status, 303);
    const books = await database.kysely.selectFrom('book').select('author_id').execute();
    assert.deepEqual(books, [{ author_id: null }, { author_id: null }]);
    await alice.send(`${list}${first}/delete/`, { post: 'yes' });
    assert.equal((await database.kysely.selectFrom('loan').selectAll().execute()).length, 2);
    assert.equal((await alice.send(`${list}${first}/delete/`, { post: 'yes' })).status, 404, 'twice');
  });

  test('an action is for the marked, asks where it should, and is in the history of each', async () => {
    const { alice, database } = await open();
    const ids = await addBooks(database, [{ title: 'A' }, { title: 'B' }, { title: 'C' }]);
    await alice.open(list);
    const marked = (action: string, more: Record<string, string> = {}) => {
      const body = new URLSearchParams({ _csrf: alice.token, action, ...more });
      for (const id of ids.slice(0, 2)) body.append('_selected_action', String(id));
      return alice.open(list, { method: 'POST', body });
    };
    assert.equal((await marked('lend')).headers.get('location'), list);
    assert.match((await alice.open(list)).html, /“Mark as lent” was applied to 2 books\./);
    const lent = async () => {
      const rows = await database.kysely
        .selectFrom('book')
        .select('title')
        .where('is_lent', '=', 1)
        .orderBy('id')
        .execute();
      return rows.map(({ title }) => title).join('');
    };
    assert.equal(await lent(), 'AB');
    const asked = await marked('recall');
    assert.equal(asked.status, 200);
    assert.match(asked.html, /name="_selected_action" value="1"[\s\S]*This applies to 2 books\./);
    assert.match(asked.html, /<li>A<\/li><li>B<\/li>/);
    assert.equal(await lent(), 'AB');
    await marked('recall', { post: 'yes' });
    assert.equal(await lent(), '');
    const history = await alice.open(`${list}${ids[0]}/history/`);
    assert.match(
      history.html,
      /Recall[\s\S]*Lent: <del>true<\/del>[\s\S]*<ins>false<\/ins>[\s\S]*Mark as lent/,
    );
    const none = await alice.send(list, { action: 'lend' });
    assert.equal(none.status, 422);
    assert.match(none.html, /Select books first/);
    assert.match((await alice.send(list, { action: '' })).html, /Choose an action/);
    const strange = await alice.send(list, { action: 'lend', _selected_action: "1' or '1'='1" });
    assert.equal(strange.status, 422);
  });

  test('an action is for all that match, on all pages', async () => {
    const { alice, database } = await open();
    await addBooks(
      database,
      Array.from({ length: 1_200 }, (_, index) => ({
        title: `b${index}`,
        genre: index % 2 ? 'poetry' : 'novel',
      })),
    );
    const page = await alice.open(`${list}?genre=poetry`);
    assert.match(page.html, /All 600 on all pages/);
    assert.match(page.html, /action="\/admin\/library\/book\/\?genre=poetry"/);
    const done = await alice.send(`${list}?genre=poetry`, { action: 'lend', select_across: '1' });
    assert.equal(done.headers.get('location'), `${list}?genre=poetry`);
    const lent = await database.kysely.selectFrom('book').select('genre').where('is_lent', '=', 1).execute();
    assert.deepEqual([lent.length, new Set(lent.map(({ genre }) => genre)).size], [600, 1]);
    const asked = await alice.send(`${list}?genre=poetry`, { action: 'delete_selected', select_across: '1' });
    assert.match(asked.html, /name="select_across" value="1"[\s\S]*This deletes 600 books/);
    await alice.send(`${list}?genre=poetry`, { action: 'delete_selected', select_across: '1', post: 'yes' });
    assert.match((await alice.open(list)).html, /600 books were deleted/);
    const left = await database.kysely.selectFrom('book').select('genre').execute();
    assert.deepEqual([left.length, new Set(left.map(({ genre }) => genre)).size], [600, 1]);
  });

  test('models on functions have actions too', async () => {
    const { alice, notices } = await open();
    for (const id of ['1', '2', '3']) notices.set(id, { id, subject: `notice ${id}`, body: '', revision: 1 });
    await alice.open('/admin/library/notice/');
    const body = new URLSearchParams({ _csrf: alice.token, action: 'shout' });
    for (const id of ['1', '2']) body.append('_selected_action', id);
    await alice.open('/admin/library/notice/', { method: 'POST', body });
    assert.deepEqual(
      [...notices.values()].map(({ subject }) => subject),
      ['NOTICE 1', 'NOTICE 2', 'notice 3'],
    );
    await alice.send('/admin/library/notice/?q=NOTICE', {
      action: 'delete_selected',
      select_across: '1',
      post: 'yes',
    });
    assert.equal(notices.size, 0);
  });

  async function open() {
    const library = await startLibrary(url);
    return { ...library, alice: await library.signedIn('alice') };
  }
}
