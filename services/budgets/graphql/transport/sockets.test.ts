import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startBudgets } from '../../testing.ts';
import { SocketClient } from '../../testing-sockets.ts';

const service = await startBudgets();
after(() => service[Symbol.asyncDispose]());
const alice = await service.person('alice');
const authorization = `Bearer ${alice.token}`;
const init = { type: 'connection_init', payload: { authorization } };
const subscribe = (id: string, query: string) => ({ id, type: 'subscribe', payload: { query } });
const watching = 'subscription { notificationAdded { seq } }';

async function connect(headers = {}): Promise<SocketClient> {
  const client = new SocketClient(`${service.url}/api/graphql`, {
    protocols: ['graphql-transport-ws'],
    headers,
  });
  await client.opened();
  return client;
}

async function signedIn(): Promise<SocketClient> {
  const client = await connect();
  client.send(init);
  assert.deepEqual(await client.next(), { type: 'connection_ack' });
  return client;
}

describe('a connection is closed with the code of the protocol', { concurrency: true }, () => {
  test('4400 for a message that is not one of the protocol', async () => {
    const ofServer = [
      { type: 'connection_ack' },
      { type: 'next', id: '1', payload: {} },
      { type: 'error', id: '1', payload: [{ message: 'x' }] },
    ];
    for (const message of ['no JSON', '[]', { type: 'nope' }, { type: 'subscribe' }, ...ofServer]) {
      const client = await signedIn();
      client.send(message);
      assert.equal(await client.closed, 4400, JSON.stringify(message));
    }
  });

  test('4401 for an operation before the acknowledgment', async () => {
    const client = await connect({ authorization });
    client.send(subscribe('1', '{ me { id } }'));
    assert.equal(await client.closed, 4401);
  });

  test('4403 without a valid token', async () => {
    for (const payload of [undefined, {}, { authorization: 'Bearer no' }, { authorization: 7 }]) {
      const client = await connect();
      client.send({ type: 'connection_init', payload });
      assert.equal(await client.closed, 4403, JSON.stringify(payload));
    }
    const client = await connect({ authorization: 'Bearer no' });
    client.send({ type: 'connection_init' });
    assert.equal(await client.closed, 4403);
  });

  test('none with a token as clients send it, in any spelling and among headers', async () => {
    for (const payload of [
      { Authorization: authorization },
      { AUTHORIZATION: authorization },
      { headers: { Authorization: authorization } },
      { headers: { authorization } },
    ]) {
      const client = await connect();
      client.send({ type: 'connection_init', payload });
      assert.deepEqual(await client.next(), { type: 'connection_ack' }, JSON.stringify(payload));
    }
    for (const headers of [null, 'x', [], { Authorization: 'Bearer no' }]) {
      const client = await connect();
      client.send({ type: 'connection_init', payload: { headers } });
      assert.equal(await client.closed, 4403, JSON.stringify(headers));
    }
  });

  test('4408 if it is not initialized within ten seconds', async () => {
    assert.equal(await (await connect()).closed, 4408);
  });

  test('4409 for a second subscriber with the same id', async () => {
    const client = await signedIn();
    client.send(subscribe('1', watching));
    client.send(subscribe('1', watching));
    assert.equal(await client.closed, 4409);
  });

  test('4429 for a second initialization', async () => {
    const client = await signedIn();
    client.send(init);
    assert.equal(await client.closed, 4429);
  });

  test('4406 without the subprotocol, and 1009 for a message over 64 KiB', async () => {
    for (const protocols of [[], ['bearer', alice.token]])
      assert.equal(await new SocketClient(`${service.url}/api/graphql`, { protocols }).closed, 4406);
    const client = await signedIn();
    client.send(subscribe('1', `{ me { id } } # ${'x'.repeat(64 * 1024)}`));
    assert.equal(await client.closed, 1009);
  });
});

test('a subscription whose session has ended is not called complete before 4403', async () => {
  const bob = await service.person('bob');
  const again = await service.signIn(bob);
  const client = await connect({ authorization: `Bearer ${bob.token}` });
  client.send({ type: 'connection_init' });
  assert.equal((await client.next()).type, 'connection_ack');
  const types: string[] = [];
  client.socket.on('message', (data) => types.push(JSON.parse(String(data)).type));
  client.send(subscribe('1', watching));
  await again.create('/api/budgets', { name: 'First', limit: 1 });
  assert.equal((await bob.post('/api/auth/logout')).status, 200);
  // It wakes the subscription, which finds its session gone.
  await again.create('/api/budgets', { name: 'Late', limit: 1 });
  assert.equal(await client.closed, 4403);
  assert.ok(!types.includes('complete'), types.join());
});

test('the header signs in too, errors have codes, and the connection goes on', async () => {
  const client = await connect({ authorization });
  client.send({ type: 'connection_init' });
  assert.equal((await client.next()).type, 'connection_ack');
  client.send({ type: 'ping', payload: { t: 1 } });
  assert.equal((await client.next()).type, 'pong');
  client.send(subscribe('1', '{ budget(id: "x") { id } }'));
  const { payload } = await client.next();
  assert.equal(payload.errors[0].extensions.code, 'NOT_FOUND');
  assert.deepEqual(await client.next(), { id: '1', type: 'complete' });
  client.send(subscribe('2', '{ nope }'));
  const refused = await client.next();
  assert.deepEqual([refused.type, refused.payload[0].extensions.code], ['error', 'VALIDATION_FAILED']);
  client.send(subscribe('2', '{ me { id } }'));
  assert.deepEqual((await client.next()).payload, { data: { me: { id: alice.id } } });
  client.socket.close();
});

test('a number with more digits than JavaScript can hold is refused, not rounded', async () => {
  const { id } = await alice.create('/api/budgets', { name: 'Exact', limit: 100 });
  const client = await signedIn();
  const query = 'mutation ($input: ExpenseInput!) { addExpense(input: $input) { amount } }';
  const input = { budgetId: id, description: 'Bread', amount: 12.5 };
  const payload = { query, variables: { input } };
  const message = JSON.stringify({ id: '1', type: 'subscribe', payload });
  client.send(message.replace('12.5', '12.500000000000000001'));
  const { errors } = (await client.next()).payload;
  assert.deepEqual(Object.keys(errors[0].extensions.fields), ['amount']);
  client.socket.close();
});
