import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertGraphqlError, startBudgets } from '../../testing.ts';

const service = await startBudgets();
const limited = await startBudgets({
  environment: { BUDGETS_RATE_LIMIT_PER_MINUTE: '60', BUDGETS_RATE_LIMIT_BURST: '2' },
});
const production = await startBudgets({
  nodeEnv: 'production',
  environment: { JWT_SECRET: 'a secret for tests, 32 characters', BUDGETS_MAIL_FOLDER: service.folder },
});
after(() => Promise.all([service, limited, production].map((each) => each[Symbol.asyncDispose]())));
const alice = await service.person('alice');
const path = '/api/graphql';
const me = { query: '{ me { id } }' };

test('without a valid token: 401', async () => {
  for (const token of ['', 'wrong'])
    for (const method of ['POST', 'GET'] as const) {
      const headers = token ? { authorization: `Bearer ${token}` } : undefined;
      const at = method === 'GET' ? `${path}?query=${encodeURIComponent(me.query)}` : path;
      const response = await service.send(at, { method, headers, ...(method === 'POST' && { body: me }) });
      assertGraphqlError(response, { status: 401, code: 'UNAUTHENTICATED' });
      assert.equal(response.headers.get('www-authenticate'), 'Bearer');
    }
});

test('the media type is the one that the client wants', async () => {
  const types = {
    'application/graphql-response+json': 'application/graphql-response+json',
    'application/graphql-response+json, application/json;q=0.9': 'application/graphql-response+json',
    'application/json, application/graphql-response+json': 'application/json',
    'text/event-stream': 'application/json',
    '*/*': 'application/json',
  };
  for (const [accept, type] of Object.entries(types)) {
    const response = await service.send(path, { body: me, headers: { accept } });
    assertGraphqlError(response, { status: 401, code: 'UNAUTHENTICATED' });
    assert.equal(response.headers.get('content-type'), `${type}; charset=utf-8`);
  }
});

test('malformed, too large, of another type or method', async () => {
  const malformed = await alice.post(path, '{"query":');
  assertGraphqlError(malformed, { status: 400, code: 'VALIDATION_FAILED' });
  const large = await alice.post(path, { query: me.query, variables: { x: 'x'.repeat(1024 * 1024) } });
  assertGraphqlError(large, { status: 413, code: 'QUERY_TOO_COMPLEX' });
  for (const type of ['text/plain', 'application/json; charset=us-ascii', 'application/graphql']) {
    const other = await alice.post(path, JSON.stringify(me), { 'content-type': type });
    assertGraphqlError(other, { status: 415, code: 'VALIDATION_FAILED' });
  }
  const put = await alice.put(path, me);
  assertGraphqlError(put, { status: 405, code: 'VALIDATION_FAILED' });
  assert.match(put.headers.get('allow') ?? '', /GET.*POST/);
});

test('too many requests: 429 with Retry-After', async () => {
  const bob = await limited.person('bob');
  const [, , third] = [await bob.post(path, me), await bob.post(path, me), await bob.post(path, me)];
  assertGraphqlError(third, { status: 429, code: 'FORBIDDEN' });
  assert.equal(third.headers.get('retry-after'), '1');
});

test('production has neither introspection nor GraphiQL', async () => {
  const bob = await production.person('bob');
  const { json } = await bob.post(path, { query: '{ __schema { types { name } } }' });
  assert.equal(json.errors[0].extensions.code, 'VALIDATION_FAILED');
  assert.equal(json.data, undefined);
  const named = await bob.post(path, { query: '{ __type(name: "User") { name } me { __typename } }' });
  assert.equal(named.json.errors[0].extensions.code, 'VALIDATION_FAILED');
  const page = await production.send(path, { headers: { accept: 'text/html' } });
  assertGraphqlError(page, { status: 401, code: 'UNAUTHENTICATED' });
  assert.equal((await production.send(`${path}/graphiql/start.js`)).status, 404);
  const shown = await service.send(path, { headers: { accept: 'text/html' } });
  assert.match(shown.headers.get('content-type') ?? '', /text\/html/);
});
