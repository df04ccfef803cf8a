import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageClient } from '../testing/page-client.ts';
import { testDatabaseUrl } from '../testing/postgres.ts';
import { fieldsOf } from './testing/forms.ts';
import { type Library, password, startLibrary } from './testing/start.ts';

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
      ...{
        title: 'Middlemarch',
        genre: 'novel',
        pages: '880',
        published: '1871-12-01T00:00',
        added: '2026-01-01T10:00',
      },
      ...{ 'copy-0-shelf': 'A1', 'copy-0-is_main': 'true', 'copy-1-shelf': 'A2' },
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
      ...{ title: 'Middlemarch II', 'copy-1-DELETE': '1', 'copy-0-shelf': 'B7', _continue: '1' },
    });
    assert.equal(changed.headers.get('location'), '/admin/library/book/1/change/', changed.html);
    const history = await alice.open('/admin/library/book/1/history/');
    assert.match(history.html, /Title: <del>Middlemarch<\/del>[\s\S]*<ins>Middlemarch II<\/ins>/);
    assert.match(history.html, /copy “A1”: Shelf: <del>A1<\/del>[\s\S]*<ins>B7<\/ins>/);
    assert.match(history.html, /copy “A2”: <ins>deleted<\/ins>/);
    const asked = await alice.open('/admin/library/book/1/delete/');
    assert.match(asked.html, /<b>1<\/b> copies/);
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

  async function open(): Promise<Library & { alice: PageClient }> {
    const library = await startLibrary(url);
    return { ...library, alice: await library.signedIn('alice') };
  }
}
