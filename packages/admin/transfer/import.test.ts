import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { longestTurnOf } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { fieldsOf } from '../testing/forms.ts';
import { addBooks, startLibrary } from '../testing/start.ts';

const postgres = await testDatabaseUrl();
const path = '/admin/library/book/import/';

describe('import on SQLite', () => cases(undefined));
describe('import on PostgreSQL', { skip: postgres.skip }, () => cases(postgres.url));

function cases(url: string | undefined): void {
  test('shows what would be added and changed, then does all of it, once', async () => {
    const { alice, database } = await open();
    await addBooks(database, [{ title: 'A' }, { title: 'B' }]);
    const content =
      'id,title,genre,pages,published,added\n1,A,novel,100,2026-01-01T00:00:00Z,2026-01-01T00:00:00.123456Z\n2,B2,poetry,,2026-01-02T00:00:00Z,2026-01-01T00:00:00.123456Z\n,C,history,30,2026-01-03,2026-01-01T10:00Z\n'.replace(
        '2026-01-03,',
        '2026-01-03T00:00,',
      );
    await alice.open(path);
    const preview = await alice.upload(path, { name: 'books.csv', content });
    assert.equal(preview.status, 200);
    assert.match(
      preview.html,
      /Added<\/dt><dd>1[\s\S]*Changed<\/dt><dd>1[\s\S]*Not changed<\/dt><dd>1[\s\S]*Wrong<\/dt><dd>0/,
    );
    assert.match(
      preview.html,
      /Title: <del>B<\/del>[\s\S]*<ins>B2<\/ins>[\s\S]*Genre: <del>novel<\/del>[\s\S]*Pages: <del>100<\/del>/,
    );
    assert.match(
      preview.html,
      /To be added[\s\S]*>3<\/td>[\s\S]*>C<\/td>[\s\S]*Genre: <ins>history<[\s\S]*Pages: <ins>30<[\s\S]*Published: <ins><time datetime="2026-01-03T00:00:00\.000Z"[\s\S]*To be changed/,
    );
    assert.equal(
      (await database.kysely.selectFrom('book').selectAll().execute()).length,
      2,
      'nothing is saved yet',
    );
    const { upload = '' } = fieldsOf(preview.html);
    const done = await alice.send(`${path}confirm/`, { upload });
    assert.equal(done.headers.get('location'), '/admin/library/book/', done.html);
    const rows = await database.kysely
      .selectFrom('book')
      .select(['title', 'genre', 'pages', 'is_lent'])
      .orderBy('id')
      .execute();
    assert.deepEqual(rows, [
      { title: 'A', genre: 'novel', pages: 100, is_lent: 0 },
      { title: 'B2', genre: 'poetry', pages: null, is_lent: 0 },
      { title: 'C', genre: 'history', pages: 30, is_lent: 0 },
    ]);
    assert.equal((await alice.send(`${path}confirm/`, { upload })).status, 409, 'twice');
    assert.match((await alice.open('/admin/library/book/2/history/')).html, /<ins>B2<\/ins>/);
  });

  test('reads letters that are no UTF-8 and leaves out lines above the table, and says so', async () => {
    const { alice } = await open();
    await alice.open(path);
    const content = Buffer.from(
      'All books\ntitle,genre,published,added\nStra\xdfe der K\xe4fer f\xfcr M\xfcller,novel,2026-01-01T00:00,2026-01-01T00:00\n',
      'latin1',
    );
    const { html } = await alice.upload(path, { name: 'a.csv', content });
    assert.match(html, /The letters of the file are read as windows-1252/);
    assert.match(html, /The first line of the file is left out/);
    assert.match(html, /Straße der Käfer für Müller/);
  });

  test('says of a form that was cut off that it is malformed', async () => {
    const { alice } = await open();
    await alice.open(path);
    const token = `--x\r\nContent-Disposition: form-data; name="_csrf"\r\n\r\n${alice.token}\r\n`;
    const file = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nid,title\n';
    for (const body of ['', token, token + file]) {
      const headers = { 'content-type': `multipart/form-data${body && '; boundary=x'}` };
      const { html, status } = await alice.open(path, { method: 'POST', headers, body });
      assert.equal(status, 400, html);
      assert.match(html, /The form is malformed/);
    }
  });

  test('columns may be called as in the form, and those with a default may be absent', async () => {
    const { alice, database, clock } = await open();
    await addBooks(database, [{ title: 'A' }]);
    const files = [
      ['a.csv', 'ID,TITLE,Pages\n1,B,5\n,C,6\n'],
      ['a.json', '[{"Id": 1, "Title": "B", "PAGES": 5}, {"title": "C", "Pages": 6}]'],
    ] as const;
    for (const [name, content] of files) {
      await alice.open(path);
      const { html } = await alice.upload(path, { name, content });
      assert.match(html, /Added<\/dt><dd>1[\s\S]*Changed<\/dt><dd>1[\s\S]*Wrong<\/dt><dd>0/, html);
      assert.match(html, /Genre: <ins>novel</);
    }
    await alice.open(path);
    const preview = await alice.upload(path, { name: 'a.csv', content: files[0][1] });
    await alice.send(`${path}confirm/`, { upload: fieldsOf(preview.html).upload ?? '' });
    const added = await database.kysely.selectFrom('book').selectAll().where('title', '=', 'C').execute();
    assert.deepEqual([added[0]?.genre, added[0]?.published_at_ms], ['novel', clock.now()]);
    const twice = await alice.upload(path, { name: 'a.csv', content: 'title,Title\nA,B\n' });
    assert.match(twice.html, /the column “Title” twice/);
    assert.match((await alice.open(path)).html, /<code>Title<\/code>/);
  });

  test('an export comes back unchanged, as CSV and as JSON', async () => {
    const { alice, database } = await open();
    await addBooks(database, [
      { title: '=A, "quoted"\nand long', pages: null, is_lent: 1 },
      { title: "'=B" },
    ]);
    for (const format of ['csv', 'json']) {
      const { html: content, hasMark } = await alice.open(`/admin/library/book/export/?format=${format}`);
      assert.equal(hasMark, format === 'csv');
      await alice.open(path);
      const preview = await alice.upload(path, { name: `books.${format}`, content });
      assert.match(preview.html, /Not changed<\/dt><dd>2/, format);
      assert.match(preview.html, /matches the stored data/);
    }
  });

  test('one wrong row, and nothing is imported; every error names its row', async () => {
    const { alice, database } = await open();
    await addBooks(database, [{ title: 'A' }]);
    const head = 'id,title,genre,published,added\n';
    const good = ',Good,novel,2026-01-01T00:00,2026-01-01T00:00\n';
    const wrong: [string, RegExp][] = [
      [
        `${head}${good},,opera,x,2026-01-01T00:00\n`,
        /2<\/td>[\s\S]*Title is required; Genre must be one of[\s\S]*Published must be/,
      ],
      [`${head}${good}99,B,novel,2026-01-01T00:00,2026-01-01T00:00\n`, /there is no book 99; leave id empty/],
      [
        `${head}1,B,novel,2026-01-01T00:00,2026-01-01T00:00\n1,C,novel,2026-01-01T00:00,2026-01-01T00:00\n`,
        /id 1 is in the file twice/,
      ],
      [`${head}${good},Forbidden,novel,2026-01-01T00:00,2026-01-01T00:00\n`, /Title is not allowed here/],
      [`${head}${good}a,b,c,d,e,f\n`, /has 6 cells, but the first line names 5 columns/],
      ['title,color\nA,red\n', /has a column “color”/],
      ['title,title\nA,B\n', /the column “title” twice/],
      ['title\n', /The file has no rows/],
      ['title\n"A\n', /has a quote that is not closed properly/],
      ['', /The file is empty/],
    ];
    for (const [content, message] of wrong) {
      await alice.open(path);
      const { status, html } = await alice.upload(path, { name: 'books.csv', content });
      assert.equal(status, 422, content);
      assert.match(html, message, content);
      assert.equal(fieldsOf(html).upload, undefined);
    }
    for (const content of ['{}', '[1]', '[', '[{"title":"A","genre":{}}]'])
      assert.equal((await alice.upload(path, { name: 'a.json', content })).status, 422, content);
    const binary = new Uint8Array([0x50, 0x4b, 3, 4, 0xff, 0, 0xfe]);
    assert.equal((await alice.upload(path, { name: 'a.csv', content: binary })).status, 422);
    const wide = Array.from({ length: 20_000 }, (_, index) => `{"k${index}":1}`);
    const cells = await alice.upload(path, { name: 'a.json', content: `[${wide}]` });
    assert.match(cells.html, /has a column “k0”/, 'before there is a cell for each column of each row');
    assert.equal((await database.kysely.selectFrom('book').selectAll().execute()).length, 1);
    assert.deepEqual(await database.kysely.selectFrom('admin_log').selectAll().execute(), []);
  });

  test('millions of tiny rows and cells are refused before they hold anybody up', async () => {
    const { alice } = await open();
    const megabytes = (fill: string) => fill.repeat((4 * 1024 * 1024) / fill.length);
    const files: [name: string, content: string, message: RegExp][] = [
      ['a.json', `[${megabytes('{},')}{}]`, /more than 10,000 rows/],
      ['a.json', megabytes('['), /nested more than 32 levels deep/],
      ['a.csv', `title\n${megabytes('a\n')}`, /more than 10,000 rows/],
      ['a.csv', megabytes(','), /has more than 300,000 characters/],
    ];
    for (const [name, content, message] of files) {
      await alice.open(path);
      const { result, longestMs } = await longestTurnOf(() => alice.upload(path, { name, content }));
      const { status, html } = result;
      assert.ok(longestMs < 500, `blocked for ${longestMs} ms by ${content.slice(0, 20)}`);
      assert.equal(status, 422, content.slice(0, 20));
      assert.match(html, message);
    }
  });

  test('constraints of the database refuse the whole file', async () => {
    const { alice, database } = await open();
    const authors = '/admin/library/author/import/';
    await alice.open(authors);
    const taken = await alice.upload(authors, { name: 'a.csv', content: 'name\nEliot\nWoolf\nEliot\n' });
    assert.match(taken.html, /3<\/td>[\s\S]*Name is already taken/);
    await alice.open(authors);
    const preview = await alice.upload(authors, { name: 'a\0.csv', content: 'name\nEliot\n' });
    await database.kysely
      .insertInto('author')
      .values({ name: 'Eliot' } as never)
      .execute();
    const late = await alice.send(`${authors}confirm/`, { upload: fieldsOf(preview.html).upload ?? '' });
    assert.equal(late.status, 409, 'the name was taken after the preview');
    assert.equal((await database.kysely.selectFrom('author').selectAll().execute()).length, 1);
  });

  test('an upload is for its user, its model and an hour', async () => {
    const { alice, clock, signedIn } = await open();
    const bob = await signedIn('bob');
    const content = 'name\nEliot\n';
    const authors = '/admin/library/author/import/';
    const uploaded = async () => {
      await alice.open(authors);
      return fieldsOf((await alice.upload(authors, { name: 'a.csv', content })).html).upload ?? '';
    };
    const upload = await uploaded();
    await bob.open(authors);
    assert.equal((await bob.send(`${authors}confirm/`, { upload })).status, 409);
    assert.equal((await alice.send(`${path}confirm/`, { upload })).status, 409);
    clock.advance(61 * 60_000);
    assert.equal((await alice.send(`${authors}confirm/`, { upload })).status, 409);
    assert.equal((await alice.open('/admin/auth/user/import/')).status, 404, 'accounts are not in files');
    assert.equal((await alice.open('/admin/library/notice/import/')).status, 404);
  });

  async function open() {
    const library = await startLibrary(url);
    return { ...library, alice: await library.signedIn('alice') };
  }
}
