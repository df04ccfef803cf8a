import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOf, inTestMode, startAuthz } from './testing.ts';

const alice = { username: 'alice', password: 'correct horse', role: 'admin' };
const decision = { resourceType: 'post', action: 'read' };

await inTestMode((world) => {
  test('an erased account is gone, and its uid never comes again', async (context) => {
    const { client } = await startAuthz(context, world);
    const { account } = await client.createAccount({ ...alice, role: 'editor' });
    const uid = account?.uid ?? 0;
    await client.deleteAccount({ uid });
    assert.equal((await errorOf(client.getAccount({ uid }))).code, 'not_found');
    assert.equal((await errorOf(client.deleteAccount({ uid }))).code, 'not_found');
    assert.equal((await errorOf(client.login({ ...alice, remoteAddress: '' }))).code, 'unauthenticated');
    assert.equal(
      (await client.decide({ ...decision, subject: { ...nobody, uid, username: 'alice' } })).allowed,
      false,
    );
    assert.deepEqual(
      (await client.listAccounts({ search: 'a' })).accounts.map(({ username }) => username),
      ['admin'],
    );
    assert.deepEqual([...(await client.getUsernames({ uids: [uid, 99] })).usernames], [[uid, 'former user']]);
    const { account: again } = await client.createAccount(alice);
    assert.equal(again?.uid, uid + 1);
    assert.equal(again?.hasPassword, true);
  });

  test('of the last two administrators who are erased at once, one stays', async (context) => {
    const { client } = await startAuthz(context, world, { nodeEnv: 'production' });
    const accounts = await Promise.all(
      ['ann', 'ben'].map((username) => client.createAccount({ ...alice, username })),
    );
    const uids = accounts.map(({ account }) => account?.uid ?? 0);
    const sent = await Promise.allSettled(uids.map((uid) => client.deleteAccount({ uid })));
    assert.deepEqual(sent.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const stays = uids[sent.findIndex(({ status }) => status === 'rejected')] ?? 0;
    const error = await errorOf(client.deleteAccount({ uid: stays }));
    assert.deepEqual([error.code, error.reason], ['precondition_failed', 'LAST_ADMINISTRATOR']);
    const { account } = await client.getAccount({ uid: stays });
    assert.deepEqual([account?.role, account?.disabled], ['admin', false]);
  });

  test('a password is checked without a change, and wrong ones are counted', async (context) => {
    const { client } = await startAuthz(context, world);
    const { account } = await client.createAccount(alice);
    const check = (password: string) =>
      client.checkPassword({ uid: account?.uid ?? 0, password, remoteAddress: '192.0.2.1' });
    await check(alice.password);
    for (let tries = 0; tries < 10; tries++)
      assert.equal((await errorOf(check('not this one'))).reason, 'INVALID_CREDENTIALS');
    assert.equal((await errorOf(check(alice.password))).code, 'rate_limited');
  });
});

const nobody = { role: '', mfaVerified: false };
