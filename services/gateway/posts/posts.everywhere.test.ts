import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { assertError, castOf } from '../testing.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const fog = { title: 'Fog', body: 'The ferries wait.' };
const confirmed = { 'x-mfa-verified': 'true' };

describe('creating a post', () => {
  test('returns it with all its fields', async () => {
    const response = await cast.alice.post('/posts', { userId: 7, ...fog });
    assert.equal(response.status, 201);
    assert.deepEqual(Object.keys(response.json), ['data', 'meta']);
    const { id, createdAt, updatedAt, ...rest } = response.json.data;
    assert.deepEqual(rest, { userId: 7, ...fog });
    assert.ok(Number.isInteger(id) && id > 0);
    assert.match(createdAt, instant);
    assert.equal(updatedAt, createdAt);
    assert.equal(response.headers.get('location'), `/api/v1/posts/${id}`);
    assert.match(response.headers.get('etag') ?? '', /^"[^"]+"$/);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    const read = await cast.charlie.get(`/posts/${id}`);
    assert.deepEqual(read.json, { data: response.json.data });
    assert.equal(read.headers.get('etag'), response.headers.get('etag'));
  });

  test('is for the caller by default', async () => {
    assert.equal((await cast.alice.create()).userId, 2);
    assert.equal((await cast.bob.create()).userId, 1);
    assert.equal(
      (await cast.alice.create({ userId: Number.MAX_SAFE_INTEGER })).userId,
      Number.MAX_SAFE_INTEGER,
    );
  });

  test('stores text unchanged, with lengths in code points', async () => {
    const texts = [
      { title: '😀'.repeat(500), body: '𝕏'.repeat(10_000) },
      { title: 'e\u0301 is not \u00e9', body: '  spaces stay \r\n\t' },
      { title: "Robert'); DROP TABLE posts;--", body: '=1+1 <script>alert(1)</script> % _ * \\' },
      { title: '\u202eright to left\u2028', body: '\ufeffمرحبا \u0001\u007f\uffff' },
    ];
    for (const text of texts) {
      const { id } = await cast.alice.create(text);
      const { title, body } = (await cast.alice.get(`/posts/${id}`)).json.data;
      assert.deepEqual({ title, body }, text);
    }
  });

  test('ignores unknown and read-only fields', async () => {
    const body = `{"title":"x","title":"Fog","body":"b","id":1,"createdAt":"2000-01-01T00:00:00Z","extra":{"a":[]},
      "__proto__":{"userId":9},"constructor":{"prototype":{"userId":9}},"toString":7}`;
    const response = await cast.alice.post('/posts', body);
    assert.equal(response.status, 201, response.text);
    const { id, createdAt, title, userId, ...rest } = response.json.data;
    assert.deepEqual({ title, userId }, { title: 'Fog', userId: 2 });
    assert.deepEqual(Object.keys(rest), ['body', 'updatedAt']);
    assert.notEqual(id, 1);
    assert.notEqual(createdAt.slice(0, 4), '2000');
  });

  test('names every invalid field', async () => {
    const cases: [unknown, Record<string, RegExp>][] = [
      [{}, { title: /required/, body: /required/ }],
      [
        { title: null, body: null },
        { title: /string/, body: /string/ },
      ],
      [
        { title: 7, body: ['b'] },
        { title: /string/, body: /string/ },
      ],
      [
        { title: '', body: '' },
        { title: /at least 1/, body: /at least 1/ },
      ],
      [
        { title: ' \t\u00a0\u2003', body: '\ufeff\u0085\n' },
        { title: /blank/, body: /blank/ },
      ],
      [
        { title: '\u2800 \u3164', body: '\uffa0\u{e0041}' },
        { title: /blank/, body: /blank/ },
      ],
      [
        { title: '\u200b\u200d\u2060\u202e', body: '\u0001\u007f\u00ad \u{e0001}' },
        { title: /blank/, body: /blank/ },
      ],
      [{ ...fog, title: 'a'.repeat(501) }, { title: /at most 500 characters/ }],
      [{ ...fog, title: '😀'.repeat(501) }, { title: /at most 500 characters/ }],
      [{ ...fog, body: 'é'.repeat(10_001) }, { body: /at most 10000 characters/ }],
      [{ ...fog, title: 'a\ud800' }, { title: /well-formed/ }],
      [{ ...fog, body: '\udc00\ud800' }, { body: /well-formed/ }],
      [{ ...fog, body: 'a\u0000b' }, { body: /U\+0000/ }],
      [{ ...fog, userId: '7' }, { userId: /whole number/ }],
      [{ ...fog, userId: null }, { userId: /whole number/ }],
      [{ ...fog, userId: true }, { userId: /whole number/ }],
      [{ ...fog, userId: 1.5 }, { userId: /whole number/ }],
      [{ ...fog, userId: 0 }, { userId: /at least 1/ }],
      [{ ...fog, userId: -1 }, { userId: /at least 1/ }],
      [{ ...fog, userId: 2 ** 53 }, { userId: /at most 9007199254740991/ }],
      [
        { userId: 'x', title: 1 },
        { userId: /number/, title: /string/, body: /required/ },
      ],
    ];
    for (const [body, expected] of cases) {
      const fields = assertError(await cast.alice.post('/posts', body), 422, 'VALIDATION_FAILED');
      assert.deepEqual(Object.keys(fields).sort(), Object.keys(expected).sort(), JSON.stringify(body));
      for (const [name, problem] of Object.entries(expected)) assert.match(fields[name] ?? '', problem);
    }
  });

  test('requires a JSON object', async () => {
    for (const body of ['[]', '"text"', '7', 'null', 'true']) {
      assertError(await cast.alice.post('/posts', body), 422, 'VALIDATION_FAILED');
    }
    const invalidUtf8 = Buffer.concat([
      Buffer.from('{"title":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('","body":"b"}'),
    ]);
    for (const body of ['', ' ', '{', '{"title":"x",}', "{'title':1}", 'title=x', 'NaN', invalidUtf8]) {
      assertError(await cast.alice.post('/posts', body), 400, 'INVALID_INPUT');
    }
    assertError(await cast.alice.call('POST', '/posts'), 400, 'INVALID_INPUT');
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'nonsense']) {
      const response = await cast.alice.post('/posts', JSON.stringify(fog), { 'content-type': type });
      assertError(response, 415, 'UNSUPPORTED_MEDIA_TYPE');
    }
    const withCharset = { 'content-type': 'application/json; charset=UTF-8' };
    assert.equal((await cast.alice.post('/posts', JSON.stringify(fog), withCharset)).status, 201);
  });

  test('has a limit of 256 KiB', async () => {
    const padding = (size: number) => `${JSON.stringify(fog).slice(0, -1)},"x":"${'a'.repeat(size)}"}`;
    assert.equal((await cast.alice.post('/posts', padding(262_000))).status, 201);
    assertError(await cast.alice.post('/posts', padding(262_144)), 413, 'PAYLOAD_TOO_LARGE');
  });

  test('many times at once gives each post its own id', async () => {
    const created = await Promise.all(Array.from({ length: 50 }, () => cast.alice.create()));
    assert.equal(new Set(created.map(({ id }) => id)).size, 50);
  });
});

describe('reading a post', () => {
  test('that does not exist is 404, and an invalid id is 400', async () => {
    for (const id of ['999999', '9007199254740991']) {
      assertError(await cast.alice.get(`/posts/${id}`), 404, 'NOT_FOUND');
    }
    for (const id of [
      '0',
      '-1',
      'abc',
      '1.5',
      '1e3',
      '0x1',
      '9007199254740992',
      '%00',
      '1%27',
      'null',
      '%20',
    ]) {
      assert.deepEqual(
        Object.keys(assertError(await cast.alice.get(`/posts/${id}`), 400, 'INVALID_INPUT')),
        ['id'],
        id,
      );
    }
  });

  test('is 304 if it has not changed', async () => {
    const { id } = await cast.alice.create();
    const etag = (await cast.alice.get(`/posts/${id}`)).headers.get('etag') ?? '';
    for (const known of [etag, `"x", W/${etag}`, '*']) {
      const response = await cast.alice.get(`/posts/${id}`, { 'if-none-match': known });
      assert.equal(response.status, 304);
      assert.equal(response.text, '');
    }
    assert.equal((await cast.alice.get(`/posts/${id}`, { 'if-none-match': '"x"' })).status, 200);
  });

  test('by HEAD gives the same headers and no body', async () => {
    const { id } = await cast.alice.create();
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => cast.alice.call(method, `/posts/${id}`)),
    );
    assert.equal(head?.status, 200);
    assert.equal(head?.text, '');
    for (const name of ['content-type', 'content-length', 'etag']) {
      assert.equal(head?.headers.get(name), get?.headers.get(name), name);
    }
    assert.equal((await cast.stranger.call('HEAD', `/posts/${id}`)).status, 401);
    assert.equal((await cast.alice.call('HEAD', '/posts/999999')).status, 404);
  });

  test('lists the methods for OPTIONS', async () => {
    const response = await cast.stranger.call('OPTIONS', '/posts/1');
    assert.equal(response.status, 204);
    assert.equal(response.headers.get('allow'), 'GET, HEAD, PUT, DELETE, OPTIONS');
    assert.equal(response.headers.get('access-control-allow-origin'), null);
  });
});

describe('changing a post', () => {
  test('changes the given fields', async () => {
    const before = await cast.alice.create();
    const response = await cast.bob.put(`/posts/${before.id}`, { body: 'They left.' });
    assert.equal(response.status, 200);
    const { updatedAt, ...rest } = response.json.data;
    const { updatedAt: _, ...kept } = before;
    assert.deepEqual(Object.keys(response.json), ['data']);
    assert.deepEqual(rest, { ...kept, body: 'They left.' });
    assert.ok(updatedAt >= before.updatedAt);
    assert.deepEqual((await cast.alice.get(`/posts/${before.id}`)).json, response.json);
  });

  test('without fields changes nothing', async () => {
    const before = await cast.alice.create();
    for (const nothing of [{}, { userId: 99 }, { userId: 'x', id: 1, extra: true }]) {
      const response = await cast.alice.put(`/posts/${before.id}`, nothing);
      assert.equal(response.status, 200);
      assert.deepEqual(response.json, { data: before });
    }
    assertError(await cast.alice.call('PUT', `/posts/${before.id}`), 400, 'INVALID_INPUT');
  });

  test('is validated like creating', async () => {
    const { id } = await cast.alice.create();
    for (const change of [{ title: null }, { title: ' ' }, { title: 'a'.repeat(501) }, { title: '\ud800' }]) {
      const fields = assertError(await cast.alice.put(`/posts/${id}`, change), 422, 'VALIDATION_FAILED');
      assert.deepEqual(Object.keys(fields), ['title']);
    }
    assertError(await cast.alice.put('/posts/999999', { title: 'x' }), 404, 'NOT_FOUND');
  });

  test('is refused after a conflicting change', async () => {
    const { id } = await cast.alice.create();
    const path = `/posts/${id}`;
    const first = (await cast.alice.get(path)).headers.get('etag') ?? '';
    const changed = await cast.bob.put(path, { title: 'Bob was here' }, { 'if-match': first });
    assert.equal(changed.status, 200);
    const second = changed.headers.get('etag') ?? '';
    assert.notEqual(second, first);
    for (const stale of [first, '"nonsense"', `W/${second}`, 'nonsense', '""']) {
      assertError(
        await cast.alice.put(path, { title: 'Alice' }, { 'if-match': stale }),
        412,
        'PRECONDITION_FAILED',
      );
    }
    for (const [tag, words] of [
      [`W/${second}`, /^If-Match must be a strong entity tag, such as "3"/],
      ['1', /^If-Match must be an entity tag in quotes, such as "3"/],
    ] as const) {
      const { json } = await cast.alice.put(path, { title: 'Alice' }, { 'if-match': tag });
      assert.match(json.error.message, words);
    }
    for (const current of [second, `"x", ${second}`]) {
      assert.equal((await cast.alice.put(path, {}, { 'if-match': current })).status, 200);
    }
    assert.equal((await cast.alice.put(path, { title: 'Alice' }, { 'if-match': '*' })).status, 200);
    assertError(await cast.alice.put('/posts/999999', {}, { 'if-match': first }), 404, 'NOT_FOUND');
  });

  test('by many at once with the same tag has one winner', async () => {
    const { id } = await cast.alice.create();
    const etag = (await cast.alice.get(`/posts/${id}`)).headers.get('etag') ?? '';
    const change = (count: number) =>
      cast.alice.put(`/posts/${id}`, { title: `${count}` }, { 'if-match': etag });
    const statuses = (await Promise.all(Array.from({ length: 20 }, (_, count) => change(count)))).map(
      ({ status }) => status,
    );
    assert.equal(statuses.filter((status) => status === 200).length, 1);
    assert.equal(statuses.filter((status) => status === 412).length, 19);
  });
});

describe('deleting a post', () => {
  test('is permanent', async () => {
    const { id } = await cast.alice.create();
    const response = await cast.alice.delete(`/posts/${id}`, confirmed);
    assert.equal(response.status, 200);
    const { meta, ...rest } = response.json;
    assert.deepEqual(rest, { data: { id, deleted: true }, message: 'Post deleted successfully' });
    assert.deepEqual(Object.keys(meta), ['requestId', 'timestamp']);
    assertError(await cast.alice.delete(`/posts/${id}`, confirmed), 404, 'NOT_FOUND');
    assertError(await cast.alice.get(`/posts/${id}`), 404, 'NOT_FOUND');
    assert.ok((await cast.alice.create()).id > id);
  });

  test('honors If-Match', async () => {
    const { id } = await cast.alice.create();
    const stale = { ...confirmed, 'if-match': '"nonsense"' };
    assertError(await cast.alice.delete(`/posts/${id}`, stale), 412, 'PRECONDITION_FAILED');
    const etag = (await cast.alice.get(`/posts/${id}`)).headers.get('etag') ?? '';
    assert.equal((await cast.alice.delete(`/posts/${id}`, { ...confirmed, 'if-match': etag })).status, 200);
  });

  test('by many at once happens once', async () => {
    const { id } = await cast.alice.create();
    const responses = await Promise.all(Array.from({ length: 20 }, () => cast.bob.delete(`/posts/${id}`)));
    assert.equal(responses.filter(({ status }) => status === 200).length, 1);
    assert.equal(responses.filter(({ status }) => status === 404).length, 19);
  });
});

describe('an idempotency key of a new post', () => {
  const body = { title: 'Once', body: 'b' };
  const total = async () => (await cast.charlie.get('/posts?pageSize=1')).json.pagination.totalItems;

  test('gives the same response for the same body, also when the post was changed or deleted', async () => {
    const headers = { 'idempotency-key': 'post-1' };
    const first = await cast.alice.post('/posts', body, headers);
    assert.equal(first.status, 201);
    assert.equal(first.headers.get('idempotent-replayed'), null);
    const { id } = first.json.data;
    const before = await total();
    const replay = async () => {
      const again = await cast.alice.post('/posts', body, headers);
      assert.equal(again.status, 201);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
      assert.deepEqual(again.json.data, first.json.data);
      for (const name of ['etag', 'location']) assert.equal(again.headers.get(name), first.headers.get(name));
    };
    await replay();
    await cast.alice.put(`/posts/${id}`, { title: 'Twice' });
    await replay();
    assert.equal(await total(), before);
    await cast.bob.delete(`/posts/${id}`, confirmed);
    await replay();
    assert.equal(await total(), before - 1);
  });

  test('refuses another body, and is one with the keys of bulks', async () => {
    const headers = { 'idempotency-key': 'post-2' };
    assert.equal((await cast.alice.post('/posts', body, headers)).status, 201);
    assertError(await cast.alice.post('/posts', { ...body, userId: 9 }, headers), 409, 'CONFLICT');
    assertError(await cast.alice.post('/posts/bulk', { posts: [body] }, headers), 409, 'CONFLICT');
  });

  test('belongs to one caller, and is checked', async () => {
    const headers = { 'idempotency-key': 'post-3' };
    const [alice, bob] = [
      await cast.alice.post('/posts', body, headers),
      await cast.bob.post('/posts', body, headers),
    ];
    assert.equal(bob.headers.get('idempotent-replayed'), null);
    assert.notEqual(alice.json.data.id, bob.json.data.id);
    const invalid = await cast.alice.post('/posts', body, { 'idempotency-key': 'a b' });
    assert.deepEqual(Object.keys(assertError(invalid, 400, 'INVALID_INPUT')), ['Idempotency-Key']);
  });

  test('creates the post once if it is sent many times at once', async () => {
    const headers = { 'idempotency-key': 'post-4' };
    const before = await total();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => cast.alice.post('/posts', body, headers)),
    );
    assert.equal(await total(), before + 1);
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [201]);
    assert.equal(responses.filter(({ headers }) => headers.has('idempotent-replayed')).length, 7);
  });
});
