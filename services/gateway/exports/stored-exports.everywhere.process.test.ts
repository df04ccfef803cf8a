import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { startTestSystem, type TestSystem } from '@octavo/octavo/testing';
import { until } from '@octavo/testing';
import { startTestS3 } from '@octavo/testing/engines';
import { assertError, castOf } from '../testing.ts';
import {
  abandon,
  addedBy,
  bytesOf,
  type Cast,
  fill,
  listOf,
  metricsOf,
  quiet,
  raw,
  settingsOf,
} from './testing.ts';

const keyPattern = /^exports\/posts_export_(\d{8})_(\d{6})\.(json|csv)$/;

const s3 = await startTestS3();
const systems: Record<string, TestSystem> = {
  'in a folder': await startTestSystem(quiet),
  'in a bucket': await startTestSystem(settingsOf(s3)),
};
after(() => Promise.all(Object.values(systems).map((system) => system[Symbol.asyncDispose]())));

for (const [place, system] of Object.entries(systems)) {
  describe(`exports ${place}`, () => {
    let cast: Cast;
    const list = () => listOf(cast);

    before(async () => {
      cast = await castOf(system);
    });

    test('are an empty list at first', async () => {
      const response = await cast.charlie.get('/exports');
      assert.equal(response.status, 200);
      assert.deepEqual(response.json, { data: [] });
    });

    test('are the bytes of the download, and listed', async () => {
      await cast.alice.create({ title: '=1+1', body: 'é😀' });
      const startedMs = Date.now();
      for (const query of ['', '?format=csv', '?format=csv&safe=0&bom=1']) {
        // Decoded as text it would lose its byte order mark.
        let sent: Buffer = Buffer.alloc(0);
        const added = await addedBy(cast, async () => {
          sent = await bytesOf(cast, `/posts/export${query}`);
        });
        assert.deepEqual(Object.keys(added), ['Key', 'Size', 'LastModified', 'ContentType']);
        const { Key, Size, LastModified, ContentType } = added;
        assert.equal(Size, sent.length);
        assert.match(Key, keyPattern);
        assert.ok(timeOf(Key) >= startedMs - 1_000 && timeOf(Key) <= Date.now() + 1_000, Key);
        assert.match(LastModified, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        const type =
          query === '' ? 'application/json; charset=utf-8' : 'text/csv; charset=utf-8; header=present';
        assert.equal(ContentType, type);
        assert.ok((await bytesOf(cast, `/exports/${Key}`)).equals(sent), query);
      }
    });

    test('are found by key, plain or encoded, or by name', async () => {
      const { Key = '', Size } = (await list()).find(({ Key }) => Key.endsWith('.json')) ?? {};
      const name = Key.slice('exports/'.length);
      for (const path of [Key, encodeURIComponent(Key), name]) {
        const response = await cast.charlie.get(`/exports/${path}`);
        assert.equal(response.status, 200, path);
        assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
        assert.equal(response.headers.get('content-disposition'), `attachment; filename="${name}"`);
        assert.equal(response.headers.get('content-length'), String(Size));
        assert.equal(response.json[0].title, '=1+1');
      }
    });

    test('need access to exports', async () => {
      const [newest] = await list();
      for (const path of ['/exports', `/exports/${newest?.Key}`, '/exports/nonsense']) {
        assertError(await cast.stranger.get(path), 401, 'UNAUTHORIZED');
        for (const method of ['POST', 'PUT', 'DELETE']) {
          assertError(await cast.bob.call(method, path), 405, 'METHOD_NOT_ALLOWED');
        }
      }
    });

    test('are not found if the key is unknown or leads elsewhere', async () => {
      const [newest] = await list();
      const paths = [
        'posts_export_20000101_000000.json',
        'exports/posts_export_20000101_000000.csv',
        'nonsense',
        'exports%2F..%2F..%2Fgateway-jwt-secret',
        '..%2Fgateway-jwt-secret',
        'exports/..%2F..%2Fposts.sqlite',
        '%2Fetc%2Fpasswd',
        `exports/${encodeURIComponent(newest?.Key ?? '')}`,
        `${newest?.Key}%00`,
        `${newest?.Key}/more`,
        encodeURIComponent(`.incoming/${randomBytes(4).toString('hex')}`),
      ];
      for (const path of paths) assertError(await cast.bob.get(`/exports/${path}`), 404, 'NOT_FOUND');
      const plain = await cast.bob.raw('GET', '/exports/exports/../../gateway-jwt-secret', []);
      assert.equal(plain.status, 404);
    });

    test('support ranges and conditional requests', async () => {
      const [newest] = await list();
      const path = `/exports/${newest?.Key}`;
      const whole = await bytesOf(cast, path);
      const end = whole.length - 1;
      const tag = (await cast.charlie.get(path)).headers.get('etag') ?? '';
      assert.match(tag, /^"[^"]+"$/);
      const ranges: [string, number, number][] = [
        ['bytes=0-0', 0, 0],
        ['bytes=5-20', 5, 20],
        ['bytes=7-', 7, end],
        ['bytes=-3', end - 2, end],
        ['bytes=-99999', 0, end],
        [`bytes=2-${end + 100}`, 2, end],
      ];
      for (const [range, first, last] of ranges) {
        const response = await raw(cast, path, { range });
        assert.equal(response.status, 206, range);
        assert.equal(response.headers['content-range'], `bytes ${first}-${last}/${whole.length}`);
        assert.equal(response.headers['content-length'], String(last - first + 1));
        assert.ok(response.bytes.equals(whole.subarray(first, last + 1)), range);
      }
      for (const range of ['bytes=99999-', `bytes=${end + 1}-`, 'bytes=-0']) {
        const response = await cast.charlie.get(path, { range });
        assertError(response, 416, 'RANGE_NOT_SATISFIABLE');
        assert.equal(response.headers.get('content-range'), `bytes */${whole.length}`);
      }
      for (const range of ['bytes=5-2', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=a-b']) {
        assert.equal((await raw(cast, path, { range })).status, 200, range);
      }
      assert.equal((await raw(cast, path, { range: 'bytes=0-1', 'if-range': tag })).status, 206);
      assert.equal((await raw(cast, path, { range: 'bytes=0-1', 'if-range': '"other"' })).status, 200);
      for (const known of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
        const response = await raw(cast, path, { 'if-none-match': known });
        assert.deepEqual([response.status, response.bytes.length, response.headers.etag], [304, 0, tag]);
      }
      assert.equal((await raw(cast, path, { 'if-none-match': '"other"' })).status, 200);
      for (const range of ['', 'bytes=0-1']) {
        const head = await cast.charlie.call('HEAD', path, { headers: { range } });
        assert.deepEqual([head.status, head.text], [200, '']);
        assert.equal(head.headers.get('content-length'), String(whole.length));
      }
    });

    test('take the next free second, in sequence and at once', async () => {
      const before = await list();
      const sent = await Promise.all(
        Array.from({ length: 5 }, async () => (await cast.charlie.get('/posts/export')).text),
      );
      await cast.charlie.get('/posts/export');
      const after = await until(async () => {
        const now = await list();
        return now.length === before.length + 6 && now;
      });
      const keys = after.map(({ Key }) => Key);
      assert.equal(new Set(keys).size, keys.length);
      const fresh = after.filter(({ Key }) => !before.some((old) => old.Key === Key));
      for (const { Key } of fresh) assert.equal((await cast.charlie.get(`/exports/${Key}`)).text, sent[0]);
      const order = after.toSorted((one, other) => other.LastModified.localeCompare(one.LastModified));
      assert.deepEqual(
        after.map(({ LastModified }) => LastModified),
        order.map(({ LastModified }) => LastModified),
      );
    });

    test('leave no copy after HEAD or an error', async () => {
      const before = await list();
      await cast.charlie.call('HEAD', '/posts/export');
      assertError(await cast.charlie.get('/posts/export?format=xml'), 400, 'INVALID_INPUT');
      assert.deepEqual(await list(), before);
    });
  });

  describe(`large exports ${place}`, () => {
    let cast: Cast;
    before(async () => {
      cast = await castOf(system);
      await fill(cast, 3);
    });

    test('are stored completely, in several parts', async () => {
      const sent = await bytesOf(cast, '/posts/export?userId=5');
      assert.ok(sent.length > 24_000_000);
      const stored = await until(async () => (await listOf(cast)).find(({ Size }) => Size === sent.length));
      assert.ok((await bytesOf(cast, `/exports/${stored.Key}`)).equals(sent));
    });

    test('leave nothing if the client disconnects', async () => {
      const before = await metricsOf(system);
      const stored = await listOf(cast);
      for (let count = 0; count < 3; count++) await abandon(cast, '/posts/export');
      await until(async () => (await metricsOf(system)).unwanted === before.unwanted + 3);
      await until(async () => (await metricsOf(system)).pending === 0);
      assert.deepEqual(await listOf(cast), stored);
    });
  });
}

function timeOf(key: string): number {
  const [, date = '', time = ''] = keyPattern.exec(key) ?? [];
  const iso = `${date.replace(/(....)(..)(..)/, '$1-$2-$3')}T${time.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`;
  return Date.parse(iso);
}
