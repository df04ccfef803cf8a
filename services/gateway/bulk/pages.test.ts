import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { PageClient } from '@octavo/testing';
import { castOf, importFile, visitorsOf } from '../testing.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const { alice, bob, charlie } = await visitorsOf(system);

async function latest(count: number) {
  const { data } = (await cast.alice.get(`/posts?pageSize=${count}`)).json;
  return data.map(({ title, body, userId }: Record<string, unknown>) => [title, body, userId]);
}

async function total(): Promise<number> {
  return (await cast.alice.get('/posts?pageSize=1')).json.pagination.totalItems;
}

describe('an import', () => {
  test('shows the file first, saves the valid rows, and gives back the invalid ones', async () => {
    const content =
      'title,body,userId\r\nOne,"first, ""quoted""",7\r\n,no title,\r\nTwo,second,x\r\nThree,=third,\r\n';
    const { path, preview, result } = await importFile(alice, { name: 'posts.csv', content });
    assert.match(preview.html, /Nothing has been saved yet/);
    assert.match(preview.html, /first, (&quot;|&#34;|")quoted/);
    assert.match(preview.html, /2 of 4 rows cannot be saved[\s\S]*title must/);
    assert.match(preview.html, />Import 2 posts</);
    assert.match(result.html, /Part of the file was imported[\s\S]*2 posts saved, 2 rows not saved/);
    assert.match(
      result.html,
      />2<\/td>[\s\S]*title [\s\S]*>3<\/td>[\s\S]*author must be the name or the number of a user/,
    );
    assert.deepEqual(await latest(2), [
      ['Three', '=third', 2],
      ['One', 'first, "quoted"', 7],
    ]);
    const failed = await alice.open(`${path}/failed`);
    assert.match(failed.headers.get('content-disposition') ?? '', /rows-not-saved\.csv/);
    assert.match(
      failed.html,
      /title,body,author,row,problem\r\n,no title,,2,title [^\r]+\r\nTwo,second,x,3,/,
    );
  });

  test('knows authors by name, in any case of letters', async () => {
    const content =
      'Title,Text,Author\nBy name,first,Viewer\nBy number,second,7\nOf nobody,third,Jane Roe\nMine,fourth,\n';
    const { path, preview, result } = await importFile(alice, { name: 'posts.csv', content });
    assert.match(preview.html, /Jane Roe[\s\S]*1 of 4 rows cannot be saved[\s\S]*author must be the name/);
    assert.match(result.html, /3 posts saved, 1 row not saved/);
    assert.match((await alice.open(`${path}/failed`)).html, /\r\nOf nobody,third,Jane Roe,3,author must be/);
    const names = JSON.stringify([{ title: 'In JSON', body: 'x', author: 'viewer' }]);
    await importFile(alice, { name: 'posts.json', content: names });
    const viewer = (await latest(1))[0]?.[2];
    const mine = (await latest(2))[1]?.[2];
    assert.notEqual(viewer, mine);
    assert.deepEqual(await latest(4), [
      ['In JSON', 'x', viewer],
      ['Mine', 'fourth', mine],
      ['By number', 'second', 7],
      ['By name', 'first', viewer],
    ]);
  });

  test('is for its user only, and happens once', async () => {
    const content = 'title,body\nOnly once,x\n';
    const before = await total();
    const { path } = await importFile(alice, { name: 'a.csv', content });
    assert.equal((await alice.send(path, { do: 'import', name: 'a.csv' })).location, path);
    assert.equal(await total(), before + 1);
    await bob.open('/posts/import');
    assert.equal((await bob.open(path)).status, 404);
    assert.equal((await bob.send(path, { do: 'import' })).status, 404);
    assert.equal((await charlie.open(path)).status, 403);
    assert.match((await new PageClient(system.url).open(path)).html, /<h1[^>]*>Sign in/);
    assert.equal((await alice.open('/posts/import/other')).status, 404);
    assert.equal((await alice.open('/posts/import/..%2Fa')).status, 404);
  });

  test('lists malformed rows, and saves the others', async () => {
    const content = 'title,body\nOne,first\nTwo,second, cut\n"Not,closed\nThree,third\n';
    const { result } = await importFile(alice, { name: 'posts.csv', content });
    assert.match(result.html, /2 posts saved, 2 rows not saved/);
    assert.match(result.html, />2<\/td>[\s\S]*has 3 cells, but the first line names 2 columns/);
    assert.match(result.html, />3<\/td>[\s\S]*has a quote that is not closed properly/);
  });

  test('takes the columns that are chosen', async () => {
    const file = { name: 'posts.csv', content: 'Key;Caption;Text;Writer\n1;Named;first;7\n' };
    const { path, preview, result } = await importFile(alice, file);
    assert.match(preview.html, /Choose the column of the title/);
    assert.match(preview.html, /<option value="Text" selected>/, 'the body is guessed');
    assert.match(result.html, /Choose the column of the title[\s\S]*0 posts saved/);
    assert.equal((await alice.open(path)).status, 200);
    const mapping = { title: 'Caption', body: 'Text', userId: 'Writer' };
    await alice.open('/posts/import');
    const { location } = await alice.upload('/posts/import', file);
    const fields = Object.fromEntries(Object.entries(mapping).map(([name, value]) => [`map-${name}`, value]));
    await alice.open(location);
    const again = await alice.send(location.replace(/\?.*/, ''), {
      do: 'preview',
      name: file.name,
      ...fields,
    });
    assert.match((await alice.open(again.location)).html, /Named<div>first<[\s\S]*>7</);
    await importFile(alice, file, mapping);
    assert.deepEqual(await latest(1), [['Named', 'first', 7]]);
  });

  test('can be given up before it begins', async () => {
    await alice.open('/posts/import');
    const { location } = await alice.upload('/posts/import', { name: 'a.csv', content: 'title,body\na,b\n' });
    await alice.open(location);
    const path = location.replace(/\?.*/, '');
    assert.equal((await alice.send(path, { do: 'cancel' })).location, '/posts/import');
    assert.equal((await alice.open(path)).status, 404);
  });

  test('accepts a large JSON file', async () => {
    const posts = Array.from({ length: 2_345 }, (_, index) => ({
      title: `Row ${index}`,
      body: 'x'.repeat(200),
    }));
    const { preview, result } = await importFile(alice, {
      name: 'posts.json',
      content: JSON.stringify(posts),
    });
    assert.match(preview.html, /Import the whole file/);
    assert.match(result.html, /2,345 posts saved\./);
  });

  test('says why a file is invalid, and what was saved before', async () => {
    const files: [name: string, content: string | Uint8Array<ArrayBuffer>, message: RegExp][] = [
      ['a.csv', 'id,name\n1,x\n', /Choose the column of the body/],
      ['a.csv', 'title,body,Title\na,b,c\n', /names the column title twice/],
      [
        'a.csv',
        Buffer.from(`title,body\n${'a,b\n'.repeat(20_000)}\xe4,b\n`, 'latin1'),
        /begins as UTF-8 and goes on as something else/,
      ],
      [
        'a.json',
        '[{"title":"One","body":"x"},{"title":',
        /stopped early[\s\S]*ends inside its JSON list[\s\S]*1 post saved/,
      ],
      ['a.json', '[]', /contains no posts/],
      ['a.json', '{"a":1}', /0 posts saved, 1 row not saved/],
    ];
    for (const [name, content, message] of files) {
      const { result } = await importFile(alice, { name, content });
      assert.match(result.html, message, `${name} ${content}`);
    }
    const empty = await importFile(alice, { name: 'a.csv', content: '' });
    assert.equal(empty.result.status, 422);
    assert.match(empty.result.html, /The file is empty|has no bytes|cannot be empty/);
    const none = await importFile(alice, { name: '', content: '' });
    assert.equal(none.result.status, 422);
    assert.match(none.result.html, /Choose a file first/);
  });

  test('reads the letters of a file, and says which they are', async () => {
    const content = Buffer.from('title,body\nStra\xdfe,Gr\xf6\xdfe f\xfcr M\xfcller und K\xe4se\n', 'latin1');
    const { preview, result } = await importFile(alice, { name: 'a.csv', content });
    assert.match(preview.html, /The letters of the file are read as windows-1252/);
    assert.match(preview.html, /Größe für Müller und Käse/);
    assert.match(result.html, /1 post saved/);
  });

  test('leaves out lines above the names of columns, and says so', async () => {
    const content = 'Export;May\n\nTitle;Text\nAbove;the, table\n';
    const { preview, result } = await importFile(alice, { name: 'a.csv', content });
    assert.match(preview.html, /The first 2 lines of the file are left out/);
    assert.match(preview.html, /the, table/);
    assert.match(result.html, /1 post saved/);
  });

  test('refuses a file without the token of the form', async () => {
    await alice.open('/posts/import');
    const token = alice.token;
    alice.token = 'x';
    const { status } = await alice.upload('/posts/import', { name: 'a.csv', content: 'title,body\na,b\n' });
    alice.token = token;
    assert.equal(status, 403);
    const body = new FormData();
    body.append('file', new Blob(['title,body\na,b\n']), 'a.csv');
    assert.equal((await alice.open('/posts/import', { method: 'POST', body })).status, 403);
  });
});
