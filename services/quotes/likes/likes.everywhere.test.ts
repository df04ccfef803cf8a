import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startQuotes, type TestQuotes } from '../testing.ts';

let app: TestQuotes;
before(async () => {
  app = await startQuotes();
});
after(() => app[Symbol.asyncDispose]());

test('a reader likes a quote once, and takes it back', async () => {
  const id = await app.add();
  const path = `/api/quotes/${id}/like/`;
  const { alice, bob } = app.tokens;
  const first = await app.call('POST', path, { token: bob });
  assert.deepEqual([first.status, Object.keys(first.json), first.json.quote], [201, ['id', 'quote'], id]);
  const again = await app.call('POST', path, { token: bob });
  assert.deepEqual([again.status, again.json], [200, first.json]);
  const second = await app.call('POST', path, { token: alice });
  assert.deepEqual((await app.call('GET', `/api/quotes/${id}/`)).json.like_set, [
    first.json.id,
    second.json.id,
  ]);
  for (let time = 1; time <= 2; time++) {
    const { status, text } = await app.call('DELETE', path, { token: bob });
    assert.deepEqual([status, text], [204, '']);
  }
  assert.deepEqual((await app.call('GET', `/api/quotes/${id}/`)).json.like_set, [second.json.id]);
});

test('strangers cannot like, and a missing quote takes no likes', async () => {
  const id = await app.add();
  for (const method of ['POST', 'DELETE']) {
    assert.equal((await app.call(method, `/api/quotes/${id}/like/`)).status, 401);
    for (const missing of ['99999', 'abc']) {
      const { status, json } = await app.call(method, `/api/quotes/${missing}/like/`, {
        token: app.tokens.bob,
      });
      assert.deepEqual([status, json], [404, { detail: 'Not found.' }]);
    }
  }
  assert.equal((await app.call('GET', `/api/quotes/${id}/like/`)).status, 405);
});

test('a like is never missing its quote, however often it is taken back at the same time', async () => {
  const id = await app.add();
  const path = `/api/quotes/${id}/like/`;
  for (let round = 0; round < 4; round++) {
    const sent = Array.from({ length: 50 }, async (_, index) => {
      const method = index % 2 === 0 ? 'POST' : 'DELETE';
      return { method, ...(await app.call(method, path, { token: app.tokens.bob })) };
    });
    for (const { method, status, text } of await Promise.all(sent))
      assert.ok((method === 'POST' ? [200, 201] : [204]).includes(status), `${method} ${status} ${text}`);
  }
});

test('many likes at once by one reader are one', async () => {
  const id = await app.add();
  const all = await Promise.all(
    Array.from({ length: 12 }, () =>
      app.call('POST', `/api/quotes/${id}/like/`, { token: app.tokens.charlie }),
    ),
  );
  assert.equal(new Set(all.map(({ json }) => json.id)).size, 1);
  assert.equal(all.filter(({ status }) => status === 201).length, 1);
  assert.equal((await app.call('GET', `/api/quotes/${id}/`)).json.like_set.length, 1);
});
