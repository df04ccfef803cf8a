import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Person, startBudgets } from '../testing.ts';
import { SocketClient } from '../testing-sockets.ts';

const service = await startBudgets();
after(() => service[Symbol.asyncDispose]());

const signedIn = ({ token }: Person, path = '/ws') =>
  new SocketClient(service.url + path, { headers: { authorization: `Bearer ${token}` } });
const say = (who: Person, name: string) => who.create('/api/budgets', { name, limit: 1 });

describe('sign-in', () => {
  test('by header, by subprotocol and by the first message, at each address', async () => {
    const alice = await service.person('alice');
    const clients = [
      signedIn(alice, '/'),
      signedIn(alice, '/api/ws'),
      new SocketClient(`${service.url}/ws`, { protocols: ['bearer', alice.token] }),
      new SocketClient(`${service.url}/ws`),
    ];
    const [, , , last] = clients;
    await last?.opened();
    last?.send({ type: 'auth', token: alice.token });
    for (const client of clients) {
      assert.deepEqual(await client.next(), { type: 'ready', userId: alice.id, seq: 0, heartbeat: 30 });
      client.socket.close();
    }
  });

  test('a client that resumes as soon as it is connected waits for it', async () => {
    const alice = await service.person('resuming');
    for (const name of ['Food', 'Travel']) await say(alice, name);
    // Many at once, so that sign-ins take their time.
    const clients = Array.from({ length: 80 }, () => signedIn(alice));
    for (const client of clients)
      client.socket.once('open', () => client.send({ type: 'resume', lastSeq: 0 }));
    for (const client of clients) {
      const types = [await client.next(), await client.next(), await client.next()].map(({ type }) => type);
      assert.deepEqual(types, ['ready', 'notification', 'notification']);
      client.socket.close();
    }
  });

  test('a wrong token is 4401, and nothing is possible without one', async () => {
    assert.equal(
      await new SocketClient(`${service.url}/ws`, { headers: { authorization: 'Bearer no' } }).closed,
      4401,
    );
    const client = new SocketClient(`${service.url}/ws`);
    await client.opened();
    client.send({ type: 'ack', seq: 1 });
    assert.equal((await client.next()).code, 'UNAUTHORIZED');
    client.send('no JSON');
    assert.equal((await client.next()).code, 'INVALID_INPUT');
    client.send({ type: 'auth', token: 'no' });
    assert.equal(await client.closed, 4401);
  });

  test('a page of another origin is refused before the upgrade', async () => {
    const alice = await service.person('alice');
    const headers = { authorization: `Bearer ${alice.token}`, origin: 'https://elsewhere.example' };
    assert.equal(await new SocketClient(`${service.url}/ws`, { headers }).closed, 403);
    assert.equal(
      await new SocketClient(`${service.url}/api/graphql`, { headers, protocols: ['graphql-transport-ws'] })
        .closed,
      403,
    );
  });
});

describe('delivery', () => {
  test('from a number on: everything once and in order, then live', async () => {
    const alice = await service.person('alice');
    for (const name of ['one', 'two', 'three']) await say(alice, name);
    const client = signedIn(alice);
    assert.equal((await client.next()).seq, 3);
    client.send({ type: 'resume', lastSeq: 1 });
    const writing = Promise.all(Array.from({ length: 20 }, (_, index) => say(alice, `live ${index}`)));
    const seqs: number[] = [];
    while (seqs.length < 22) {
      const { type, seq, event, data } = await client.next();
      assert.deepEqual([type, event, data.limit], ['notification', 'budget.created', 1]);
      seqs.push(seq);
    }
    await writing;
    assert.deepEqual(
      seqs,
      Array.from({ length: 22 }, (_, index) => index + 2),
    );
    client.socket.close();
  });

  test('without a number or a word: from now on; pings are answered, and an ack marks as read', async () => {
    const alice = await service.person('alice');
    await say(alice, 'before');
    const client = signedIn(alice);
    const silent = signedIn(alice);
    await Promise.all([client.next(), silent.next()]);
    client.send({ type: 'resume' });
    client.send({ type: 'ping', t: 7 });
    assert.deepEqual(await client.next(), { type: 'pong', t: 7 });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await say(alice, 'after');
    for (const each of [client, silent]) assert.equal((await each.next()).seq, 2);
    client.send({ type: 'ack', seq: 2 });
    client.send({ type: 'ping' });
    await client.next();
    const { data } = (await alice.post('/api/graphql', { query: '{ notifications(unread: true) { seq } }' }))
      .json;
    assert.deepEqual(data.notifications, []);
    for (const each of [client, silent]) each.socket.close();
  });

  test('events of another user are never sent', async () => {
    const [alice, charlie] = [await service.person('alice'), await service.person('charlie')];
    const client = signedIn(charlie);
    await client.next();
    client.send({ type: 'resume' });
    await say(alice, 'private');
    await say(charlie, 'own');
    assert.equal((await client.next()).data.name, 'own');
    client.socket.close();
  });

  test('what is older than a day is a gap', async () => {
    const alice = await service.person('alice');
    await say(alice, 'old');
    service.clock.advance(25 * 3_600_000);
    const { json } = await service.send('/api/auth/login', {
      body: { email: alice.email, password: 'ferries wait in fog' },
    });
    const client = signedIn({ ...alice, token: json.token });
    await client.next();
    client.send({ type: 'resume', lastSeq: 0 });
    assert.deepEqual(await client.next(), { type: 'gap', from: 1, to: 1 });
    client.socket.close();
  });
});
