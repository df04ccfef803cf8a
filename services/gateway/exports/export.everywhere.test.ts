import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { startTestSystem } from '@octavo/octavo/testing';
import { parse } from 'csv-parse/sync';
import type { Post } from '../posts/post.ts';
import { assertError, castOf } from '../testing.ts';

const nasty = [
  '=1+1',
  '"quoted", and comma',
  'two\r\nlines',
  '-5',
  ' spaces ',
  '😀 مرحبا',
  "'; DROP TABLE posts;--",
  '\uFEFFmark',
];

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);

/** The bytes as they are on the wire. */
function fetchRaw(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ response: IncomingMessage; bytes: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ response: IncomingMessage; bytes: Buffer }>();
  const authorization = `Bearer ${cast.charlie.token}`;
  get(`${system.url}/api/v1${path}`, { headers: { authorization, ...headers } }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
    response.on('end', () => resolve({ response, bytes: Buffer.concat(chunks) }));
  }).on('error', reject);
  return promise;
}

describe('an export without posts', () => {
  test('is an empty list or only a header', async () => {
    assert.equal((await cast.charlie.get('/posts/export')).text, '[]');
    const csv = await cast.charlie.get('/posts/export?format=csv');
    assert.equal(csv.text, 'id,userId,title,body,createdAt,updatedAt\r\n');
  });
});

describe('an export', () => {
  let posts: Post[];
  before(async () => {
    posts = [];
    for (const [index, text] of nasty.entries()) {
      posts.push(
        await cast.alice.create({ title: text, body: `${text} body ${index}`, userId: 1 + (index % 2) }),
      );
    }
    await cast.alice.delete(`/posts/${posts.splice(3, 1)[0]?.id}`, { 'x-mfa-verified': 'true' });
  });

  test('as JSON is a list of all posts by id', async () => {
    const response = await cast.charlie.get('/posts/export');
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.match(
      response.headers.get('content-disposition') ?? '',
      /^attachment; filename="posts_export_\d{8}_\d{6}\.json"$/,
    );
    assert.deepEqual(response.json, posts);
    assert.deepEqual((await cast.charlie.get('/posts/export?format=json')).json, posts);
  });

  test('as CSV is a table that RFC 4180 parsers accept', async () => {
    const response = await cast.charlie.get('/posts/export?format=csv&safe=0');
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
    assert.match(response.headers.get('content-disposition') ?? '', /\.csv"$/);
    const read = parse(response.text, { columns: true, record_delimiter: '\r\n' }) as Record<
      string,
      string
    >[];
    const written = posts.map((post) => ({ ...post, id: `${post.id}`, userId: `${post.userId}` }));
    assert.deepEqual(
      read.map((row) => ({ ...row })),
      written,
    );
    const safe = await cast.charlie.get('/posts/export?format=csv');
    assert.match(safe.text, /^\d+,1,'=1\+1,'=1\+1 body 0,/m);
    assert.equal((await cast.charlie.get('/posts/export?format=csv&safe=1')).text, safe.text);
  });

  test('has a byte order mark on request', async () => {
    const { bytes } = await fetchRaw('/posts/export?format=csv&bom=1');
    assert.deepEqual([...bytes.subarray(0, 5)], [0xef, 0xbb, 0xbf, 0x69, 0x64]);
    const plain = await fetchRaw('/posts/export?format=csv&bom=0');
    assert.equal(plain.bytes[0], 0x69);
  });

  test('is filtered like a list', async () => {
    const one = await cast.charlie.get('/posts/export?userId=1');
    assert.deepEqual(
      one.json,
      posts.filter(({ userId }) => userId === 1),
    );
    const found = await cast.charlie.get('/posts/export?search=DROP%20table');
    assert.deepEqual(
      found.json,
      posts.filter(({ title }) => title.includes('DROP')),
    );
    assert.deepEqual((await cast.charlie.get('/posts/export?userId=77')).json, []);
  });

  test('is compressed as the client prefers', async () => {
    const plain = (await fetchRaw('/posts/export')).bytes;
    const gzip = await fetchRaw('/posts/export', { 'accept-encoding': 'gzip' });
    assert.equal(gzip.response.headers['content-encoding'], 'gzip');
    assert.match(gzip.response.headers.vary ?? '', /accept-encoding/i);
    assert.deepEqual(gunzipSync(gzip.bytes), plain);
    const zstd = await fetchRaw('/posts/export', { 'accept-encoding': 'gzip, zstd' });
    assert.equal(zstd.response.headers['content-encoding'], 'zstd');
    assert.deepEqual(zstdDecompressSync(zstd.bytes), plain);
    assert.equal((await fetchRaw('/posts/export')).response.headers['content-encoding'], undefined);
  });

  test('by HEAD has no body', async () => {
    const response = await cast.charlie.call('HEAD', '/posts/export?format=csv');
    assert.equal(response.status, 200);
    assert.equal(response.text, '');
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
  });

  test('names an invalid parameter', async () => {
    const cases: [string, string][] = [
      ['format=xml', 'format'],
      ['format=', 'format'],
      ['format=csv&format=json', 'format'],
      ['bom=yes', 'bom'],
      ['safe=2', 'safe'],
      ['userId=0', 'userId'],
      ['userId=x', 'userId'],
      [`search=${'a'.repeat(257)}`, 'search'],
    ];
    for (const [query, name] of cases) {
      const response = await cast.charlie.get(`/posts/export?${query}`);
      assert.deepEqual(Object.keys(assertError(response, 400, 'INVALID_INPUT')), [name], query);
    }
  });
});

describe('a large export', () => {
  before(async () => {
    const posts = Array(1_000).fill({ title: 'Fog', body: 'b'.repeat(10_000), userId: 5 });
    for (let count = 0; count < 4; count++) await cast.alice.post('/posts/bulk', { posts });
  });

  test('is one complete snapshot', async () => {
    const [{ json }] = await Promise.all([
      cast.charlie.get('/posts/export?userId=5'),
      cast.alice.create({ userId: 5 }),
    ]);
    assert.ok(json.length === 4_000 || json.length === 4_001);
    const ids = json.map(({ id }: Post) => id);
    assert.deepEqual(
      ids,
      ids.toSorted((one: number, other: number) => one - other),
    );
  });

  test('whose client disconnects blocks nothing', async () => {
    for (let count = 0; count < 5; count++) {
      const gone = new AbortController();
      const response = await fetch(`${system.url}/api/v1/posts/export`, {
        headers: { authorization: `Bearer ${cast.charlie.token}` },
        signal: gone.signal,
      });
      await response.body?.getReader().read();
      gone.abort();
    }
    assert.equal((await cast.charlie.get('/posts/export?userId=2')).status, 200);
    await cast.alice.create();
  });
});
