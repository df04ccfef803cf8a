import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Encryption } from '@octavo/core/auth';
import { appCode } from '@octavo/testing/sign-in';
import { deleteExpiredRows } from '../cleanup.ts';
import { Keys } from '../keys/keys.ts';
import {
  alice,
  bob,
  claimsOf,
  enrollApp,
  inTestMode,
  secret as keySecret,
  refused,
  startService,
  type World,
} from '../testing.ts';
import { alerted, stepMs, subOf, verify } from './testing.ts';

/** Alice owns the address; Charlie, a stranger, wants her account. */

await inTestMode((world) => {
  test('enrolling at an address with an owner creates a separate user, and the owner gets a mail', async (context) => {
    const service = await startService(context, world);
    const owner = await service.signIn(alice);
    const { sub } = claimsOf(owner.access_token);
    const charlie = await enrollApp(service, alice);
    assert.equal(charlie.response.status, 200, 'the flow of the specification works all the same');
    const claims = claimsOf(charlie.response.json.access_token);
    assert.notEqual(claims.sub, sub);
    assert.deepEqual([claims.email_verified, claims.email], [false, undefined]);
    assert.equal((await service.get('/me', charlie.response.json.access_token)).json.email_verified, false);
    assert.equal((await service.get('/me', owner.access_token)).json.totp, false);
    await alerted(service, 1);
    await service.post('/totp/enroll', { email: alice });
    await alerted(service, 1);
    service.clock.advance(3_600_001);
    await service.post('/totp/enroll', { email: alice });
    await alerted(service, 2);
  });

  test('a stranger does not replace the app of the owner', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const own = await enrollApp(service, alice, token);
    service.clock.advance(stepMs);
    const charlie = await enrollApp(service, alice);
    assert.notEqual(subOf(charlie.response), claimsOf(token).sub);
    assert.equal(subOf(await verify(service, own.secret)), claimsOf(token).sub);
  });

  test('the response to enrolling does not tell whether an address is known', async (context) => {
    const service = await startService(context, world);
    await service.signIn(alice);
    await enrollApp(service, bob);
    const shapes = new Set<string>();
    for (const email of [alice, bob, 'nobody@example.com']) {
      const response = await service.post('/totp/enroll', { email });
      const { secret, otpauth_url: url, ...rest } = response.json;
      shapes.add(
        `${response.status} ${secret.length} ${url.replace(secret, '').replace(/[a-z]+%40/, '')} ${Object.keys(rest)}`,
      );
    }
    assert.equal(shapes.size, 1);
  });

  testFirst(world);
  testUnproven(world);
});

/** Pre-hijacking: Charlie is there before Alice. */
function testFirst(world: World): void {
  test('users who were there first lose all sign-in methods when the owner of the address uses a link', async (context) => {
    const service = await startService(context, world);
    const charlie = await enrollApp(service, alice);
    const { access_token: token, refresh_token } = charlie.response.json;
    const codes = (await service.post('/recovery-codes', {}, token)).json.codes as string[];
    const replaced = await service.post('/totp/enroll', { email: alice }, token);
    const owner = await service.signIn(alice);
    assert.notEqual(claimsOf(owner.access_token).sub, claimsOf(token).sub, 'the owner is a new user');
    service.clock.advance(2 * stepMs);
    refused(await verify(service, charlie.secret), 401, 'INVALID_CODE');
    refused(await verify(service, replaced.json.secret), 401, 'INVALID_CODE');
    refused(await service.get('/me', token), 401, 'INVALID_TOKEN');
    refused(await service.post('/token/refresh', { refresh_token }), 401, 'INVALID_TOKEN');
    const recovery = { email: alice, code: codes[0] };
    refused(await service.post('/recovery/verify', recovery), 401, 'INVALID_CODE');
    const { totp, passkeys, recovery_codes } = (await service.get('/me', owner.access_token)).json;
    assert.deepEqual({ totp, passkeys, recovery_codes }, { totp: false, passkeys: 0, recovery_codes: 0 });
  });

  test('a link that a stranger asked for with their token gives them nothing when its owner uses it', async (context) => {
    const service = await startService(context, world);
    const charlie = await enrollApp(service, alice);
    const { access_token: token, refresh_token } = charlie.response.json;
    const { token: link } = await service.requestLink(alice, token);
    const [mail] = await service.mails(alice);
    for (const text of [mail?.text, mail?.html]) assert.match(text ?? '', /A person who is signed in/);
    const owner = await service.get(`/verify/magic?token=${link}`);
    assert.notEqual(subOf(owner), claimsOf(token).sub);
    assert.equal(claimsOf(owner.json.access_token).email_verified, true);
    refused(await service.get('/me', token), 401, 'INVALID_TOKEN');
    refused(await service.post('/token/refresh', { refresh_token }), 401, 'INVALID_TOKEN');
    service.clock.advance(stepMs);
    refused(await verify(service, charlie.secret), 401, 'INVALID_CODE');
    assert.equal((await service.get('/me', owner.json.access_token)).json.totp, false);
  });

  for (const how of ['GET', 'POST', 'code'] as const) {
    test(`a link used with a token (${how}) makes its user the owner, with their sign-in methods`, async (context) => {
      const service = await startService(context, world);
      const own = await enrollApp(service, alice);
      const { access_token: token } = own.response.json;
      // Alice was not signed in when the link was requested.
      const { token: link, code } = await service.requestLink(alice);
      const [mail] = await service.mails(alice);
      for (const text of [mail?.text, mail?.html]) assert.doesNotMatch(text ?? '', /signed in to an account/);
      const signedIn = await {
        GET: () => service.get(`/verify/magic?token=${link}`, token),
        POST: () => service.post('/verify/magic', { token: link }, token),
        code: () => service.post('/verify/magic', { email: alice, code }, token),
      }[how]();
      assert.equal(subOf(signedIn), claimsOf(token).sub);
      assert.equal((await service.get('/me', token)).json.email_verified, true);
      service.clock.advance(stepMs);
      assert.equal(subOf(await verify(service, own.secret)), claimsOf(token).sub);
      const kinds = (await service.mails(alice)).map(({ kind }) => kind);
      assert.ok(kinds.includes('security:totp-added'), 'the mails report the app');
    });
  }

  for (const whose of ['of another address', 'of a session that has ended', 'that is none']) {
    test(`a token ${whose} keeps nothing when a link is used with it`, async (context) => {
      const service = await startService(context, world);
      const charlie = await enrollApp(service, alice);
      const { access_token: own } = charlie.response.json;
      const others = (await enrollApp(service, bob)).response.json.access_token;
      if (whose.endsWith('ended')) await service.post('/logout-all', undefined, own);
      const tokens = { 'of another address': others, 'of a session that has ended': own } as const;
      const { token } = await service.requestLink(alice);
      const used = tokens[whose as keyof typeof tokens] ?? 'none';
      const owner = await service.get(`/verify/magic?token=${token}`, used);
      assert.equal(owner.status, 200);
      assert.notEqual(subOf(owner), claimsOf(own).sub);
      service.clock.advance(stepMs);
      refused(await verify(service, charlie.secret), 401, 'INVALID_CODE');
    });
  }

  test('links that users with a token ask for leave the links and the allowance of others alone', async (context) => {
    const environment = { PASSWORDLESS_LIMIT_MAGIC_PER_ADDRESS: '5' };
    const service = await startService(context, world, { environment });
    const charlie = (await enrollApp(service, alice)).response.json.access_token;
    const { token: link } = await service.requestLink(alice);
    for (let index = 0; index < 8; index++) await service.post('/request/magic', { email: alice }, charlie);
    assert.equal((await service.mails(alice)).length, 6, 'they have an allowance of their own');
    assert.equal((await service.call('DELETE', '/me', { token: charlie })).status, 200);
    const owner = await service.get(`/verify/magic?token=${link}`);
    assert.equal(owner.status, 200, 'the link still works');
    for (let index = 0; index < 4; index++) await service.requestLink(alice);
    assert.notEqual(
      (await service.requestLink(alice, owner.json.access_token)).token,
      '',
      'nor is the owner',
    );
  });

  test('with a token at an address that has an owner, a link signs in the owner', async (context) => {
    const service = await startService(context, world);
    const { sub } = claimsOf((await service.signIn(alice)).access_token);
    const charlie = await enrollApp(service, alice);
    const { access_token: token } = charlie.response.json;
    const { token: link } = await service.requestLink(alice, token);
    assert.equal(subOf(await service.get(`/verify/magic?token=${link}`)), sub);
    assert.equal((await service.get('/me', token)).json.email_verified, false);
  });

  test('a setup begun before the link cannot be completed after it', async (context) => {
    const service = await startService(context, world);
    const charlie = await service.post('/totp/enroll', { email: alice });
    const owner = await service.signIn(alice);
    refused(await verify(service, charlie.json.secret), 401, 'INVALID_CODE');
    assert.equal((await service.get('/me', owner.access_token)).json.totp, false);
  });
}

/** Charlie and Alice both add sign-in methods while the address has no owner. */
function testUnproven(world: World): void {
  test('of two setups at once, the later one counts', async (context) => {
    const service = await startService(context, world);
    const charlie = await service.post('/totp/enroll', { email: alice });
    const own = await service.post('/totp/enroll', { email: alice });
    refused(await verify(service, charlie.json.secret), 401, 'INVALID_CODE');
    assert.equal((await verify(service, own.json.secret)).status, 200);
    service.clock.advance(stepMs);
    refused(await verify(service, charlie.json.secret), 401, 'INVALID_CODE');
  });

  test('a user with a proven sign-in method is not shared with later ones', async (context) => {
    const service = await startService(context, world);
    const own = await enrollApp(service, alice);
    service.clock.advance(stepMs);
    const charlie = await enrollApp(service, alice);
    assert.notEqual(subOf(charlie.response), subOf(own.response));
  });

  test('right codes of a stranger, and codes that were used already, cost the owner nothing', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const own = await enrollApp(service, alice, token);
    const charlie = await enrollApp(service, alice);
    assert.equal(charlie.response.status, 200);
    for (let round = 0; round < 6; round++) {
      service.clock.advance(stepMs);
      assert.equal((await verify(service, charlie.secret)).status, 200);
      refused(await verify(service, charlie.secret), 401, 'INVALID_CODE');
    }
    assert.equal((await verify(service, own.secret)).status, 200);
    for (let index = 0; index < 6; index++) refused(await verify(service, own.secret), 401, 'INVALID_CODE');
    const { kysely } = service.database;
    const users = await kysely.selectFrom('user').selectAll().execute();
    assert.ok(users.every(({ totp_failures: misses }) => misses === 0));
    assert.deepEqual(await kysely.selectFrom('failed_attempt').selectAll().execute(), []);
  });

  test('right codes of a stranger clear their own counter, not that of the owner', async (context) => {
    const service = await startService(context, world);
    const other = await enrollApp(service, bob);
    const { access_token: token } = await service.signIn(alice);
    const own = await enrollApp(service, alice, token);
    const charlie = await enrollApp(service, alice);
    service.clock.advance(2 * stepMs);
    for (const [email, secret] of [
      [alice, charlie.secret],
      [bob, other.secret],
    ] as const) {
      const wrong = async () => {
        const code = appCode(secret, service.clock, 9);
        refused(await service.post('/totp/verify', { email, code }), 401, 'INVALID_CODE');
      };
      for (let index = 0; index < 4; index++) await wrong();
      const code = appCode(secret, service.clock);
      assert.equal((await service.post('/totp/verify', { email, code })).status, 200);
      // The responses do not tell that the address has an owner with an app.
      for (let index = 0; index < 4; index++) await wrong();
    }
    refused(await verify(service, own.secret), 401, 'INVALID_CODE');
    await service.signIn(alice);
    assert.equal(subOf(await verify(service, own.secret)), claimsOf(token).sub);
  });

  test('a code that matches the secrets of two users signs in neither, also later', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const own = await enrollApp(service, alice, token);
    const charlie = await enrollApp(service, alice);
    const { sub } = claimsOf(charlie.response.json.access_token);
    const { kysely } = service.database;
    const encryption = new Encryption(new Keys(keySecret, undefined).keysFor('totp-enc'));
    const hers = await kysely
      .selectFrom('totp')
      .selectAll()
      .where('user_id', '<>', sub)
      .executeTakeFirstOrThrow();
    const secret = encryption.encrypt(encryption.decryptText(hers.secret, hers.user_id) ?? '', sub);
    await kysely.updateTable('totp').set({ secret }).where('user_id', '=', sub).execute();
    service.clock.advance(2 * stepMs);
    refused(await verify(service, own.secret), 401, 'INVALID_CODE');
    await kysely.deleteFrom('user').where('id', '=', sub).execute();
    refused(await verify(service, own.secret), 401, 'INVALID_CODE');
    assert.equal(subOf(await verify(service, own.secret, 1)), claimsOf(token).sub);
  });

  test('a user who proved nothing within a day is deleted', async (context) => {
    const service = await startService(context, world);
    const { json } = await service.post('/totp/enroll', { email: alice });
    service.clock.advance(86_400_001);
    refused(await verify(service, json.secret), 401, 'INVALID_CODE');
    const { database, clock } = service;
    const again = await service.post('/totp/enroll', { email: alice });
    await deleteExpiredRows({ database, clock, auditDays: 90 });
    assert.equal((await verify(service, again.json.secret)).status, 200);
  });

  test('a stranger with their own token cannot see, change or end anything of the owner', async (context) => {
    const service = await startService(context, world);
    const owner = await service.signIn(alice);
    const { sid } = claimsOf(owner.access_token);
    const { access_token: token } = (await enrollApp(service, alice)).response.json;
    refused(await service.call('DELETE', `/sessions/${sid}`, { token }), 404, 'NOT_FOUND');
    const listed = (await service.get('/sessions', token)).json.sessions as { id: string }[];
    assert.ok(!listed.some(({ id }) => id === sid));
    assert.equal((await service.post('/logout-all', undefined, token)).status, 200);
    assert.equal((await service.get('/me', owner.access_token)).status, 200);
    const again = (await enrollApp(service, bob)).response.json.access_token;
    assert.equal((await service.call('DELETE', '/me', { token: again })).status, 200);
    assert.equal((await service.get('/me', owner.access_token)).status, 200);
  });
}
