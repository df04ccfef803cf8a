import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Type } from '@octavo/core';
import type { HttpApp } from '../server.ts';
import { exchange, startTestServer, type TestServer, Wire } from '../testing.ts';
import { bodyChunks, leaveBody, takeForms } from './body.ts';

const Draft = Type.Object({ title: Type.String({ maxLength: 5 }), count: Type.Optional(Type.Integer()) });
const Change = Type.Object({
  title: Type.Optional(Draft.properties.title),
  count: Draft.properties.count,
});
const Form = Type.Object({
  name: Type.String(),
  age: Type.Integer(),
  tags: Type.Optional(Type.Array(Type.String())),
});

function addRoutes(app: HttpApp): void {
  app.post('/notes', { access: 'public', schema: { body: Draft } }, async ({ body }) => ({ got: body }));
  app.put('/notes', { access: 'public', schema: { body: Change } }, async ({ body }) => ({ got: body }));
  app.post('/any', { access: 'public' }, async ({ body }) => ({ got: body ?? null }));
  app.post(
    '/strict',
    { access: 'public', schema: { body: Draft }, config: { invalidBody: 'invalid_input' } },
    async () => ({}),
  );
  app.post('/small', { access: 'public', schema: { body: Draft }, bodyLimit: 20 }, async () => ({
    got: true,
  }));
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    takeForms(scope);
    scope.post('/form', { access: 'public', schema: { body: Form } }, async ({ body }) => ({ got: body }));
  });
  app.post(
    '/large',
    { access: 'public', bodyLimit: 2_000_000, config: { largeBody: { depth: 3, values: 100 } } },
    async ({ body }) => ({ got: String((body as { text?: string }).text).length }),
  );
  app.register(async (scope) => {
    leaveBody(scope);
    scope.post('/pieces', { access: 'public', bodyLimit: 20 }, async (request) => {
      const pieces = await Array.fromAsync(bodyChunks(request));
      return { got: String(Buffer.concat(pieces)) };
    });
  });
}

describe('a request body', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(addRoutes);
  });
  after(() => server[Symbol.asyncDispose]());

  test('reaches the handler as its schema says, without other keys', async () => {
    const answer = await server.send('/notes', {
      body: { title: '🎉🎉🎉🎉🎉', count: 1, id: 9, constructor: 1 },
    });
    assert.deepEqual([answer.status, answer.json], [200, { got: { title: '🎉🎉🎉🎉🎉', count: 1 } }]);
  });

  test('that does not match is 422 with every field, or what the route calls it', async () => {
    const body = { title: 'too long', count: '1' };
    const { status, error } = await server.send('/notes', { body });
    assert.equal(status, 422);
    assert.deepEqual(error, {
      code: 'VALIDATION_FAILED',
      message: 'title must be at most 5 characters; count must be a whole number',
      fields: { title: 'must be at most 5 characters', count: 'must be a whole number' },
    });
    const strict = await server.send('/strict', { body });
    assert.deepEqual([strict.status, strict.error.code], [400, 'INVALID_INPUT']);
    assert.deepEqual(strict.error.fields, error.fields);
  });

  test('of another JSON type is 422 without fields', async () => {
    for (const body of ['null', '[]', '"title"', '7']) {
      const { status, error } = await server.send('/notes', { body });
      assert.deepEqual([status, error.fields], [422, {}], body);
      assert.equal(error.message, 'The request body must be an object.', body);
    }
  });

  test('that is missing is 400 where one is required', async () => {
    for (const method of ['POST', 'PUT']) {
      const { status, error } = await server.send('/notes', { method });
      assert.deepEqual([status, error.code], [400, 'INVALID_INPUT'], method);
      assert.match(error.message, /body is required/);
    }
    const bare = await exchange(
      server.port,
      ...['POST /notes HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Connection: close', ''],
    );
    assert.match(bare, /^HTTP\/1.1 400 .*body is required/s);
    const empty = await exchange(
      server.port,
      ...['POST /notes HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Connection: close'],
      ...['Transfer-Encoding: chunked', '', '0', ''],
    );
    assert.match(empty, /^HTTP\/1.1 400 .*body is required/s);
    assert.equal((await server.send('/any', { method: 'POST' })).status, 200);
    assert.deepEqual((await server.send('/notes', { method: 'PUT', body: {} })).json, { got: {} });
  });

  test('that is not JSON is 400', async () => {
    for (const body of ['{"title":', '{title: 1}', "{'title':'a'}", '{"a":1}{"b":2}', 'NaN', '\u0000']) {
      const answer = await server.send('/notes', { body });
      assert.deepEqual([answer.status, answer.error.code], [400, 'INVALID_INPUT'], body);
    }
  });

  test('that is not UTF-8 is 400', async () => {
    const title = Buffer.from('{"title":"a?"}');
    for (const byte of [0xff, 0xc0, 0xe9]) {
      title[title.indexOf('?')] = byte;
      const { status, error } = await server.send('/notes', { body: title });
      assert.deepEqual([status, error.message], [400, 'The request body is not valid UTF-8.']);
      title[title.indexOf(byte)] = '?'.charCodeAt(0);
    }
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"title":"a"}')]);
    assert.equal((await server.send('/notes', { body: marked })).status, 200);
  });

  test('with keys that poison prototypes is harmless', async () => {
    const body =
      '{"title":"a","__proto__":{"count":7},"constructor":{"prototype":{"x":1}},"\\u005f_proto__":1}';
    assert.deepEqual((await server.send('/notes', { body })).json, { got: { title: 'a' } });
    const unread = await server.send('/any', { body: `{"deep":[${body}],"constructor":1}` });
    assert.deepEqual(unread.json, { got: { deep: [{ title: 'a' }], constructor: 1 } });
    assert.equal(({} as { x?: number }).x, undefined);
  });

  test('of repeated keys keeps the last', async () => {
    const { json } = await server.send('/notes', { body: '{"title":1,"title":"a","title":"b"}' });
    assert.deepEqual(json, { got: { title: 'b' } });
  });

  test('of another media type is 415', async () => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
    ];
    for (const type of [...types, 'application/json; charset=latin1', 'application/jsonp', 'nonsense']) {
      const { status, error } = await server.send('/notes', {
        headers: { 'content-type': type },
        body: '{"title":"a"}',
      });
      assert.deepEqual([status, error.code], [415, 'UNSUPPORTED_MEDIA_TYPE'], type);
    }
    const untyped = await exchange(
      server.port,
      ...['POST /notes HTTP/1.1', 'Host: x', 'Connection: close', 'Content-Length: 13', '', '{"title":"a"}'],
    );
    assert.match(untyped, /^HTTP\/1.1 415 /);
    for (const type of [
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/json;charset="UTF-8"',
    ]) {
      const { status } = await server.send('/notes', {
        headers: { 'content-type': type },
        body: '{"title":"a"}',
      });
      assert.equal(status, 200, type);
    }
  });

  test('that is compressed is 415', async () => {
    const headers = { 'content-encoding': 'gzip' };
    assert.equal((await server.send('/notes', { headers, body: '{"title":"a"}' })).status, 415);
    const plain = { 'content-encoding': 'identity' };
    assert.equal((await server.send('/notes', { headers: plain, body: '{"title":"a"}' })).status, 200);
  });

  test('may be a form only where the route says so', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const sent = await server.send('/form', {
      headers,
      body: 'name=A+B%26&age=7&tags=x&tags=y&__proto__=1&other=1',
    });
    assert.deepEqual(sent.json, { got: { name: 'A B&', age: 7, tags: ['x', 'y'] } });
    const refused = await server.send('/form', { headers, body: 'age=x&age=2' });
    assert.deepEqual(
      [refused.status, refused.error.fields],
      [422, { name: 'is required', age: 'must be given only once' }],
    );
    assert.equal((await server.send('/form', { body: { name: 'a', age: 1 } })).status, 415);
  });

  test('is left to the handler where its scope says so', async () => {
    assert.deepEqual((await server.send('/pieces', { body: '{"title":"a"' })).json, { got: '{"title":"a"' });
    assert.equal((await server.send('/pieces', { body: 'x'.repeat(21) })).status, 413);
    const headers = { 'content-type': 'text/csv' };
    assert.equal((await server.send('/pieces', { headers, body: 'a,b' })).status, 415);
    await using wire = await Wire.open(server.port);
    const coding = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    wire.send('POST /pieces HTTP/1.1', 'Host: x', ...coding, '', '15', 'x'.repeat(21));
    assert.match(await wire.until(/\}$/), /^HTTP\/1.1 413 /);
  });

  test('is 413 before it is sent where its announced length exceeds the limit', async () => {
    assert.equal((await server.send('/small', { body: '{"title":"a"       }' })).status, 200);
    await using wire = await Wire.open(server.port);
    wire.send('POST /small HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 21', '');
    const refused = await wire.until(/\}$/);
    assert.match(refused, /^HTTP\/1.1 413 .*\r\nconnection: close\r\n.*"code":"PAYLOAD_TOO_LARGE"/is);
  });

  test('is 413 while it arrives where it exceeds the limit without an announced length', async () => {
    await using wire = await Wire.open(server.port);
    wire.send(
      'POST /small HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      '',
    );
    wire.send('14', '{"title":"a"       }', '1', ' ');
    assert.match(await wire.until(/\}$/), /^HTTP\/1.1 413 .*\r\nconnection: close\r\n/is);
    await using whole = await Wire.open(server.port);
    whole.send(
      'POST /small HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      '',
    );
    whole.send('14', '{"title":"a"       }', '0', '');
    assert.match(await whole.until(/\}$/), /^HTTP\/1.1 200 /);
  });

  test('may have 256 KiB by default', async () => {
    const body = `{"title":"a"${' '.repeat(256 * 1024 - 13)}}`;
    assert.equal(body.length, 256 * 1024);
    assert.equal((await server.send('/notes', { body })).status, 200);
    assert.equal((await server.send('/notes', { body: `${body} ` })).status, 413);
  });

  test('of 20 MB that is refused still leaves the client its response', async () => {
    await using wire = await Wire.open(server.port);
    const bytes = Buffer.alloc(20 * 1024 * 1024, ' ');
    wire.send(
      'POST /notes HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      `Content-Length: ${bytes.length}`,
      '',
    );
    wire.socket.write(bytes);
    await wire.closed;
    assert.match(wire.received, /^HTTP\/1.1 413 .*"PAYLOAD_TOO_LARGE".*\}$/s);
  });

  test('of more than 1 MiB is bounded before it is parsed', async () => {
    const text = 'a'.repeat(1_900_000);
    const sent = await server.send('/large', { body: { text } });
    assert.deepEqual(sent.json, { got: text.length });
    const refusals: [string, number, string][] = [
      [`[${'1,'.repeat(900_000)}`, 413, 'The request body must have at most 100 values.'],
      ['['.repeat(1_900_000), 400, 'The request body is nested more than 3 deep.'],
      ['"'.repeat(2_000_001), 413, 'The request body is too large.'],
      [`{"text":"${text}`, 400, 'The request body is not valid JSON.'],
    ];
    for (const [body, status, message] of refusals) {
      const response = await server.send('/large', { body });
      assert.deepEqual([response.status, response.error.message], [status, message]);
    }
    const pieces = ReadableStream.from([Buffer.from('[['), Buffer.from('[['), Buffer.alloc(50, '[')]);
    const streamed = await fetch(`${server.url}/large`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: pieces,
      duplex: 'half',
    });
    assert.equal(streamed.status, 400);
    assert.match(await streamed.text(), /nested more than 3 deep/);
  });

  test('of any size is nested at most 100 deep', async () => {
    const nested = (open: string, close: string, depth: number) =>
      `${open.repeat(depth)}1${close.repeat(depth)}`;
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      assert.equal((await server.send('/any', { body: nested(open, close, 100) })).status, 200);
      for (const depth of [101, 20_000]) {
        const { status, error } = await server.send('/any', { body: nested(open, close, depth) });
        assert.deepEqual([status, error.message], [400, 'The request body is nested more than 100 deep.']);
      }
    }
    const texts = { '[[\\"[[': '['.repeat(200), '\\': '{"'.repeat(200) };
    assert.deepEqual((await server.send('/any', { body: texts })).json, { got: texts });
    const flat = Array.from({ length: 200 }, () => [{}]);
    assert.deepEqual((await server.send('/any', { body: flat })).json, { got: flat });
  });

  test('of more than 1 MiB is taken only by routes that say how it is bounded', async () => {
    const unbounded = (app: HttpApp) => {
      app.post('/unbounded', { access: 'public', bodyLimit: 1024 * 1024 + 1 }, async () => ({}));
    };
    await assert.rejects(startTestServer(unbounded), {
      message: 'the route POST /unbounded does not declare how its large body is bounded',
    });
  });

  test('is asked for only when the handler reads it', async () => {
    await using wire = await Wire.open(server.port);
    const head = [
      'Host: x',
      'Content-Type: application/json',
      'Expect: 100-continue',
      'Content-Length: 13',
      '',
    ];
    wire.send('POST /notes HTTP/1.1', ...head);
    await wire.until(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
    wire.socket.write('{"title":"a"}');
    await wire.until(/HTTP\/1.1 200 OK/);
    await using other = await Wire.open(server.port);
    other.send('POST /nowhere HTTP/1.1', ...head);
    await other.closed;
    assert.match(other.received, /^HTTP\/1.1 404 /);
    assert.doesNotMatch(other.received, /100 Continue/);
  });

  test('that breaks off does not harm other requests', async () => {
    const wire = await Wire.open(server.port);
    wire.send(
      'POST /notes HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Content-Length: 100',
      '',
      '{"ti',
    );
    await wire[Symbol.asyncDispose]();
    assert.equal((await server.send('/notes', { body: { title: 'a' } })).status, 200);
  });
});
