import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOf, inTestMode, openStore, startAuthz } from './testing.ts';

const alice = { username: 'alice', password: 'correct horse', role: 'editor' };

await inTestMode((world) => {
  test('lists in pages, and finds a part of a name', async (context) => {
    const { client } = await startAuthz(context, world);
    for (const username of ['alice', 'al_ice', 'Bob@example.org']) {
      await client.createAccount({ ...alice, username });
    }
    const list = async (request: object) => {
      const { accounts, total } = await client.listAccounts(request);
      return [total, ...accounts.map(({ username }) => username)];
    };
    const all = ['admin', 'editor', 'viewer', 'alice', 'al_ice', 'Bob@example.org'];
    assert.deepEqual(await list({}), [6, ...all]);
    assert.deepEqual(await list({ page: 2, pageSize: 4 }), [6, ...all.slice(4)]);
    assert.deepEqual(await list({ page: 3, pageSize: 4 }), [6]);
    assert.deepEqual(await list({ page: 2 ** 31 - 1, pageSize: 200 }), [6]);
    const searches: [string, string[]][] = [
      ['LI', ['alice']],
      ['_', ['al_ice']],
      ['%', []],
      ['bob@EXAMPLE', ['Bob@example.org']],
      ['nobody', []],
      ['\u0000', []],
      ['\ud800', []],
      ['x'.repeat(10_000), []],
    ];
    for (const [search, found] of searches) {
      assert.deepEqual(await list({ search }), [found.length, ...found], search);
    }
    const malformed: [object, Record<string, string>][] = [
      [{ page: 0 }, { page: 'must be 1 to 2147483647' }],
      [{ page: -1 }, { page: 'must be 1 to 2147483647' }],
      [{ pageSize: 0 }, { pageSize: 'must be 1 to 200' }],
      [{ pageSize: 201 }, { pageSize: 'must be 1 to 200' }],
    ];
    for (const [request, fields] of malformed) {
      const error = await errorOf(client.listAccounts(request));
      assert.deepEqual([error.code, error.fields], ['validation_failed', fields]);
    }
  });

  test('gives one account, disabled or not', async (context) => {
    const { client } = await startAuthz(context, world);
    const { account } = await client.createAccount(alice);
    assert.deepEqual((await client.getAccount({ uid: 4 })).account, account);
    await client.updateAccount({ username: 'alice', disabled: true });
    assert.equal((await client.getAccount({ uid: 4 })).account?.disabled, true);
    for (const uid of [0, -1, 99, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      assert.equal((await errorOf(client.getAccount({ uid }))).code, 'not_found');
    }
  });

  test('gives the names of up to 200 accounts', async (context) => {
    const { client } = await startAuthz(context, world);
    await client.createAccount({ ...alice, username: 'Alice' });
    await client.updateAccount({ username: 'alice', disabled: true });
    const uids = [4, 1, 4, 99, 0, -1, 2 ** 31, Number.MAX_SAFE_INTEGER];
    const { usernames } = await client.getUsernames({ uids });
    assert.deepEqual(
      [...usernames].toSorted(([a], [b]) => a - b),
      [
        [1, 'admin'],
        [4, 'Alice'],
      ],
    );
    assert.equal((await client.getUsernames({ uids: [] })).usernames.size, 0);
    const many = Array.from({ length: 200 }, (_, index) => index + 1);
    assert.equal((await client.getUsernames({ uids: many })).usernames.size, 4);
    const error = await errorOf(client.getUsernames({ uids: [...many, 201] }));
    assert.deepEqual([error.code, error.fields], ['validation_failed', { uids: 'must be at most 200' }]);
  });

  test('a ping answers while the database does', async (context) => {
    const { client, dataFolder } = await startAuthz(context, world);
    assert.deepEqual(await client.ping({}), {});
    await using database = await openStore(dataFolder, world);
    await database.write(async ({ kysely }) => {
      await kysely.schema.alterTable('account').renameTo('lost').execute();
    });
    await errorOf(client.ping({}));
  });
});
