import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { PageClient } from '#kit/testing/page-client.ts';
import { startTestSystem } from '../../testing.ts';
import { castOf, visitorsOf } from '../testing.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const { alice, charlie } = await visitorsOf(system);

describe('import without scripts', () => {
  test('saves the valid rows and lists the invalid ones by number', async () => {
    const content =
      'title,body,userId\r\nOne,"first, ""quoted""",7\r\n,no title,\r\nTwo,second,x\r\nThree,third,\r\n';
    await alice.open('/posts/import');
    const { status, html } = await alice.upload('/posts/import', { name: 'posts.csv', content });
    assert.equal(status, 207);
    assert.match(html, /Part of the file was imported[\s\S]*2 posts saved, 2 rows not saved/);
    assert.match(html, />2<\/td>[\s\S]*title [\s\S]*>3<\/td>[\s\S]*userId must be a whole number/);
    const { data } = (await cast.alice.get('/posts?pageSize=2')).json;
    assert.deepEqual(
      data.map(({ title, body, userId }: Record<string, unknown>) => [title, body, userId]),
      [
        ['Three', 'third', 2],
        ['One', 'first, "quoted"', 7],
      ],
    );
  });

  test('lists rows with more cells than the header, and saves the others', async () => {
    const content = 'title,body\nOne,first\nTwo,second, cut\nThree,third\n';
    await alice.open('/posts/import');
    const { status, html } = await alice.upload('/posts/import', { name: 'posts.csv', content });
    assert.equal(status, 207);
    assert.match(html, /2 posts saved, 1 row not saved/);
    assert.match(html, />2<\/td>[\s\S]*has 3 cells, but the first line of the file names 2 columns/);
  });

  test('takes the columns that are named before the file', async () => {
    const file = { name: 'posts.csv', content: 'Headline;Text;Author\nNamed;first;7\n' };
    await alice.open('/posts/import');
    assert.match((await alice.upload('/posts/import', file)).html, /must name a column title/);
    const fields = { titleColumn: 'headline', bodyColumn: 'Text', userIdColumn: 'Author' };
    const { html } = await alice.upload('/posts/import', file, fields);
    assert.match(html, /1 post saved\./);
    const [post] = (await cast.alice.get('/posts?pageSize=1')).json.data;
    assert.deepEqual([post.title, post.body, post.userId], ['Named', 'first', 7]);
  });

  test('accepts a large JSON file', async () => {
    const posts = Array.from({ length: 2_345 }, (_, index) => ({
      title: `Row ${index}`,
      body: 'x'.repeat(200),
    }));
    await alice.open('/posts/import');
    const { html } = await alice.upload('/posts/import', {
      name: 'posts.json',
      content: JSON.stringify(posts),
    });
    assert.match(html, /2,345 posts saved\./);
  });

  test('says why a file is invalid, and what was saved before', async () => {
    const files: [name: string, content: string | Uint8Array<ArrayBuffer>, message: RegExp][] = [
      ['a.csv', '', /The file is empty/],
      ['a.csv', 'id,name\n1,x\n', /must name a column title/],
      ['a.csv', 'title,body,Title\na,b,c\n', /names the column title twice/],
      ['a.csv', new Uint8Array([0x74, 0xff, 0xfe]), /not UTF-8 text/],
      [
        'a.json',
        '[{"title":"One","body":"x"},{"title":',
        /ended early[\s\S]*ends inside its list of posts[\s\S]*1 post saved/,
      ],
      ['a.json', '[]', /contains no posts/],
      ['a.json', '{"a":1}', /0 posts saved, 1 row not saved/],
    ];
    for (const [name, content, message] of files) {
      await alice.open('/posts/import');
      const { html } = await alice.upload('/posts/import', { name, content });
      assert.match(html, message, `${name} ${content}`);
    }
    assert.match(
      (await alice.upload('/posts/import', { name: '', content: '' })).html,
      /Choose a file first/,
    );
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

describe('rows of an import with scripts', () => {
  const send = (client: PageClient, body: object, token = client.token) =>
    client.open('/posts/import/rows', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { accept: 'application/json', 'content-type': 'application/json', 'x-csrf-token': token },
    });

  test('are saved once, even if they arrive twice', async () => {
    const posts = [{ title: 'Once', body: 'x' }, { title: '' }];
    const batch = { key: `test-${Date.now()}`, first: 11, posts };
    const before = (await cast.alice.get('/posts')).json.pagination.totalItems;
    const [one, two] = [await send(alice, batch), await send(alice, batch)];
    assert.equal(one.html, two.html);
    const saved = JSON.parse(one.html);
    assert.equal(saved.created, 1);
    assert.equal(saved.errors[0].row, 12);
    assert.match(saved.errors[0].message, /title .*; body is required/);
    assert.equal((await cast.alice.get('/posts')).json.pagination.totalItems, before + 1);
  });

  test('need a token, write access and valid fields', async () => {
    const batch = { key: 'k', first: 1, posts: [{ title: 'a', body: 'b' }] };
    assert.equal((await send(alice, batch, 'x')).status, 403);
    assert.equal((await send(charlie, batch)).status, 403);
    assert.equal((await send(new PageClient(system.url), batch)).status, 401);
    for (const bad of [{}, { ...batch, posts: [] }, { ...batch, key: 'a b' }, { ...batch, first: 0 }]) {
      assert.equal((await send(alice, bad)).status, 400);
    }
  });

  test('are bounded before they are parsed, and only read from somebody who may send them', async () => {
    const post = (client: PageClient, body: Buffer) =>
      client.open('/posts/import/rows', {
        method: 'POST',
        body: new Uint8Array(body),
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'x-csrf-token': client.token,
        },
      });
    const rows = (fill: string, count: number) =>
      Buffer.from(`{"key":"k","first":1,"posts":[${fill.repeat(count)}{}]}`);
    const refusals: [Buffer, number, string][] = [
      [rows('{},', 1_000), 422, 'VALIDATION_FAILED'],
      [rows('{},', 1_000_000), 422, 'VALIDATION_FAILED'],
      [Buffer.from(`{"other":[${'1,'.repeat(1_000_000)}1],"posts":[{}]}`), 413, 'PAYLOAD_TOO_LARGE'],
      [Buffer.from(`{"posts":${'['.repeat(20_000)}${']'.repeat(20_000)}}`), 400, 'INVALID_INPUT'],
      [Buffer.alloc(4 * 1024 * 1024 + 1, ' '), 413, 'PAYLOAD_TOO_LARGE'],
    ];
    for (const [body, status, code] of refusals) {
      const response = await post(alice, body);
      assert.equal(response.status, status, response.html);
      assert.equal(JSON.parse(response.html).error.code, code);
    }
    const broken = Buffer.alloc(4_000_000, '{');
    assert.equal((await post(alice, broken)).status, 400);
    assert.equal((await post(charlie, broken)).status, 403);
    assert.equal((await post(new PageClient(system.url), broken)).status, 401);
  });
});
