import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { AppError, type ErrorCode, notFound } from '@octavo/core';
import { defaultErrorTable } from './responses/error-table.ts';
import type { HttpApp } from './server.ts';
import { exchange, startTestServer, type TestServer, Wire } from './testing.ts';

const secret = 'SELECT * FROM accounts -- /srv/data/accounts.sqlite';

function addRoutes(app: HttpApp): void {
  app.get<{ Params: { code: ErrorCode } }>('/codes/:code', { access: 'public' }, async ({ params }) => {
    throw new AppError(params.code, 'In words.', { fields: { name: 'is odd' } });
  });
  app.get('/reason', { access: 'public' }, async () => {
    throw new AppError('unauthenticated', 'Wrong password.', { reason: 'INVALID_CREDENTIALS' });
  });
  app.get('/slow-down', { access: 'public' }, async () => {
    throw new AppError('rate_limited', 'Slow down.', { retryAfterSeconds: 11.2 });
  });
  app.get('/missing', { access: 'public' }, async () => {
    throw notFound('note', 7);
  });
  app.get('/foreign', { access: 'public' }, async () => {
    throw new Error(secret);
  });
  app.get('/odd', { access: 'public' }, async () => {
    throw Object.assign(new Error(secret), { statusCode: 400, code: 'SQLITE_ERROR' });
  });
  app.get('/string', { access: 'public' }, async () => {
    throw secret;
  });
  app.post('/read', { access: 'public' }, async ({ body }) => ({ body }));
  app.get('/unserialisable', { access: 'public' }, async () => ({ value: 1n }));
}

describe('an error', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(addRoutes);
  });
  after(() => server[Symbol.asyncDispose]());

  test('has the status and the code of the table, one shape, and the security headers', async () => {
    for (const [code, row] of Object.entries(defaultErrorTable)) {
      const { status, headers, json } = await server.send(`/codes/${code}`);
      assert.equal(status, row.status);
      const { error, meta } = json as { error: object; meta: { requestId: string; timestamp: string } };
      assert.deepEqual(error, { code: row.code, message: 'In words.', fields: { name: 'is odd' } });
      assert.equal(meta.requestId, headers.get('x-request-id'));
      assert.match(meta.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
      assert.equal(headers.get('www-authenticate'), code === 'unauthenticated' ? 'Bearer' : null);
    }
  });

  test('has its reason as its code', async () => {
    const { status, error, headers } = await server.send('/reason');
    assert.deepEqual([status, error.code], [401, 'INVALID_CREDENTIALS']);
    assert.equal(headers.get('www-authenticate'), 'Bearer');
  });

  test('says when to try again', async () => {
    assert.equal((await server.send('/slow-down')).headers.get('retry-after'), '12');
    assert.equal((await server.send('/codes/unavailable')).headers.get('retry-after'), '1');
    assert.equal((await server.send('/codes/conflict')).headers.get('retry-after'), null);
    assert.equal((await server.send('/missing')).error.message, 'note 7 does not exist');
  });

  test('that is unexpected shows only the id to look for in the log', async () => {
    for (const path of ['/foreign', '/odd', '/string', '/unserialisable']) {
      const { status, text, error, headers } = await server.send(path);
      assert.deepEqual([status, error.code], [500, 'INTERNAL_ERROR'], path);
      assert.doesNotMatch(text, /SELECT|srv|web\/http|BigInt/);
      const line = server.log.find(({ requestId }) => requestId === headers.get('x-request-id'));
      assert.equal(line?.level, 'error');
    }
    assert.match(JSON.stringify(server.log), /SELECT \* FROM accounts/);
  });

  test('can have another shape and table', async () => {
    await using other = await startTestServer(addRoutes, {
      errorBody: ({ code, message }, { id }) => ({ error: { code, message }, id }),
      errorTable: { unauthenticated: { status: 401, code: 'MISSING_TOKEN' } },
      invalidBody: 'invalid_input',
    });
    const { status, json, headers } = await other.send('/codes/unauthenticated');
    const id = headers.get('x-request-id');
    assert.deepEqual([status, json], [401, { error: { code: 'MISSING_TOKEN', message: 'In words.' }, id }]);
    const missing = await other.send('/nowhere');
    assert.deepEqual(Object.keys(missing.json as object), ['error', 'id']);
    assert.match(await exchange(other.port, 'nonsense', ''), /"id":"[-0-9a-f]{36}"\}$/);
  });
});

describe('a malformed request', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(addRoutes);
  });
  after(() => server[Symbol.asyncDispose]());

  test('gets an error in the same shape', async () => {
    const malformed = [
      ['nonsense', ''],
      ['GET / HTTP/1.1', 'Host: x', 'Bad Header: x', ''],
      ['GET / HTTP/1.1', 'Host: x', 'Content-Length: x', ''],
      ['GET /a b HTTP/1.1', 'Host: x', ''],
      ['POST / HTTP/1.1', 'Host: x', 'Content-Length: 3', 'Transfer-Encoding: chunked', '', 'abc'],
      ['GET / HTTP/3.7', 'Host: x', ''],
      ['BREW / HTTP/1.1', 'Host: x', ''],
    ];
    for (const lines of malformed) {
      const answer = await exchange(server.port, ...lines);
      assert.match(answer, /^HTTP\/1.1 400 Bad Request\r\n/, lines.join(' | '));
      assert.match(answer, /"code":"INVALID_INPUT".*"requestId":/);
      assert.match(answer, /\r\nconnection: close\r\n/i);
      assert.match(answer, /\r\nx-content-type-options: nosniff\r\n/i);
    }
  });

  test('is 431 where its headers are too large', async () => {
    const answer = await exchange(
      server.port,
      'GET / HTTP/1.1',
      'Host: x',
      `X-Large: ${'x'.repeat(17_000)}`,
      '',
    );
    assert.match(
      answer,
      /^HTTP\/1.1 431 .*"HEADERS_TOO_LARGE","message":"The request line and headers are too large\."/s,
    );
    const line = await exchange(server.port, `GET /${'x'.repeat(17_000)} HTTP/1.1`, 'Host: x', '');
    assert.match(line, /^HTTP\/1.1 431 /);
    assert.deepEqual(statusesLogged(server, 'The request line and headers are too large.'), [431]);
  });

  test('is 501 in a transfer coding other than chunked, and ends its connection', async () => {
    for (const coding of ['gzip, chunked', 'gzip', 'chunked, chunked', 'identity']) {
      const answer = await exchange(
        server.port,
        ...['POST /read HTTP/1.1', 'Host: x', 'Content-Type: application/json'],
        ...[`Transfer-Encoding: ${coding}`, '', '2', '{}', '0', ''],
      );
      assert.match(answer, /^HTTP\/1.1 501 Not Implemented\r\n.*"NOT_IMPLEMENTED"/s, coding);
      assert.match(answer, /\r\nconnection: close\r\n/i);
    }
  });

  test('is 408 where it does not arrive in time', async () => {
    const arriving = once(server.server.app.server, 'request');
    await using body = await Wire.open(server.port);
    body.send('POST /read HTTP/1.1', 'Host: x', 'Content-Type: application/json');
    body.send('Content-Length: 9', '', '{');
    await arriving;
    await using answered = await Wire.open(server.port);
    answered.send('POST /nowhere HTTP/1.1', 'Host: x', 'Content-Length: 9', '', '{');
    await answered.until(/\}$/);
    server.expireRequests();
    await body.closed;
    assert.match(body.received, /^HTTP\/1.1 408 [^{]*\{[^{]*\{[^{]*\{\}.*\}$/s);
    await answered.closed;
    assert.match(answered.received, /^HTTP\/1.1 404 /);
    assert.doesNotMatch(answered.received, /408/);
    assert.deepEqual(statusesLogged(server, 'The request did not arrive in time.'), [408]);
  });

  test('is 408 by the limits of the server, for its headers and for the whole', async () => {
    await using hasty = await startTestServer(addRoutes, {
      limits: { headersTimeoutMs: 300, requestTimeoutMs: 600 },
    });
    await using head = await Wire.open(hasty.port);
    head.send('GET / HTTP/1.1', 'Host: x');
    await using body = await Wire.open(hasty.port);
    body.send('POST /read HTTP/1.1', 'Host: x', 'Content-Type: application/json');
    body.send('Content-Length: 9', '', '{');
    for (const wire of [head, body]) {
      await wire.closed;
      assert.match(
        wire.received,
        /^HTTP\/1.1 408 Request Timeout\r\n.*"REQUEST_TIMEOUT","message":"The request did not arrive in time\."/s,
      );
    }
  });

  test('does not harm other connections', async () => {
    for (const bytes of [
      Buffer.alloc(2_000, 0xff),
      Buffer.from('\x16\x03\x01\x02\x00\x01'),
      Buffer.from('PRI * HTTP/2.0\r\n\r\n'),
    ]) {
      await using wire = await Wire.open(server.port);
      wire.socket.end(bytes);
      await wire.closed;
    }
    assert.equal((await server.send('/health')).status, 200);
  });
});

/** The statuses of the log lines with a message, each once. */
function statusesLogged({ log }: TestServer, message: string): unknown[] {
  return [...new Set(log.filter(({ msg }) => msg === message).map(({ status }) => status))];
}
