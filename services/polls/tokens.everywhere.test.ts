import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { password, startPolls, type TestPolls } from './testing.ts';

let polls: TestPolls;
before(async () => {
  polls = await startPolls();
});
after(() => polls[Symbol.asyncDispose]());

const signIn = (body: unknown) => polls.call('POST', '/api/token/', { body, authorization: undefined });
const read = (token: string) => polls.call('GET', '/api/questions/', { authorization: `Token ${token}` });
const write = (authorization: string | undefined) =>
  polls.call('POST', '/api/questions/', { body: {}, authorization });

describe('POST /api/token/', () => {
  test('gives a new token each time, for JSON and for forms', async () => {
    const { status, json, headers } = await signIn({ username: 'ALICE', password });
    assert.equal(status, 200);
    assert.match(json.token, /^[0-9a-f]{40}$/);
    assert.equal(headers.get('cache-control'), 'no-store');
    const form = await signIn(new URLSearchParams({ username: 'alice', password }));
    assert.notEqual(form.json.token, json.token);
    for (const token of [json.token, form.json.token]) assert.equal((await read(token)).status, 200);
  });

  test('refuses wrong and missing credentials', async () => {
    const wrong = { non_field_errors: ['Unable to log in with provided credentials.'] };
    for (const username of ['bob', 'nobody']) {
      const { status, json } = await signIn({ username, password: `${password} ` });
      assert.deepEqual([status, json], [400, wrong]);
    }
    const required = ['This field is required.'];
    assert.deepEqual((await signIn({})).json, { username: required, password: required });
  });

  test('is locked after five failures, also for the right password', async () => {
    for (let count = 0; count < 5; count++)
      assert.equal((await signIn({ username: 'eve', password: 'x' })).status, 400);
    const { status, json, headers } = await signIn({ username: 'Eve', password });
    assert.equal(status, 429);
    assert.match(json.detail, /^Request was throttled\. Expected available in \d+ seconds\.$/);
    assert.ok(Number(headers.get('retry-after')) > 0);
  });

  test('keeps twenty tokens of a user: the one unused for longest goes', async () => {
    const tokens: string[] = [];
    for (let count = 0; count < 20; count++) {
      polls.clock.advance(61_000);
      tokens.push((await signIn({ username: 'bob', password })).json.token);
    }
    polls.clock.advance(61_000);
    const [oldest = '', second = ''] = tokens;
    assert.equal((await read(oldest)).status, 200);
    polls.clock.advance(61_000);
    await signIn({ username: 'bob', password });
    assert.equal((await read(oldest)).status, 200);
    assert.deepEqual((await read(second)).json, { detail: 'Invalid token.' });
  });
});

describe('the header Authorization', () => {
  test('is required to write', async () => {
    for (const authorization of [undefined, 'Bearer x', 'Basic YTpi']) {
      const { status, json, headers } = await write(authorization);
      assert.deepEqual([status, json], [401, { detail: 'Authentication credentials were not provided.' }]);
      assert.equal(headers.get('www-authenticate'), 'Token');
    }
    assert.equal((await polls.call('GET', '/api/questions/', { authorization: 'Bearer x' })).status, 200);
  });

  test('is refused if it is malformed or unknown, also to read', async () => {
    const cases = {
      Token: 'Invalid token header. No credentials provided.',
      'token a b': 'Invalid token header. Token string should not contain spaces.',
      'Token abc': 'Invalid token.',
    };
    for (const [authorization, detail] of Object.entries(cases)) {
      const responses = [
        await write(authorization),
        await polls.call('GET', '/api/choices/', { authorization }),
      ];
      for (const { status, json } of responses) assert.deepEqual([status, json], [401, { detail }]);
    }
  });

  test('is written as used once a minute, however often it is sent', async () => {
    const { json } = await signIn({ username: 'alice', password });
    await using database = await polls.openDatabase();
    const lastUsed = async () => {
      const tokens = database.kysely.selectFrom('auth_token').select('last_used_at_ms');
      const token = tokens.where('hint', '=', json.token.slice(0, 6));
      return (await token.executeTakeFirstOrThrow()).last_used_at_ms - polls.clock.now();
    };
    assert.equal(await lastUsed(), 0);
    polls.clock.advance(59_999);
    await read(json.token);
    assert.equal(await lastUsed(), -59_999);
    polls.clock.advance(1);
    await read(json.token);
    assert.equal(await lastUsed(), 0);
  });

  test('lets a user without permissions read what is public, but not write', async () => {
    const { id, choices } = await polls.createPoll(['A']);
    const future = await polls.createPoll(['B'], { pub_date: '2027-01-01T00:00:00Z' });
    const { json } = await signIn({ username: 'bob', password });
    const ids = (await read(json.token)).json.map((question: { id: number }) => question.id);
    assert.ok(ids.includes(id) && !ids.includes(future.id));
    const get = async (path: string) => {
      const got = await polls.call('GET', path, { authorization: `Token ${json.token}` });
      return got.status === 200 ? got.json : got.status;
    };
    const shown = { id: choices[0], question: id, choice_text: 'A' };
    assert.deepEqual(await get(`/api/choices/${choices[0]}/`), shown);
    assert.deepEqual(await get(`/api/choices/?question=${id}`), [shown]);
    assert.equal(await get(`/api/questions/${future.id}/`), 404);
    assert.equal(await get(`/api/choices/${future.choices[0]}/`), 404);
    const paths = [
      ...['POST', 'PUT', 'DELETE'].map((method) => [method, '/api/questions/'] as const),
      ...['PUT', 'PATCH', 'DELETE'].map((method) => [method, '/api/choices/1/'] as const),
    ];
    for (const [method, path] of paths) {
      const refused = await polls.call(method, path, { authorization: `Token ${json.token}` });
      const forbidden = { detail: 'You do not have permission to perform this action.' };
      assert.deepEqual([refused.status, refused.json], [403, forbidden], `${method} ${path}`);
    }
  });
});
