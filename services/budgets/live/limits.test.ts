import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { createLog } from '@octavo/core/log';
import { type Person, startBudgets } from '../testing.ts';
import { SocketClient } from '../testing-sockets.ts';

const logged: unknown[] = [];
const destination = { write: (line: string) => void logged.push(line) };
const log = createLog({ service: 'budgets', level: 'error', destination });
const service = await startBudgets({ log });
after(() => service[Symbol.asyncDispose]());
const signedIn = ({ token }: Person) =>
  new SocketClient(`${service.url}/ws`, { headers: { authorization: `Bearer ${token}` } });

describe('what ends a connection', { concurrency: true }, () => {
  test('4408 without a sign-in within ten seconds', async () => {
    const client = new SocketClient(`${service.url}/ws`);
    await client.opened();
    client.send({ type: 'ping' });
    assert.equal(await client.closed, 4408);
  });

  test('1009 for a frame over 64 KiB, while one of 64 KiB is read', async () => {
    const client = signedIn(await service.person('alice'));
    await client.next();
    const frame = (length: number) => {
      const text = JSON.stringify({ type: 'ping', t: '' });
      return text.replace('""', `"${'x'.repeat(length - text.length)}"`);
    };
    client.send(frame(64 * 1_024));
    assert.equal((await client.next()).type, 'pong');
    client.send(frame(64 * 1_024 + 1));
    assert.equal(await client.closed, 1009);
  });

  test('4429 for more than 200 messages in ten seconds', async () => {
    const client = signedIn(await service.person('alice'));
    await client.next();
    for (let message = 0; message < 201; message++) client.send({ type: 'ping' });
    assert.equal(await client.closed, 4429);
  });

  test('4401 for whatever is sent as a token and is none, also after a sign-in', async () => {
    for (const given of [{ token: '' }, {}, { token: null }, { token: 7 }, { token: 'x'.repeat(10_000) }]) {
      const client = new SocketClient(`${service.url}/ws`);
      await client.opened();
      client.send({ type: 'auth', ...given });
      assert.equal(await client.closed, 4401, JSON.stringify(given).slice(0, 40));
    }
    const client = signedIn(await service.person('alice'));
    await client.next();
    client.send({ type: 'auth', token: 'wrong' });
    assert.equal(await client.closed, 4401);
  });

  test('a malformed frame ends the connection, and logs no error', async () => {
    for (const path of ['/ws', '/api/graphql']) {
      const protocols = path === '/ws' ? [] : ['graphql-transport-ws'];
      const client = new SocketClient(service.url + path, { protocols });
      await client.opened();
      const { _socket: socket } = client.socket as unknown as { _socket: Socket };
      // A final text frame with a reserved bit.
      socket.write(Buffer.from([0xf1, 0x80, 0, 0, 0, 0]));
      await client.closed;
    }
    assert.deepEqual(logged, []);
  });

  test('a message that is none is answered by an error, and the connection goes on', async () => {
    const client = signedIn(await service.person('alice'));
    await client.next();
    const cases: [object | string, string][] = [
      ['no JSON', 'INVALID_INPUT'],
      ['null', 'INVALID_INPUT'],
      ['[]', 'INVALID_INPUT'],
      [{ type: '__proto__' }, 'INVALID_INPUT'],
      [{ type: 'ack' }, 'VALIDATION_FAILED'],
      [{ type: 'ack', seq: 1.5 }, 'VALIDATION_FAILED'],
      [{ type: 'ack', seq: 2 ** 60 }, 'VALIDATION_FAILED'],
      [{ type: 'resume', lastSeq: -1 }, 'VALIDATION_FAILED'],
      [{ type: 'resume', lastSeq: '1' }, 'VALIDATION_FAILED'],
    ];
    for (const [message, code] of cases) {
      client.send(message);
      assert.deepEqual((await client.next()).code, code, JSON.stringify(message));
    }
    client.socket.send(Buffer.from('{"type":"ping"}'), { binary: true });
    assert.equal((await client.next()).code, 'INVALID_INPUT');
    client.send({ type: 'ping', t: 'a\0b' });
    assert.deepEqual(await client.next(), { type: 'pong', t: 'a\0b' });
    client.socket.close();
  });
});
