import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AppError, Type } from '@octavo/core';
import { processorMs } from '@octavo/testing';
import type { HttpApp } from '@octavo/web/server';
import { type AppResponse, startTestServer, type TestServer } from '@octavo/web/testing';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { drfErrors } from './errors.ts';
import {
  blankable,
  boolean,
  choice,
  dateTime,
  integer,
  nullable,
  optional,
  primaryKey,
  text,
} from './fields.ts';
import { addPagingHeaders, pagingParameters, readPaging } from './paging.ts';
import { bodyTypes, useDrf } from './scope.ts';
import { parseItems, serializer } from './serializer.ts';

const notes = serializer({
  title: text({ maxLength: 10 }),
  at: dateTime(),
  done: optional(boolean()),
  until: optional(nullable(dateTime())),
  parent: optional(primaryKey(async (id) => id === 7)),
  kind: optional(choice(['plain', 'rich'])),
  note: optional(blankable(text())),
  size: optional(integer({ minimum: 0, maximum: 5 })),
});
const Any = Type.Unknown();

function addRoutes(app: HttpApp): void {
  app.register(async (scope) => {
    const drf = useDrf(scope);
    const shown = { access: 'public', config: { errors: ['not_found'] as const } } as const;
    const body = { body: notes.schema, consumes: bodyTypes, response: { 200: Any } };
    scope.post('/notes/', { ...shown, schema: body }, async (request) =>
      Array.isArray(request.body) ? parseItems(request.body, notes.parse) : notes.parse(request.body),
    );
    scope.get(
      '/notes/',
      { ...shown, schema: { querystring: Type.Object(pagingParameters), response: { 200: Any } } },
      async (request, reply) => {
        const paging = readPaging(request.query);
        addPagingHeaders(request, reply, { paging, total: 25 });
        return paging;
      },
    );
    const one = { params: Type.Object({ id: Type.Integer() }) };
    scope.get('/notes/:id/', { ...shown, schema: one }, async (request) => request.params);
    scope.patch('/notes/:id/', { ...shown, schema: { ...one, body: notes.partialSchema } }, async (request) =>
      notes.parsePartial(request.body),
    );
    scope.get('/broken/', shown, async () => {
      throw new Error('secret');
    });
    scope.get('/busy/', shown, async () => {
      throw new AppError('rate_limited', 'Too many.', { retryAfterSeconds: 11.2 });
    });
    drf.describe('/notes/', { name: 'Note List', description: 'Notes.', access: 'public' });
  });
}

const at = '2026-01-31T12:00:00Z';
const stored = '2026-01-31T12:00:00.000000Z';
let server: TestServer;
before(async () => {
  server = await startTestServer(addRoutes, { ...drfErrors, securitySchemes: {} });
});
after(() => server[Symbol.asyncDispose]());

const post = (body: unknown, headers: Record<string, string> = {}): Promise<AppResponse> =>
  server.send('/notes/', {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

async function errorsOf(body: unknown): Promise<unknown> {
  const { status, json } = await post(body);
  assert.equal(status, 400);
  return json;
}

describe('bodies', () => {
  test('are read with the values of the framework', async () => {
    const { json } = await post({
      title: '\u2003 a\u0085',
      at: '2026-01-31 12:00:00,25+02:00',
      done: 'Yes',
      extra: 1,
    });
    assert.deepEqual(json, { title: 'a', at: '2026-01-31T10:00:00.250000Z', done: true });
    assert.deepEqual((await post({ title: 5, at, until: null, parent: '7', kind: 'rich', size: '3' })).json, {
      title: '5',
      at: stored,
      until: null,
      parent: 7,
      kind: 'rich',
      size: 3,
    });
  });

  test('keep a number as it was written where a text belongs', async () => {
    const written = ['12345678901234567890', '1e400', '-1.50', '1E2', '0.1e-7'];
    for (const note of written) {
      const { json } = await post(`{"title":${note.slice(0, 8)},"at":"${at}","note":${note}}`);
      assert.equal((json as { note: string }).note, note);
    }
    const { json: items } = await post(
      `[{"title":1.0,"at":"${at}"},{"title":"1.0","at":"${at}","size":3.0}]`,
    );
    assert.deepEqual(items, [
      { title: '1.0', at: stored },
      { title: '1.0', at: stored, size: 3 },
    ]);
    assert.deepEqual(
      (await post(`{"title":"a","at":"${at}","size":1e400,"parent":12345678901234567890}`)).json,
      {
        size: ['A valid integer is required.'],
        parent: ['Invalid pk "12345678901234567890" - object does not exist.'],
      },
    );
  });

  test('cost time in proportion to their length', async () => {
    const ms = await processorMs(async () =>
      assert.equal((await post({ title: `a${' '.repeat(100_000)}b`, at })).status, 400),
    );
    assert.ok(ms < 2_000, `${ms} ms`);
  });

  test('of any nesting are refused where a text belongs', async () => {
    const nestedBy = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    for (const [given, name] of [
      ['{"toString":1}', 'dict'],
      ['["plain"]', 'list'],
      [nestedBy(90), 'list'],
    ]) {
      const { status, json } = await post(`{"title":"a","at":"${at}","kind":${given}}`);
      assert.deepEqual([status, json], [400, { kind: [`"${name}" is not a valid choice.`] }]);
    }
    const { status, json } = await post(`{"title":"a","at":"${at}","kind":${nestedBy(50_000)}}`);
    const detail = 'JSON parse error - The request body is nested more than 100 deep.';
    assert.deepEqual([status, json], [400, { detail }]);
  });

  test('name every missing, null and blank field at once', async () => {
    const missing = ['This field is required.'];
    assert.deepEqual(await errorsOf({}), { title: missing, at: missing });
    assert.deepEqual(await errorsOf({ title: null, at: null, done: null }), {
      title: ['This field may not be null.'],
      at: ['This field may not be null.'],
      done: ['This field may not be null.'],
    });
    for (const title of [' \n', '\u3164', '\u2800 \u200b'])
      assert.deepEqual(await errorsOf({ title, at }), { title: ['This field may not be blank.'] });
  });

  test('are refused in the sentences of the framework', async () => {
    const cases: [given: object, errors: object][] = [
      [{ title: true }, { title: ['Not a valid string.'] }],
      [{ title: ['a'] }, { title: ['Not a valid string.'] }],
      [{ title: '🙂'.repeat(11) }, { title: ['Ensure this field has no more than 10 characters.'] }],
      [{ title: 'a\u0000b' }, { title: ['Null characters are not allowed.'] }],
      [{ title: 'a\ud800b' }, { title: ['Surrogate characters are not allowed: U+D800.'] }],
      [{ done: 'maybe' }, { done: ['Must be a valid boolean.'] }],
      [{ done: {} }, { done: ['Must be a valid boolean.'] }],
      [{ parent: 8 }, { parent: ['Invalid pk "8" - object does not exist.'] }],
      [
        { parent: '99999999999999999999' },
        { parent: ['Invalid pk "99999999999999999999" - object does not exist.'] },
      ],
      [{ parent: 'x' }, { parent: ['Incorrect type. Expected pk value, received str.'] }],
      [{ parent: [7] }, { parent: ['Incorrect type. Expected pk value, received list.'] }],
      [{ parent: true }, { parent: ['Incorrect type. Expected pk value, received bool.'] }],
      [{ kind: 'other' }, { kind: ['"other" is not a valid choice.'] }],
      [{ size: 'x' }, { size: ['A valid integer is required.'] }],
      [{ size: -1 }, { size: ['Ensure this value is greater than or equal to 0.'] }],
      [{ size: 6 }, { size: ['Ensure this value is less than or equal to 5.'] }],
    ];
    for (const [given, errors] of cases)
      assert.deepEqual(await errorsOf({ title: 'a', at, ...given }), errors);
    assert.equal((await post({ title: '🙂'.repeat(10), at })).status, 200);
  });

  test('take date-times in the years 1 to 9999', async () => {
    const [{ at: wrong }, { at: range }] = [
      (await errorsOf({ title: 'a', at: 'soon' })) as { at: string[] },
      (await errorsOf({ title: 'a', at: '9999-12-31T23:59:59-01:00' })) as { at: string[] },
    ];
    assert.deepEqual(wrong, [
      'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
    ]);
    assert.deepEqual(range, ['Datetime value out of range.']);
    const malformed = [
      '2026-01-31',
      '0000-01-01T00:00',
      '10000-01-01T00:00',
      '2026-02-30T00:00',
      '2026-01-01T24:00',
      5,
      true,
    ];
    for (const given of [...malformed, '2026-01-01T00:00+24:00', '2026-01-01T00:60']) {
      assert.deepEqual(await errorsOf({ title: 'a', at: given }), { at: wrong }, String(given));
    }
    const good = {
      '0001-01-01T00:00': '0001-01-01T00:00:00.000000Z',
      '2026-1-2T3:4:5.1234567-0130': '2026-01-02T04:34:05.123456Z',
    };
    for (const [given, read] of Object.entries(good)) {
      assert.deepEqual((await post({ title: 'a', at: given })).json, { title: 'a', at: read });
    }
  });

  test('must be an object, and may be empty', async () => {
    assert.deepEqual(await errorsOf('null'), { non_field_errors: ['No data provided'] });
    for (const [given, type] of Object.entries({ '"a"': 'str', '1.5': 'float', true: 'bool' })) {
      const sentence = `Invalid data. Expected a dictionary, but got ${type}.`;
      assert.deepEqual(await errorsOf(given), { non_field_errors: [sentence] });
    }
    const response = await fetch(`${server.url}/notes/`, { method: 'POST' });
    assert.deepEqual(Object.keys((await response.json()) as object), ['title', 'at']);
    assert.deepEqual(Object.keys((await errorsOf('')) as object), ['title', 'at']);
  });

  test('of lists name the index of what is wrong', async () => {
    const item = { title: 'a', at };
    assert.deepEqual(await errorsOf([item, 5, { ...item, title: '' }]), {
      1: { non_field_errors: ['Invalid data. Expected a dictionary, but got int.'] },
      2: { title: ['This field may not be blank.'] },
    });
    assert.deepEqual((await post([item])).json, [{ title: 'a', at: stored }]);
  });

  test('may be forms', async () => {
    const fields = new URLSearchParams({ title: 'a b', at, until: '', kind: '' });
    fields.append('title', 'last');
    const form = await fetch(`${server.url}/notes/`, { method: 'POST', body: fields });
    assert.deepEqual(await form.json(), { title: 'last', at: stored, done: false, until: null });
    const blank = await fetch(`${server.url}/notes/`, {
      method: 'POST',
      body: new URLSearchParams({ title: 'a', at, note: '' }),
    });
    assert.equal(((await blank.json()) as { note?: string }).note, '');
    const parts = new FormData();
    parts.append('title', 'a');
    parts.append('at', new Blob(['x']), 'x.txt');
    const multipart = await fetch(`${server.url}/notes/`, { method: 'POST', body: parts });
    assert.deepEqual([multipart.status, await multipart.json()], [400, { at: ['This field is required.'] }]);
    const broken = await post('--x', { 'content-type': 'multipart/form-data; boundary=y' });
    assert.equal(broken.status, 400);
  });

  test('that are malformed or of another type are refused', async () => {
    const { detail } = (await errorsOf('{"a"')) as { detail: string };
    assert.match(detail, /^JSON parse error - ./);
    const { status, json } = await post('a', { 'content-type': 'text/plain' });
    assert.deepEqual([status, json], [415, { detail: 'Unsupported media type "text/plain" in request.' }]);
  });

  test('of PATCH may leave out any field', async () => {
    const patched = await server.send('/notes/7/', { method: 'PATCH', body: { done: false } });
    assert.deepEqual(patched.json, { done: false });
  });
});

describe('addresses', () => {
  test('without the slash redirect reads and serve writes', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await server.send('/notes?limit=1&b=?', { method });
      assert.deepEqual([status, headers.get('location')], [301, '/notes/?limit=1&b=?']);
    }
    assert.equal((await server.send('/notes/7')).headers.get('location'), '/notes/7/');
    assert.equal((await server.send('/notes', { body: { title: 'a', at } })).status, 200);
    assert.equal((await server.send('/nothing')).status, 404);
  });

  test('with ids that no row can have are 404', async () => {
    for (const id of ['abc', '1.5', '9223372036854775808', '99999999999999999999', '%00', '']) {
      const { status, json } = await server.send(`/notes/${id}/`);
      assert.deepEqual([status, json], [404, { detail: 'Not found.' }], id);
    }
    assert.deepEqual((await server.send('/notes/12/')).json, { id: 12 });
  });

  test('refuse other methods, and describe themselves', async () => {
    for (const path of ['/notes/', '/notes']) {
      const { status, headers, json } = await server.send(path, { method: 'DELETE' });
      assert.deepEqual([status, json], [405, { detail: 'Method "DELETE" not allowed.' }]);
      assert.equal(headers.get('allow'), 'GET, HEAD, POST, OPTIONS');
    }
    const { status, headers, json } = await server.send('/notes/', { method: 'OPTIONS' });
    assert.equal(status, 200);
    assert.deepEqual((headers.get('allow') ?? '').split(', ').sort(), ['GET', 'HEAD', 'OPTIONS', 'POST']);
    assert.deepEqual(json, {
      name: 'Note List',
      description: 'Notes.',
      renders: ['application/json'],
      parses: bodyTypes,
    });
  });
});

describe('lists', () => {
  test('page by limit and offset', async () => {
    const cases: [query: string, paging: object, link: string | null][] = [
      ['', { limit: 1_000, offset: 0 }, null],
      ['?limit=10', { limit: 10, offset: 0 }, '</notes/?limit=10&offset=10>; rel="next"'],
      [
        '?limit=10&offset=12',
        { limit: 10, offset: 12 },
        '</notes/?limit=10&offset=22>; rel="next", </notes/?limit=10&offset=2>; rel="prev"',
      ],
      ['?limit=0&offset=-1', { limit: 1_000, offset: 0 }, null],
      ['?limit=abc&offset=%FF', { limit: 1_000, offset: 0 }, null],
      ['?limit=5000', { limit: 1_000, offset: 0 }, null],
    ];
    for (const [query, paging, link] of cases) {
      const { json, headers } = await server.send(`/notes/${query}`);
      assert.deepEqual(
        [json, headers.get('link'), headers.get('x-total-count')],
        [paging, link, '25'],
        query,
      );
    }
  });
});

describe('errors', () => {
  test('of ours say nothing but that, with the id of the request', async () => {
    const { status, json, headers } = await server.send('/broken/', { headers: { 'x-request-id': 'r-1' } });
    assert.deepEqual([status, json], [500, { detail: 'A server error occurred.' }]);
    assert.equal(headers.get('x-request-id'), 'r-1');
  });

  test('about too many requests say when to come back', async () => {
    const { status, json, headers } = await server.send('/busy/');
    assert.equal(status, 429);
    assert.deepEqual(json, { detail: 'Request was throttled. Expected available in 12 seconds.' });
    assert.equal(headers.get('retry-after'), '12');
  });

  test('and forms are in an OpenAPI document without findings', async () => {
    const { text: source, json } = await server.send('/openapi.json');
    const config = await createConfig({
      extends: ['recommended'],
      rules: { 'no-path-trailing-slash': 'off' },
    });
    const problems = await lintFromString({ source, config });
    assert.deepEqual(
      problems.map(({ ruleId, message }) => [ruleId, message]),
      [],
    );
    const { paths } = json as { paths: Record<string, Record<string, { requestBody: { content: object } }>> };
    assert.deepEqual(
      Object.keys(paths).filter((path) => !/health|readiness|metrics/.test(path)),
      [...['/notes/', '/notes/{id}/', '/broken/', '/busy/']],
    );
    assert.deepEqual(Object.keys(paths['/notes/']?.post?.requestBody.content ?? {}), bodyTypes);
  });
});
