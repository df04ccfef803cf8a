import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { pageRoutes } from './routes.ts';
import { assertError, castOf, signedIn } from './testing.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const { bob } = await castOf(system);

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

test('U+0000 in any parameter of the API is 400, and in the name of an export 404', async () => {
  const { paths } = (await (await fetch(`${system.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  let checked = 0;
  for (const [path, operations] of Object.entries(paths)) {
    if (!path.startsWith('/api/v1/')) continue;
    for (const [method, { parameters = [] }] of Object.entries(operations)) {
      for (const { name } of parameters.filter((each) => ['path', 'query'].includes(each.in))) {
        const filled = path
          .replace('/api/v1', '')
          .replace(`{${name}}`, 'a%00')
          .replace(/\{\w+\}/g, '1');
        const isInPath = path.includes(`{${name}}`);
        const target = isInPath ? filled : `${filled}?${name}=a%00`;
        const body = method === 'put' ? { title: 'Fog' } : undefined;
        const headers = { 'x-mfa-verified': 'true' };
        const response = await bob.call(method.toUpperCase(), target, { body, headers });
        const fields =
          name === 'key'
            ? assertError(response, 404, 'NOT_FOUND')
            : assertError(response, 400, 'INVALID_INPUT');
        assert.deepEqual(Object.keys(fields), name === 'key' ? [] : [name], `${method} ${target}`);
        checked++;
      }
    }
  }
  assert.ok(checked > 10, String(checked));
  assertError(await bob.get('/posts/reanalyze/%00'), 400, 'INVALID_INPUT');
});

test('U+0000 in the path of a page is 400 or 404, and never an error of ours', async () => {
  const browser = await signedIn(system, 'bob');
  for (const route of Object.values(pageRoutes)) {
    if (!route.includes(':')) continue;
    const { status } = await browser.open(route.replace(/:\w+/, 'a%00'));
    assert.ok([400, 404, 405].includes(status), `${route} ${status}`);
  }
});

test('an id with leading zeros is 400', async () => {
  const { id } = await bob.create();
  for (const path of [`/posts/0${id}`, `/posts/00${id}`, `/posts/0${id}/sentiment`]) {
    assert.deepEqual(Object.keys(assertError(await bob.get(path), 400, 'INVALID_INPUT')), ['id']);
  }
  assertError(await bob.put(`/posts/0${id}`, { title: 'x' }), 400, 'INVALID_INPUT');
  assertError(await bob.delete(`/posts/0${id}`, { 'x-mfa-verified': 'true' }), 400, 'INVALID_INPUT');
  assert.equal((await bob.get(`/posts/${id}`)).status, 200);
});
