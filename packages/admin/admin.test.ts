import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { fieldsOf } from './testing/forms.ts';
import { addBooks, type Library, password, startLibrary } from './testing/start.ts';

const postgres = await testDatabaseUrl();

describe('the admin on SQLite', () => cases(undefined));
describe('the admin on PostgreSQL', { skip: postgres.skip }, () => cases(postgres.url));

function cases(url: string | undefined): void {
  test('signing in leads to where one was, and signing out ends it', async () => {
    const library = await startLibrary(url);
    await library.accounts.create({ username: 'Alice', password, isStaff: true, isSuperuser: true });
    const alice = new PageClient(library.url);
    const asked = await alice.open('/admin/library/book/?q=x');
    assert.equal(asked.status, 302);
    const login = asked.headers.get('location') as string;
    assert.equal(login, '/admin/login/?next=%2Fadmin%2Flibrary%2Fbook%2F%3Fq%3Dx');
    const page = await alice.open(login);
    assert.match(page.html, /name="next" value="\/admin\/library\/book\/\?q=x"/);
    const sent = await alice.send('/admin/login/', {
      username: 'ALICE',
      password,
      next: '/admin/library/book/?q=x',
    });
    assert.equal(sent.headers.get('location'), '/admin/library/book/?q=x');
    assert.equal((await alice.open('/admin/')).status, 200);
    assert.match((await alice.open('/admin')).headers.get('location') ?? '', /^\/admin\/$/);
    const cookies = new Map(alice.cookies);
    await alice.send('/admin/logout/', {});
    assert.equal((await alice.open('/admin/')).status, 302);
    for (const [name, value] of cookies) alice.cookies.set(name, value);
    assert.equal((await alice.open('/admin/')).status, 302, 'an old cookie is worth nothing');
  });

  test('adds, lists, changes and deletes an object with its children', async () => {
    const { alice } = await open();
    await alice.open('/admin/library/book/add/');
    const added = await alice.send('/admin/library/book/add/', {
      title: 'Middlemarch',
      genre: 'novel',
      pages: '880',
      published: '1871-12-01T00:00',
      added: '2026-01-01T10:00',
      'copy-0-shelf': 'A1',
      'copy-0-is_main': 'true',
      'copy-1-shelf': 'A2',
    });
    assert.equal(added.headers.get('location'), '/admin/library/book/', added.html);
    const list = await alice.open('/admin/library/book/');
    assert.match(list.html, /The book “Middlemarch” was added\./);
    assert.match(list.html, /<a href="\/admin\/library\/book\/1\/change\/">Middlemarch<\/a>/);
    assert.match(list.html, /data-label="Copies">2</);
    const form = await alice.open('/admin/library/book/1/change/');
    assert.match(form.html, /name="copy-0-id" value="1"/);
    assert.match(
      form.html,
      /name="published"[^>]*value="1871-12-01T00:00"|value="1871-12-01T00:00"[^>]*name="published"/,
    );
    const changed = await alice.send('/admin/library/book/1/change/', {
      ...fieldsOf(form.html),
      title: 'Middlemarch II',
      'copy-1-DELETE': '1',
      'copy-0-shelf': 'B7',
      _continue: '1',
    });
    assert.equal(changed.headers.get('location'), '/admin/library/book/1/change/', changed.html);
    const history = await alice.open('/admin/library/book/1/history/');
    assert.match(history.html, /Title: <del>Middlemarch<\/del>[\s\S]*<ins>Middlemarch II<\/ins>/);
    assert.match(history.html, /copy “A1”: Shelf: <del>A1<\/del>[\s\S]*<ins>B7<\/ins>/);
    assert.match(history.html, /copy “A2”: <ins>deleted<\/ins>/);
    const asked = await alice.open('/admin/library/book/1/delete/');
    assert.match(asked.html, /<li>1 copy<\/li>/);
    const deleted = await alice.send('/admin/library/book/1/delete/', { post: 'yes' });
    assert.equal(deleted.headers.get('location'), '/admin/library/book/');
    assert.equal((await alice.open('/admin/library/book/1/change/')).status, 404);
  });

  test('works with functions in place of a table', async () => {
    const { alice } = await open();
    await alice.open('/admin/library/notice/add/');
    await alice.send('/admin/library/notice/add/', { subject: 'Closed', body: 'On Sunday' });
    const form = await alice.open('/admin/library/notice/1/change/');
    assert.match(form.html, /Revision[\s\S]*>1</);
    await alice.send('/admin/library/notice/1/change/', { ...fieldsOf(form.html), subject: 'Open' });
    assert.match((await alice.open('/admin/library/notice/?q=open')).html, />Open<\/a>/);
    const taken = await alice.send('/admin/library/notice/add/', { subject: 'Taken' });
    assert.equal(taken.status, 409);
    assert.match(taken.html, /Subject is already taken/);
    await alice.send('/admin/library/notice/1/delete/', { post: 'yes' });
    assert.match((await alice.open('/admin/library/notice/')).html, /No notices yet/);
  });

  test('the overview counts what one may view, and shows its latest changes with their authors', async () => {
    const { alice, database, signedIn } = await open();
    await addBooks(database, [{ title: 'A' }, { title: 'B' }]);
    await alice.open('/admin/library/author/add/');
    await alice.send('/admin/library/author/add/', { name: 'Eliot' });
    await alice.send('/admin/library/notice/add/', { subject: 'Closed', body: 'On Sunday' });
    const counts = ({ html }: { html: string }) =>
      Object.fromEntries(
        [
          ...html.matchAll(
            /\/">([A-Z]\w+)<\/a>(?:<small>[^<]*<\/small>)?<\/div>\s*<span class="count">([^<]*)</g,
          ),
        ].map(([, name, count]) => [name, count]),
      );
    const all = await alice.open('/admin/');
    assert.deepEqual(counts(all), {
      Books: '2',
      Authors: '1',
      Copies: '0',
      Notices: '1',
      Users: '1',
      Groups: '0',
    });
    const bob = await signedIn('bob', ['library/author:view']);
    const some = await bob.open('/admin/');
    assert.deepEqual(counts(some), { Authors: '1' });
    assert.match(some.html, />Eliot<\/a>\s*<span class="small muted">[\s\S]*author, alice, /);
    assert.doesNotMatch(some.html, /Closed/);
    assert.match(all.html, />Closed<\/a>/);
    await alice.send('/admin/library/author/1/delete/', { post: 'yes' });
    assert.match(
      (await bob.open('/admin/')).html,
      /<span>Eliot<\/span>\s*<span class="small muted">[^·]*Deleted/,
    );
    const nobody = await signedIn('carol', []);
    const empty = await nobody.open('/admin/');
    assert.deepEqual(counts(empty), {});
    assert.doesNotMatch(empty.html, /Eliot/);
  });

  test('counts stop at 10,000', async () => {
    const { alice, database } = await open();
    const names = Array.from({ length: 10_001 }, (_, index) => ({ name: `Author ${index}` }));
    await database.write(async ({ kysely }) => {
      for (let index = 0; index < names.length; index += 2_000)
        await kysely
          .insertInto('author')
          .values(names.slice(index, index + 2_000) as never[])
          .execute();
    });
    assert.match((await alice.open('/admin/')).html, /<span title="More than 10,000">10,000\+<\/span>/);
  });

  test('one search finds objects of all models that one may view, by words and by number', async () => {
    const { alice, database, signedIn } = await open();
    await addBooks(
      database,
      Array.from({ length: 7 }, (_, index) => ({ title: `Tide & tables ${index}` })),
    );
    await alice.open('/admin/library/author/add/');
    await alice.send('/admin/library/author/add/', { name: 'Tide, Anna' });
    await alice.send('/admin/library/notice/add/', { subject: 'High tide', body: '' });
    const found = async (client: PageClient, q: string) => {
      const { html, status } = await client.open(`/admin/search/?q=${encodeURIComponent(q)}`);
      assert.equal(status, 200, q);
      const lists = [...html.matchAll(/<ul class="models found">([\s\S]*?)<\/ul>/g)].map(
        ([, list = '']) => list,
      );
      return [...lists.join('').matchAll(/<li><a href="([^"]+)">([^<]*)</g)].map(
        ([, href = '', title = '']) => [href.replace(/^\/admin\/library\/|\/change\/$/g, ''), title],
      );
    };
    const results = await found(alice, 'TIDE');
    assert.equal(results.filter(([href]) => href?.startsWith('book/')).length, 5);
    assert.ok(results.some(([href, title]) => href === 'author/1' && title === 'Tide, Anna'));
    assert.ok(results.some(([href, title]) => href === 'notice/1' && title === 'High tide'));
    const page = await alice.open('/admin/search/?q=tide');
    assert.match(page.html, /<a href="\/admin\/library\/book\/\?q=tide">All matching books<\/a>/);
    assert.match(page.html, /id="site-search" name="q" value="tide"/);
    assert.deepEqual(await found(alice, 'anna tide'), [['author/1', 'Tide, Anna']]);
    assert.deepEqual(await found(alice, '7'), [['book/7', 'Tide &amp; tables 6']]);
    for (const q of ['', ' ', '\0', "' or 1=1 --", '%', '_', '9'.repeat(40), 'x'.repeat(600)])
      assert.deepEqual(await found(alice, q), [], q);
    const bob = await signedIn('bob', ['library/author:view', 'library/book:add']);
    assert.deepEqual(await found(bob, 'tide'), [['author/1', 'Tide, Anna']]);
    assert.equal((await new PageClient((await open()).url).open('/admin/search/?q=tide')).status, 302);
  });

  async function open(): Promise<Library & { alice: PageClient }> {
    const library = await startLibrary(url);
    return { ...library, alice: await library.signedIn('alice') };
  }
}
