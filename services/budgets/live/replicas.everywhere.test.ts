import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { testFolder, testMode } from '@octavo/testing';
import { type Person, personOf, startBudgets } from '../testing.ts';
import { SocketClient } from '../testing-sockets.ts';

const folder = testFolder('replicas');
const { databaseUrl } = await testMode();
const environment = {
  JWT_SECRET: 'a secret for tests, 32 characters',
  ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
};
const service = await startBudgets({ folder, environment });
/** Another process on the same database, as far as its code can tell. */
const replica = await startBudgets({ folder, environment });
after(() => Promise.all([service, replica].map((each) => each[Symbol.asyncDispose]())));

const signedIn = ({ token }: Person, { url } = service) =>
  new SocketClient(`${url}/ws`, { headers: { authorization: `Bearer ${token}` } });
const say = (who: Person, name: string) => who.create('/api/budgets', { name, limit: 1 });

test('a client goes on at another replica, each notification once and in order', async () => {
  const alice = await service.person('alice');
  const there = personOf(replica.send, alice);
  const wanted = 60;
  const writing = (async () => {
    for (let number = 0; number < wanted; number++) await say(number % 2 ? alice : there, `${number}`);
  })();
  const seqs: number[] = [];
  for (let turn = 0; seqs.length < wanted; turn++) {
    const client = signedIn(alice, turn % 2 ? replica : service);
    assert.equal((await client.next()).type, 'ready');
    client.send({ type: 'resume', lastSeq: seqs.at(-1) ?? 0 });
    const most = Math.min(wanted, seqs.length + 7);
    while (seqs.length < most) seqs.push((await client.next()).seq);
    client.socket.close();
    await once(client.socket, 'close');
  }
  await writing;
  assert.deepEqual(
    seqs,
    Array.from({ length: wanted }, (_, index) => index + 1),
  );
});
