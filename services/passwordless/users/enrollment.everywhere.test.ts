import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticator } from '../passkeys/testing.ts';
import {
  alice,
  bob,
  claimsOf,
  enrollApp,
  inTestMode,
  refused,
  startService,
  type World,
} from '../testing.ts';
import { alerted, stepMs, subOf, verify } from './testing.ts';

/** Adding sign-in methods without a token. */
await inTestMode((world) => {
  test('at most three users share an address without owning it, and none is pushed out within a day of use', async (context) => {
    const service = await startService(context, world);
    const first = await enrollApp(service, alice);
    const { access_token: token, refresh_token } = first.response.json;
    const others = [await enrollApp(service, alice), await enrollApp(service, alice)];
    const full = async () => {
      const { status, json } = await service.post('/totp/enroll', { email: alice });
      assert.deepEqual([status, Object.keys(json)], [200, ['secret', 'otpauth_url']]);
      refused(await verify(service, json.secret), 401, 'INVALID_CODE');
      const options = await service.post('/webauthn/register/options', { email: alice });
      assert.match(options.json.user.id, /^[A-Za-z0-9_-]{43}$/);
      const { pending_id } = options.json;
      const response = authenticator().create(options.json);
      const complete = await service.post('/webauthn/register/complete', { pending_id, response });
      refused(complete, 400, 'INVALID_CEREMONY');
    };
    await full();
    service.clock.advance(stepMs);
    for (const each of [first, ...others])
      assert.equal(subOf(await verify(service, each.secret)), subOf(each.response));
    // The first keeps a session alive; of the others, the second is idle the longest.
    service.clock.advance(20 * 3_600_000);
    assert.equal((await service.post('/token/refresh', { refresh_token })).status, 200);
    assert.equal((await verify(service, others[1]?.secret ?? '')).status, 200);
    await full();
    service.clock.advance(4 * 3_600_000);
    const late = await enrollApp(service, alice);
    assert.equal(late.response.status, 200);
    refused(await verify(service, others[0]?.secret ?? ''), 401, 'INVALID_CODE');
    assert.equal(subOf(await verify(service, first.secret)), claimsOf(token).sub);
    await full();
  });

  test('who proved nothing makes room before anybody else', async (context) => {
    const service = await startService(context, world);
    const proven = [await enrollApp(service, alice), await enrollApp(service, alice)];
    const begun = (await service.post('/webauthn/register/options', { email: alice })).json;
    service.clock.advance(25 * 3_600_000);
    assert.equal((await enrollApp(service, alice)).response.status, 200);
    const { pending_id } = begun;
    const complete = { pending_id, response: authenticator().create(begun) };
    refused(await service.post('/webauthn/register/complete', complete), 400, 'INVALID_CEREMONY');
    for (const each of proven) assert.equal(subOf(await verify(service, each.secret)), subOf(each.response));
  });

  testModes(world);
});

function testModes(world: World): void {
  test('inert: the same response, and nothing is stored for an address with an owner', async (context) => {
    const environment = { PASSWORDLESS_ENROLLMENT_WITHOUT_PROOF: 'inert' };
    const service = await startService(context, world, { environment });
    await service.signIn(alice);
    const { secret, response } = await enrollApp(service, alice);
    assert.match(secret, /^[A-Z2-7]{32}$/);
    refused(response, 401, 'INVALID_CODE');
    assert.equal((await enrollApp(service, bob)).response.status, 200);
    const handleOf = async (email: string) =>
      (await service.post('/webauthn/register/options', { email })).json.user.id;
    for (const email of [alice, 'unknown@example.com']) {
      const handle = await handleOf(email);
      assert.match(handle, /^[A-Za-z0-9_-]{43}$/);
      assert.equal(await handleOf(email), handle, 'as stable for who is known as for who is not');
    }
    assert.equal((await service.database.kysely.selectFrom('totp').selectAll().execute()).length, 1);
  });

  test('without sign-up: the same response, before any work, and nothing is stored for any address', async (context) => {
    const environment = { PASSWORDLESS_ALLOW_SIGNUP: 'off' };
    const open = await startService(context, world);
    const { access_token: token } = await open.signIn(alice);
    const service = await startService(context, world, { environment, beside: open });
    await service.database.write(async (session) => {
      for (const email of [alice, bob]) await session.lock(`address:${email}`);
      for (const email of [alice, bob]) {
        const { status, json } = await service.post('/totp/enroll', { email });
        assert.deepEqual([status, Object.keys(json)], [200, ['secret', 'otpauth_url']]);
        const options = await service.post('/webauthn/register/options', { email });
        const { pending_id, user } = options.json;
        assert.deepEqual([options.status, user.id.length], [200, 43]);
        assert.equal((await service.post('/webauthn/register/options', { email })).json.user.id, user.id);
        assert.match(pending_id, /^[0-9a-f-]{36}$/);
      }
    });
    await alerted(service, 1);
    const asked = (await service.post('/webauthn/register/options', { email: bob })).json;
    const complete = { pending_id: asked.pending_id, response: authenticator().create(asked) };
    refused(await service.post('/webauthn/register/complete', complete), 400, 'INVALID_CEREMONY');
    refused((await enrollApp(service, bob)).response, 401, 'INVALID_CODE');
    const users = await service.database.kysely.selectFrom('user').selectAll().execute();
    assert.equal(users.length, 1);
    assert.equal((await enrollApp(service, alice, token)).response.status, 200);
  });

  test('off: adding a sign-in method requires a token', async (context) => {
    const environment = { PASSWORDLESS_ENROLLMENT_WITHOUT_PROOF: 'off' };
    const service = await startService(context, world, { environment });
    refused(await service.post('/totp/enroll', { email: alice }), 401, 'MISSING_TOKEN');
    refused(await service.post('/totp/enroll', { email: bob }), 401, 'MISSING_TOKEN');
    const { access_token: token } = await service.signIn(alice);
    assert.equal((await enrollApp(service, alice, token)).response.status, 200);
  });
}
