import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { fieldsOf } from './testing/forms.ts';
import { addBooks, startLibrary } from './testing/start.ts';

const postgres = await testDatabaseUrl();
const list = '/admin/library/book/';
const valid = { title: 'A', genre: 'novel', published: '2026-01-01T00:00', added: '2026-01-01T00:00' };

describe('forms on SQLite', () => cases(undefined));
describe('forms on PostgreSQL', { skip: postgres.skip }, () => cases(postgres.url));

function cases(url: string | undefined): void {
  test('errors stand beside their fields, and what was typed stays', async () => {
    const { alice, database } = await open();
    await alice.open(`${list}add/`);
    const { status, html } = await alice.send(`${list}add/`, {
      title: '  ',
      genre: 'opera',
      pages: '12x',
      published: 'yesterday',
      author: '999',
      added: '2026-02-30T10:00',
      'copy-0-shelf': 'x'.repeat(21),
      'copy-1-is_main': 'true',
      'copy-1-shelf': '',
    });
    assert.equal(status, 422);
    for (const [name, message] of [
      ['title', 'Title is required'],
      ['genre', 'Genre must be one of novel, poetry, history'],
      ['pages', 'Pages must be a whole number'],
      ['published', 'Published must be a date and time such as 2026-01-31T12:00'],
      ['added', 'Added must be a date and time'],
      ['copy-0-shelf', 'Copy 1: Shelf must be at most 20 characters'],
      ['copy-1-shelf', 'Copy 2: Shelf is required'],
    ]) {
      assert.ok(html.includes(`<a href="#field-${name}">${message}`), `${name}: ${message}`);
      assert.match(html, new RegExp(`id="field-${name}"[^>]*aria-invalid="true"`));
    }
    assert.match(html, /value="12x"/);
    assert.match(html, /value="xxxxxxxxxxxxxxxxxxxxx"/);
    assert.deepEqual(await database.kysely.selectFrom('book').selectAll().execute(), []);
  });

  test('hooks, unique names and references that are gone refuse, and nothing is saved', async () => {
    const { alice, database } = await open();
    await alice.open(`${list}add/`);
    const forbidden = await alice.send(`${list}add/`, { ...valid, title: 'Forbidden' });
    assert.equal(forbidden.status, 422);
    assert.match(forbidden.html, /Title is not allowed here/);
    const gone = await alice.send(`${list}add/`, { ...valid, author: '999' });
    assert.equal(gone.status, 409);
    assert.match(gone.html, /does not exist/);
    const two = await alice.send(`${list}add/`, {
      ...valid,
      'copy-0-shelf': 'a',
      'copy-0-is_main': 'true',
      'copy-1-shelf': 'b',
      'copy-1-is_main': 'true',
    });
    assert.equal(two.status, 409);
    assert.match(two.html, /href="#field-copy-1-is_main">The book already has a main copy\./);
    await alice.send('/admin/library/author/add/', { name: 'Eliot' });
    const taken = await alice.send('/admin/library/author/add/', { name: 'Eliot' });
    assert.equal(taken.status, 409);
    assert.match(taken.html, /Name is already taken/);
    assert.deepEqual(await database.kysely.selectFrom('book').selectAll().execute(), []);
    assert.deepEqual(await database.kysely.selectFrom('copy').selectAll().execute(), []);
    const history = await database.kysely.selectFrom('admin_log').select('title').execute();
    assert.deepEqual(history, [{ title: 'Eliot' }]);
  });

  test('the main copy moves from one to another in one save, in either order', async () => {
    const { alice, database } = await open();
    const [id] = await addBooks(database, [{ title: 'A' }]);
    for (const [shelf, is_main] of [
      ['a', 0],
      ['b', 1],
    ] as const)
      await database.kysely
        .insertInto('copy')
        .values({ book_id: id, shelf, is_main } as never)
        .execute();
    const path = `${list}${id}/change/`;
    for (const [from, to] of [
      ['1', '0'],
      ['0', '1'],
    ]) {
      const fields = fieldsOf((await alice.open(path)).html);
      delete fields[`copy-${from}-is_main`];
      const saved = await alice.send(path, { ...fields, [`copy-${to}-is_main`]: 'true' });
      assert.equal(saved.status, 303, saved.html);
    }
    const copies = await database.kysely
      .selectFrom('copy')
      .select(['shelf', 'is_main'])
      .orderBy('id')
      .execute();
    assert.deepEqual(copies, [
      { shelf: 'a', is_main: 0 },
      { shelf: 'b', is_main: 1 },
    ]);
  });

  test('an instant that is finer than its control stays as it is', async () => {
    const { alice, database } = await open();
    const [id] = await addBooks(database, [
      { title: 'A', added: '2026-01-01T10:20:30.123456Z', published_at_ms: 1_767_225_600_123 },
    ]);
    const page = await alice.open(`${list}${id}/change/`);
    const fields = fieldsOf(page.html);
    assert.equal(fields.added, '2026-01-01T10:20:30');
    assert.equal(fields.published, '2026-01-01T00:00');
    assert.match(page.html, /name="added"[^>]*><span class="zone"[^>]*>UTC</);
    await alice.send(`${list}${id}/change/`, { ...fields, title: 'B' });
    const row = await database.kysely.selectFrom('book').selectAll().executeTakeFirstOrThrow();
    assert.deepEqual(
      [row.title, row.added, row.published_at_ms],
      ['B', '2026-01-01T10:20:30.123456Z', 1_767_225_600_123],
    );
  });

  test('a form without the controls of new columns keeps their values', async () => {
    const { alice, database } = await open();
    const [id] = await addBooks(database, [{ title: 'A', pages: 100, is_lent: 1 }]);
    await database.kysely
      .insertInto('copy')
      .values({ book_id: id, shelf: 'a', is_main: 1 } as never)
      .execute();
    const path = `${list}${id}/change/`;
    const page = fieldsOf((await alice.open(path)).html);
    // As a replica of an earlier version served it.
    const { pages: _, is_lent: __, 'copy-0-is_main': ___, _version = '', ...older } = page;
    const versions = _version.split(' ').filter((pair) => !/^(pages|is_lent)=|\.is_main=/.test(pair));
    assert.equal(versions.length, _version.split(' ').length - 3);
    const saved = await alice.send(path, {
      ...older,
      _version: versions.join(' '),
      title: 'B',
      'copy-0-shelf': 'b',
    });
    assert.equal(saved.status, 303, saved.html);
    const row = await database.kysely.selectFrom('book').selectAll().executeTakeFirstOrThrow();
    assert.deepEqual([row.title, row.pages, row.is_lent], ['B', 100, 1]);
    const copies = await database.kysely.selectFrom('copy').select(['shelf', 'is_main']).execute();
    assert.deepEqual(copies, [{ shelf: 'b', is_main: 1 }]);
  });

  test('the second of two editors learns who changed what, and loses nothing', async () => {
    const { alice, database, signedIn } = await open();
    const bob = await signedIn('bob');
    const [id] = await addBooks(database, [{ title: 'A', pages: 100 }]);
    await database.kysely
      .insertInto('copy')
      .values({ book_id: id, shelf: 'a', is_main: 0 } as never)
      .execute();
    const path = `${list}${id}/change/`;
    const [hers, his] = [fieldsOf((await alice.open(path)).html), fieldsOf((await bob.open(path)).html)];
    await bob.send(path, {
      ...his,
      title: 'Title of Bob',
      pages: '200',
      'copy-0-shelf': 'of Bob',
      'copy-1-shelf': 'new of Bob',
    });
    const conflict = await alice.send(path, { ...hers, title: 'Title of Alice', 'copy-0-shelf': 'of Alice' });
    assert.equal(conflict.status, 409);
    assert.match(conflict.html, /<b>bob<\/b> changed this/);
    assert.match(
      conflict.html,
      /Title<\/td>[\s\S]*Title of Bob<\/td>[\s\S]*Title of Alice<\/td>[\s\S]*what you sent/,
    );
    assert.match(conflict.html, /Pages<\/td>[\s\S]*200<\/td>[\s\S]*100<\/td>[\s\S]*what is stored/);
    assert.match(conflict.html, /copy: Shelf<\/td>[\s\S]*of Bob<\/td>[\s\S]*of Alice<\/td>/);
    assert.match(conflict.html, /New copy<\/td>[\s\S]*new of Bob/);
    const merged = fieldsOf(conflict.html);
    assert.equal(merged.title, 'Title of Alice');
    assert.equal(merged.pages, '200');
    assert.equal((await alice.send(path, merged)).status, 303);
    const row = await database.kysely.selectFrom('book').selectAll().executeTakeFirstOrThrow();
    assert.deepEqual([row.title, row.pages], ['Title of Alice', 200]);
    const copies = await database.kysely.selectFrom('copy').select('shelf').orderBy('id').execute();
    assert.deepEqual(
      copies.map(({ shelf }) => shelf),
      ['of Alice', 'new of Bob'],
    );
  });

  test('a change elsewhere is noticed, one of the same is not, and sending a form twice changes nothing', async () => {
    const { alice, database } = await open();
    const [id] = await addBooks(database, [{ title: 'A' }]);
    const path = `${list}${id}/change/`;
    const fields = fieldsOf((await alice.open(path)).html);
    await database.kysely.updateTable('book').set({ title: 'By the API' }).execute();
    const conflict = await alice.send(path, { ...fields, title: 'Mine' });
    assert.match(conflict.html, /changed outside the admin[\s\S]*By the API/);
    assert.equal((await alice.send(path, { ...fields, title: 'By the API' })).status, 303);
    const again = fieldsOf((await alice.open(path)).html);
    for (let time = 1; time <= 2; time++)
      assert.equal((await alice.send(path, { ...again, title: 'Twice' })).status, 303);
    const history = await database.kysely.selectFrom('admin_log').select('action').execute();
    assert.equal(history.length, 1, 'the second time nothing changed');
    await database.kysely.deleteFrom('book').execute();
    assert.equal((await alice.send(path, again)).status, 404);
  });

  test('a child that another user deleted comes back as a new row', async () => {
    const { alice, database } = await open();
    const [id] = await addBooks(database, [{ title: 'A' }]);
    await database.kysely
      .insertInto('copy')
      .values({ book_id: id, shelf: 'a', is_main: 0 } as never)
      .execute();
    const path = `${list}${id}/change/`;
    const fields = fieldsOf((await alice.open(path)).html);
    await database.kysely.deleteFrom('copy').execute();
    const conflict = await alice.send(path, { ...fields, 'copy-0-shelf': 'kept' });
    assert.equal(conflict.status, 409);
    assert.match(conflict.html, /Deleted copy<\/td>[\s\S]*kept/);
    assert.equal((await alice.send(path, fieldsOf(conflict.html))).status, 303);
    const copies = await database.kysely.selectFrom('copy').select('shelf').execute();
    assert.deepEqual(copies, [{ shelf: 'kept' }]);
  });

  test('buttons lead on, values come from the address, and children of others are out of reach', async () => {
    const { alice, database } = await open();
    const [id, other] = await addBooks(database, [{ title: 'A' }, { title: 'B' }]);
    await database.kysely
      .insertInto('copy')
      .values({ book_id: other, shelf: 'of B', is_main: 0 } as never)
      .execute();
    const form = await alice.open(`${list}add/?title=From+the+address&genre=poetry`);
    const fields = fieldsOf(form.html);
    assert.deepEqual([fields.title, fields.genre], ['From the address', 'poetry']);
    const another = await alice.send(`${list}add/`, { ...fields, _addanother: '1' });
    assert.equal(another.headers.get('location'), `${list}add/`);
    const copy = await database.kysely.selectFrom('copy').select('id').executeTakeFirstOrThrow();
    const path = `${list}${id}/change/`;
    const typed = {
      ...fieldsOf((await alice.open(path)).html),
      'copy-5-id': String(copy.id),
      'copy-5-shelf': 'stolen',
    };
    await alice.send(path, typed);
    const stays = await database.kysely
      .selectFrom('copy')
      .selectAll()
      .where('id', '=', copy.id)
      .executeTakeFirstOrThrow();
    assert.deepEqual([stays.book_id, stays.shelf], [other, 'of B']);
  });

  test('the address of an object leads to its form, and its history names what it refers to', async () => {
    const { alice, database } = await open();
    await alice.open(`${list}add/`);
    await alice.send('/admin/library/author/add/', { name: 'Eliot' });
    await alice.send('/admin/library/author/add/', { name: 'Woolf' });
    await alice.send(`${list}add/`, { ...valid, author: '1' });
    const { id } = await database.kysely.selectFrom('book').select('id').executeTakeFirstOrThrow();
    await alice.send(`${list}${id}/change/`, { ...valid, author: '2' });
    for (const path of [`${list}${id}/`, `${list}a%20b%2Fc/`]) {
      const { status, headers } = await alice.open(path);
      assert.deepEqual([status, headers.get('location')], [302, `${path}change/`]);
    }
    const { html } = await alice.open(`${list}${id}/history/`);
    assert.match(html, /Author: <del>Eliot<\/del>[\s\S]*<ins>Woolf<\/ins>[\s\S]*Author: <ins>Eliot<\/ins>/);
    assert.match(html, /<td[^>]*>Admin<\/td>/);
  });

  test('addresses of nothing are 404', async () => {
    const { alice } = await open();
    for (const path of [
      ...[
        'library/book/1/change/',
        'library/book/abc/change/',
        'library/book/99999999999999999999/change/',
        'library/book/-1/delete/',
      ],
      ...[
        'library/nothing/',
        'nothing/',
        'library/book/%00/change/',
        'library/book/1/history/',
        'auth/user/3000000000/change/',
      ],
      ...['library/book/1/nothing/', 'library/notice/7/change/', 'auth/user/1/toString/'],
    ])
      assert.equal((await alice.open(`/admin/${path}`)).status, 404, path);
    assert.equal(
      (await alice.open('/admin/library/book/1/change')).headers.get('location'),
      '/admin/library/book/1/change/',
    );
  });

  async function open() {
    const library = await startLibrary(url);
    return { ...library, alice: await library.signedIn('alice') };
  }
}
