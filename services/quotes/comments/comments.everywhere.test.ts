import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { whenBlocked } from '@octavo/testing/engines';
import { Registry } from 'prom-client';
import { openQuotes } from '../service.ts';
import { startMs, startQuotes, type TestQuotes } from '../testing.ts';

let app: TestQuotes;
let id: number;
let path: string;
before(async () => {
  app = await startQuotes();
  id = await app.add();
  path = `/api/quotes/${id}/comments/`;
});
after(() => app[Symbol.asyncDispose]());

test('readers comment on a quote, and anybody reads that', async () => {
  const { status, json, headers } = await app.call('POST', path, {
    token: app.tokens.bob,
    body: { text: ' Well said. ', user: 'alice', id: 5 },
  });
  const created_at = new Date(startMs).toISOString();
  assert.deepEqual(
    [status, json],
    [201, { id: json.id, quote: id, user: 'bob', text: 'Well said.', created_at }],
  );
  assert.equal(headers.get('location'), `${path}${json.id}/`);
  assert.deepEqual((await app.call('GET', `${path}${json.id}/`)).json, json);
  await app.call('POST', path, { token: app.tokens.alice, body: { text: 'Thank you.' } });
  const list = await app.call('GET', path);
  assert.deepEqual(
    list.json.map(({ text }: { text: string }) => text),
    ['Well said.', 'Thank you.'],
  );
  assert.equal(list.headers.get('x-total-count'), '2');
  assert.equal((await app.call('GET', `${path}?limit=1&offset=1`)).json[0].text, 'Thank you.');
});

test('strangers cannot comment, and a missing quote takes no comments', async () => {
  assert.equal((await app.call('POST', path, { body: { text: 'x' } })).status, 401);
  for (const missing of ['99999', 'abc']) {
    const there = `/api/quotes/${missing}/comments/`;
    assert.equal((await app.call('GET', there)).status, 404);
    const { status, json } = await app.call('POST', there, { token: app.tokens.bob, body: { text: 'x' } });
    assert.deepEqual([status, json], [404, { detail: 'Not found.' }]);
  }
});

test('a quote that is deleted at the same time is not there', {
  skip: process.env.TEST_DATABASE !== 'postgres' && 'writers take turns on SQLite',
}, async () => {
  const token = app.tokens.bob;
  await using database = (await openQuotes(app.environment, { ...app.context, metrics: new Registry() }))
    .database;
  const doomed = `/api/quotes/${await app.add()}/`;
  const posts = [
    ['comments/', { text: 'x' }],
    ['report/', { reason: 'typo' }],
    ['like/', {}],
  ] as const;
  const answers = await database.write(async (session) => {
    await session.kysely
      .deleteFrom('quote')
      .where('id', '=', Number(doomed.split('/')[3]))
      .execute();
    const sent = posts.map(([name, body]) => app.call('POST', `${doomed}${name}`, { token, body }));
    await whenBlocked(session, posts.length);
    return { sent };
  });
  for (const { status, text } of await Promise.all(answers.sent)) assert.equal(status, 404, text);
});

test('a comment has 1 to 2,000 characters', async () => {
  const cases: [body: object, error: string][] = [
    [{}, 'This field is required.'],
    [{ text: '  ' }, 'This field may not be blank.'],
    [{ text: '🙂'.repeat(2_001) }, 'Ensure this field has no more than 2000 characters.'],
    [{ text: 'a\0b' }, 'Null characters are not allowed.'],
  ];
  for (const [body, error] of cases) {
    const { status, json } = await app.call('POST', path, { token: app.tokens.bob, body });
    assert.deepEqual([status, json], [400, { text: [error] }]);
  }
});

test('its author deletes it, and staff; others do not', async () => {
  const add = async () =>
    (await app.call('POST', path, { token: app.tokens.bob, body: { text: 'Delete me.' } })).json.id as number;
  const [own, other] = [await add(), await add()];
  const remove = async (comment: number, token?: string) =>
    (await app.call('DELETE', `${path}${comment}/`, { token })).status;
  assert.equal(await remove(own), 401);
  assert.equal(await remove(own, app.tokens.alice), 403);
  assert.equal(await remove(own, app.tokens.bob), 204);
  assert.equal(await remove(own, app.tokens.bob), 404);
  assert.equal(await remove(other, app.tokens.dora), 204);
  const elsewhere = await app.add();
  const kept = await add();
  const wrong = await app.call('DELETE', `/api/quotes/${elsewhere}/comments/${kept}/`, {
    token: app.tokens.bob,
  });
  assert.equal(wrong.status, 404);
});

test('comments go with their quote', async () => {
  const gone = await app.add();
  const { alice: token } = app.tokens;
  await app.call('POST', `/api/quotes/${gone}/comments/`, { token, body: { text: 'x' } });
  assert.equal((await app.call('DELETE', `/api/quotes/${gone}/`, { token })).status, 204);
  assert.equal((await app.call('GET', `/api/quotes/${gone}/comments/`)).status, 404);
});
