import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startTestSystem } from '@octavo/octavo/testing';
import { longestTurnOf, until } from '@octavo/testing';
import { assertError, castOf, type Person } from '../testing.ts';

const run = promisify(execFile);

const system = await startTestSystem({ EVENT_STREAM: 'off' });
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);

function rows(count: number): { title: string; body: string; userId?: number }[] {
  return Array.from({ length: count }, (_, index) => ({ title: `Post ${index}`, body: 'The ferries wait.' }));
}

async function total(): Promise<number> {
  return (await cast.charlie.get('/posts?pageSize=1')).json.pagination.totalItems;
}

describe('a bulk', () => {
  test('of valid rows creates them in order', async () => {
    const before = await total();
    const posts = [...rows(999), { title: 'Last', body: 'b', userId: 9 }];
    const response = await cast.alice.post('/posts/bulk', { posts });
    assert.equal(response.status, 201);
    assert.deepEqual(Object.keys(response.json), ['data']);
    const { postIds, ...rest } = response.json.data;
    assert.deepEqual(rest, { created: 1_000, failed: 0, errors: [] });
    assert.equal(postIds.length, 1_000);
    assert.deepEqual(
      postIds,
      postIds.toSorted((one: number, other: number) => one - other),
    );
    assert.equal(await total(), before + 1_000);
    const [first, last] = await Promise.all(
      [postIds[0], postIds[999]].map((id) => cast.charlie.get(`/posts/${id}`)),
    );
    assert.equal(first?.json.data.title, 'Post 0');
    assert.equal(first?.json.data.userId, 2);
    assert.equal(last?.json.data.title, 'Last');
    assert.equal(last?.json.data.userId, 9);
  });

  test('with invalid rows creates the others and reports each problem', async () => {
    const before = await total();
    const posts = [
      { title: 'Good', body: 'b' },
      { title: 'a'.repeat(501) },
      'text',
      null,
      [],
      {},
      { title: 'x', body: 'b\u0000', userId: '7', extra: 1 },
      { title: ' ', body: '\ud800' },
      { title: 'Also good', body: 'b', id: 5 },
    ];
    const response = await cast.alice.post('/posts/bulk', { posts });
    assert.equal(response.status, 207, response.text);
    const { postIds, ...rest } = response.json.data;
    assert.deepEqual(rest, {
      created: 2,
      failed: 7,
      errors: [
        'posts[1]: title: must be at most 500 characters; body: is required',
        'posts[2]: must be an object',
        'posts[3]: must be an object',
        'posts[4]: must be an object',
        'posts[5]: title: is required; body: is required',
        'posts[6]: userId: must be a whole number; body: must be well-formed Unicode without U+0000',
        'posts[7]: title: must not be blank; body: must be well-formed Unicode without U+0000',
      ],
    });
    assert.equal(await total(), before + 2);
    assert.equal((await cast.charlie.get(`/posts/${postIds[1]}`)).json.data.title, 'Also good');
  });

  test('of invalid rows only creates nothing', async () => {
    const before = await total();
    const response = await cast.alice.post('/posts/bulk', { posts: [{}] });
    assert.equal(response.status, 207);
    assert.deepEqual(response.json, {
      data: {
        created: 0,
        failed: 1,
        errors: ['posts[0]: title: is required; body: is required'],
        postIds: [],
      },
    });
    assert.equal(await total(), before);
  });

  test('that is not a list of 1 to 1,000 posts creates nothing', async () => {
    const before = await total();
    for (const body of [
      {},
      { posts: null },
      { posts: {} },
      { posts: 'x' },
      { posts: [] },
      { posts: rows(1_001) },
    ]) {
      const fields = assertError(await cast.alice.post('/posts/bulk', body), 422, 'VALIDATION_FAILED');
      assert.deepEqual(Object.keys(fields), ['posts']);
    }
    for (const body of ['[]', 'null', '"x"']) {
      assertError(await cast.alice.post('/posts/bulk', body), 422, 'VALIDATION_FAILED');
    }
    for (const body of ['', '{', '{"posts":[}', Buffer.from([0x7b, 0xff, 0x7d])]) {
      assertError(await cast.alice.post('/posts/bulk', body), 400, 'INVALID_INPUT');
    }
    assertError(await cast.alice.call('POST', '/posts/bulk'), 400, 'INVALID_INPUT');
    const plain = { 'content-type': 'text/csv' };
    assertError(await cast.alice.post('/posts/bulk', 'title,body', plain), 415, 'UNSUPPORTED_MEDIA_TYPE');
    assert.equal(await total(), before);
  });
});

describe('an idempotency key', () => {
  const body = { posts: [{ title: 'Once', body: 'b' }, {}] };

  test('gives the same response for the same body', async () => {
    const headers = { 'idempotency-key': 'alice-1' };
    const first = await cast.alice.post('/posts/bulk', body, headers);
    assert.equal(first.status, 207);
    assert.equal(first.headers.get('idempotent-replayed'), null);
    const before = await total();
    const again = await cast.alice.post('/posts/bulk', body, headers);
    assert.equal(again.status, 207);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(again.json, first.json);
    assert.equal(await total(), before);
  });

  test('refuses another body', async () => {
    const headers = { 'idempotency-key': 'alice-2' };
    assert.equal((await cast.alice.post('/posts/bulk', body, headers)).status, 207);
    const other = await cast.alice.post('/posts/bulk', { posts: rows(1) }, headers);
    assertError(other, 409, 'CONFLICT');
  });

  test('belongs to one caller', async () => {
    const headers = { 'idempotency-key': 'shared' };
    const [alice, bob] = [
      await cast.alice.post('/posts/bulk', body, headers),
      await cast.bob.post('/posts/bulk', body, headers),
    ];
    assert.equal(bob.headers.get('idempotent-replayed'), null);
    assert.notDeepEqual(alice.json.data.postIds, bob.json.data.postIds);
  });

  test('also repeats a response without created posts', async () => {
    const headers = { 'idempotency-key': 'alice-3' };
    const first = await cast.alice.post('/posts/bulk', { posts: [{}] }, headers);
    const again = await cast.alice.post('/posts/bulk', { posts: [{}] }, headers);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(again.json, first.json);
  });

  test('creates the posts once if it is sent many times at once', async () => {
    const headers = { 'idempotency-key': 'alice-4' };
    const before = await total();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => cast.alice.post('/posts/bulk', { posts: rows(5) }, headers)),
    );
    assert.equal(await total(), before + 5);
    assert.equal(responses.filter(({ headers }) => headers.has('idempotent-replayed')).length, 7);
    assert.equal(new Set(responses.map(({ text }) => text)).size, 1);
  });

  test('that is invalid is refused', async () => {
    for (const key of ['', 'a b', 'é', 'a'.repeat(256)]) {
      const fields = assertError(
        await cast.alice.post('/posts/bulk', body, { 'idempotency-key': key }),
        400,
        'INVALID_INPUT',
      );
      assert.deepEqual(Object.keys(fields), ['Idempotency-Key']);
    }
  });
});

describe('a large bulk', () => {
  test('of 126 MB is created without slowing other requests down', async () => {
    const sender = join(import.meta.dirname, 'testing-sender.ts');
    const sent = run(process.execPath, [sender, `${system.url}/api/v1/posts/bulk`, cast.alice.token ?? '']);
    let isSent = false;
    sent.finally(() => {
      isSent = true;
    });
    const { longestMs, totalMs } = await longestTurnOf(async () => {
      while (!isSent) {
        assert.equal((await cast.charlie.get('/posts?pageSize=1')).status, 200);
        await delay(5);
      }
    });
    // Where the services are in this process, none of their turns may keep others waiting, however slow the machine is.
    if (process.env.TEST_RPC !== 'remote')
      assert.ok(longestMs < totalMs / 10, `a turn took ${longestMs} of ${totalMs} ms`);
    const [status, text = ''] = (await sent).stdout.split('\n');
    assert.equal(status, '201', text.slice(0, 500));
    const { data } = JSON.parse(text);
    assert.equal(data.created, 1_000);
    const last = await cast.charlie.get(`/posts/${data.postIds[999]}`);
    assert.equal(last.json.data.body, '😀'.repeat(10_000));
  });

  test('is validated like a small one', async () => {
    const filler = { title: 'Fog', body: 'b'.repeat(10_000) };
    const good = Array(200).fill(filler);
    const response = await cast.alice.post('/posts/bulk', { posts: [...good, { title: 7 }] });
    assert.equal(response.status, 207);
    assert.equal(response.json.data.created, 200);
    assert.deepEqual(response.json.data.errors, ['posts[200]: title: must be a string; body: is required']);
    const many = await cast.alice.post('/posts/bulk', { posts: Array(1_001).fill(filler) });
    assert.deepEqual(assertError(many, 422, 'VALIDATION_FAILED'), { posts: 'must have at most 1000 items' });
    assertError(
      await cast.alice.post('/posts/bulk', `{"posts":["${'a'.repeat(2_000_000)}`),
      400,
      'INVALID_INPUT',
    );
    const bytes = Buffer.alloc(2_000_000, 0xff);
    assertError(await cast.alice.post('/posts/bulk', bytes), 400, 'INVALID_INPUT');
  });

  test('over 128 MiB is refused', async () => {
    const size = String(128 * 1024 * 1024 + 1);
    const announced = await cast.alice.raw('POST', '/posts/bulk', [
      ...['Content-Type', 'application/json'],
      ...['Content-Length', size],
    ]);
    assert.equal(announced.status, 413, announced.text);
    const megabyte = Buffer.alloc(1024 * 1024, ' ');
    const response = await fetch(`${system.url}/api/v1/posts/bulk`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cast.alice.token}`, 'content-type': 'application/json' },
      body: ReadableStream.from(Array(129).fill(megabyte)),
      duplex: 'half',
    });
    assert.equal(response.status, 413);
    await response.text();
  });

  test('of millions of tiny values is refused before it is parsed, and the service keeps working', async () => {
    const tiny = (count: number) => Buffer.alloc(count * 3, '{},').subarray(0, -1);
    const bulk = (start: string, values: Buffer, end: string) =>
      Buffer.concat([Buffer.from(start), values, Buffer.from(end)]);
    const refusals: [Buffer, number, string][] = [
      [bulk('{"posts":[', tiny(15_000_000), ']}'), 422, 'VALIDATION_FAILED'],
      [bulk('{"posts":[', tiny(40_000_000), ']}'), 422, 'VALIDATION_FAILED'],
      [bulk('[', tiny(15_000_000), ']'), 422, 'VALIDATION_FAILED'],
      [bulk('{"other":[', tiny(15_000_000), '],"posts":[{}]}'), 413, 'PAYLOAD_TOO_LARGE'],
      [bulk('{"posts":[[', tiny(15_000_000), ']]}'), 413, 'PAYLOAD_TOO_LARGE'],
      [Buffer.alloc(120_000_000, '[{},{}'), 400, 'INVALID_INPUT'],
      [Buffer.from(`{"posts":${'['.repeat(40)}${']'.repeat(40)}}`), 400, 'INVALID_INPUT'],
      [bulk('{"other":[', tiny(200_000), '],"posts":[{}]}'), 413, 'PAYLOAD_TOO_LARGE'],
    ];
    for (const [body, status, code] of refusals) {
      const refused = await cast.alice.post('/posts/bulk', body).catch(async (error: Error) => {
        // A server that closes while a body still comes may lose its response (RFC 9112 section 9.6), as on a busy machine.
        assert.match(
          String(Reflect.get(error.cause ?? error, 'code')),
          /^(EPIPE|ECONNRESET|UND_ERR_SOCKET)$/,
        );
        return cast.alice.post('/posts/bulk', body);
      });
      assertError(refused, status, code);
    }
    assert.equal((await cast.charlie.get('/posts?pageSize=1')).status, 200);
  });

  test('is not held up by slow uploads, whose number is limited for each caller', async () => {
    const slow = await Promise.all(Array.from({ length: 8 }, () => beginUpload(cast.alice)));
    try {
      const body = { posts: Array(200).fill({ title: 'Fog', body: 'b'.repeat(10_000) }) };
      assert.equal((await cast.bob.post('/posts/bulk', body)).status, 201);
      const refused = await cast.alice.post('/posts/bulk', body);
      assertError(refused, 503, 'SERVICE_UNAVAILABLE');
      assert.ok(Number(refused.headers.get('retry-after')) >= 1);
      slow.pop()?.destroy();
      await until(async () => (await cast.alice.post('/posts/bulk', body)).status === 201);
      // The server did not wait for them: they are still open.
      assert.ok(slow.every(({ closed }) => !closed));
    } finally {
      for (const upload of slow) upload.destroy();
    }
  });
});

/** Sends the first 2 MB of a body of 10 MB, and no more. */
async function beginUpload({ url, token }: Person): Promise<ClientRequest> {
  const upload = request(`${url}/api/v1/posts/bulk`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': 10_000_000,
    },
  });
  upload.on('error', () => {});
  const part = `{"posts":[{"title":"Fog","body":"${'b'.repeat(2_000_000)}`;
  await new Promise((resolve) => upload.write(part, resolve));
  return upload;
}
