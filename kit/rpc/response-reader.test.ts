import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type ResponseHead, ResponseReader } from './response-reader.ts';

interface Read {
  heads: ResponseHead[];
  body: string;
  ends: number;
}

/** Reads responses whose bytes come in these pieces; a request is sent before the first and after each end. */
function read(pieces: readonly (string | Buffer)[], isClosed = false): Read {
  const result: Read = { heads: [], body: '', ends: 0 };
  let held: Buffer[] = [];
  const reader = new ResponseReader({
    onHead: (head) => result.heads.push(head),
    onData: (chunk, isLast) => held.push(isLast ? chunk : Buffer.from(chunk)),
    onEnd() {
      result.body += Buffer.concat(held).toString('latin1');
      held = [];
      result.ends += 1;
      reader.expect();
    },
  });
  reader.expect();
  for (const piece of pieces) {
    // The same memory for every piece, as a connection does it.
    shared.write(piece.toString('latin1'), 'latin1');
    reader.push(shared.subarray(0, piece.length));
  }
  if (isClosed) reader.close();
  return result;
}

const shared = Buffer.alloc(64 * 1024);
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

describe('a response is read', () => {
  test('by its length', () => {
    const { heads, body, ends } = read([
      'HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nX-A:  b \r\n\r\nabc',
    ]);
    assert.deepEqual(heads, [
      { status: 404, headers: { 'content-length': '3', 'x-a': 'b' }, keepsAlive: true },
    ]);
    assert.deepEqual([body, ends], ['abc', 1]);
  });

  test('by its chunks, with extensions and trailers', () => {
    const { body, ends } = read([`${chunked}3;a=b\r\nabc\r\n0A\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n`]);
    assert.deepEqual([body, ends], ['abc0123456789', 1]);
  });

  test('until the connection closes, which is then of no further use', () => {
    const { heads, body, ends } = read(['HTTP/1.1 200 OK\r\n\r\nab', 'c'], true);
    assert.deepEqual([heads[0]?.keepsAlive, body, ends], [false, 'abc', 1]);
  });

  test('without a body', () => {
    for (const head of ['204 No Content\r\n', '304 Not Modified\r\n', '200 OK\r\ncontent-length: 0\r\n']) {
      const { body, ends } = read([`HTTP/1.1 ${head}\r\n`]);
      assert.deepEqual([body, ends], ['', 1], head);
    }
  });

  test('after interim ones', () => {
    const { heads, body } = read([
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx',
    ]);
    assert.deepEqual([heads.map(({ status }) => status), body], [[200], 'x']);
  });

  test('with what it says of the connection', () => {
    const keepsAlive = (head: string) => read([`${head}\r\ncontent-length: 0\r\n\r\n`]).heads[0]?.keepsAlive;
    assert.equal(keepsAlive('HTTP/1.1 200 OK\r\nconnection: keep-alive'), true);
    assert.equal(keepsAlive('HTTP/1.1 200 OK\r\nConnection: Close'), false);
    assert.equal(keepsAlive('HTTP/1.1 200 OK\r\nconnection: upgrade\r\nconnection: close'), false);
    assert.equal(keepsAlive('HTTP/1.0 200 OK'), false);
  });
});

test('responses are read alike however their bytes are cut', () => {
  const body = fc.array(fc.string({ minLength: 1, maxLength: 30, unit: 'binary-ascii' }), { maxLength: 5 });
  const response = fc.record({ body, isChunked: fc.boolean() }).map(({ body: parts, isChunked }) => {
    const whole = parts.join('');
    const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
    return isChunked
      ? { whole, bytes: `${chunked}${chunks}0\r\n\r\n` }
      : { whole, bytes: `HTTP/1.1 200 OK\r\ncontent-length: ${whole.length}\r\n\r\n${whole}` };
  });
  fc.assert(
    fc.property(
      fc.array(response, { maxLength: 3 }),
      fc.array(fc.integer({ min: 1, max: 40 })),
      (all, cuts) => {
        const pieces: string[] = [];
        for (const { bytes } of all) {
          let rest = bytes;
          for (const cut of cuts) {
            pieces.push(rest.slice(0, cut));
            rest = rest.slice(cut);
          }
          pieces.push(rest);
        }
        const result = read(pieces.filter((piece) => piece.length > 0));
        assert.equal(result.body, all.map(({ whole }) => whole).join(''));
        assert.equal(result.ends, all.length);
      },
    ),
  );
});

describe('what is not a response is refused', () => {
  const cases: Record<string, string> = {
    'another protocol': 'SSH-2.0-OpenSSH_9.2\r\n\r\n\r\n',
    'HTTP/2': 'HTTP/2 200 OK\r\n\r\n',
    'a status in words': 'HTTP/1.1 fine OK\r\n\r\n',
    'a header without a colon': 'HTTP/1.1 200 OK\r\nnonsense\r\n\r\n',
    'a header without a name': 'HTTP/1.1 200 OK\r\n: x\r\n\r\n',
    'a length in words': 'HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n',
    'two lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    'a negative length': 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n',
    'a length besides chunks': 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n',
    'a coding besides chunks': 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n',
    'a chunk without size': `${chunked}x\r\n`,
    'a chunk longer than it says': `${chunked}1\r\nab\r\n`,
    'bytes after the end': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nabHTTP/1.1 200 OK\r\n\r\n',
    'a head without end': `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(17_000)}`,
  };
  for (const [name, bytes] of Object.entries(cases)) {
    test(name, () => assert.throws(() => read([bytes])));
  }

  test('the end of the connection before the end of the response', () => {
    for (const bytes of [
      '',
      'HTTP/1.1 200',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\na',
      `${chunked}1\r\na\r\n`,
    ]) {
      assert.throws(() => read([bytes], true), /closed before the end/, bytes);
    }
  });
});
