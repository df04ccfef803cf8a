import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '@octavo/testing';
import { alice, bob, charlie, claimsOf, inTestMode, refused, startService } from '../testing.ts';
import { authenticator, register, registered, signIn } from './testing.ts';
import type { Forgery } from './testing-authenticator.ts';

await inTestMode((world) => {
  test('responses that a browser would not have signed here are refused, at registration and sign-in', async (context) => {
    const service = await startService(context, world);
    const device = authenticator({ counts: true });
    await registered(service, device, alice);
    const forgeries: [string, Forgery][] = [
      ['another origin', { origin: 'https://evil.example' }],
      ['an origin in a list', { origin: ['http://localhost:3003'] }],
      ['an origin that is no text', { origin: { toString: 1 } }],
      ['no origin', { origin: null }],
      ['a type that is no text', { type: { toString: 1 } }],
      ['a challenge that is no text', { challenge: { toString: 1 } }],
      ['another port', { origin: 'http://localhost:3004' }],
      ['a longer host', { origin: 'http://localhost.evil.example:3003' }],
      ['another relying party', { rpId: 'evil.example' }],
      ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
      ['in a frame', { crossOrigin: true }],
      ['in a frame of another', { crossOrigin: true, topOrigin: 'https://evil.example' }],
      ['a top that is none', { topOrigin: 'https://evil.example' }],
      ['no user present', { present: false }],
      ['backed up without being eligible', { backedUp: true, backupEligible: false }],
    ];
    for (const [what, forgery] of forgeries) {
      const signedIn = await signIn(service, device, undefined, forgery);
      refused(signedIn, 401, 'VERIFICATION_FAILED');
      const made = await register(service, authenticator(), { email: bob, forgery });
      refused(made, 400, 'VERIFICATION_FAILED');
      assert.ok(what);
    }
    const keys = [
      { algorithm: -35 },
      { algorithm: -48 },
      { algorithm: 0 },
      { algorithm: -257 },
      { curve: 2 },
    ];
    for (const forgery of keys) {
      const made = await register(service, authenticator(), { email: bob, forgery });
      refused(made, 400, 'VERIFICATION_FAILED');
    }
    const short = authenticator({ algorithm: -257, rsaBits: 1_024 });
    refused(await register(service, short, { email: bob }), 400, 'VERIFICATION_FAILED');
    refused(
      await signIn(service, device, undefined, { type: 'webauthn.create' }),
      401,
      'VERIFICATION_FAILED',
    );
    refused(
      await register(service, authenticator(), { email: bob, forgery: { type: 'webauthn.get' } }),
      400,
      'VERIFICATION_FAILED',
    );
    assert.equal((await signIn(service, device)).status, 200);
  });

  test('a credential signs in only with its own key, for its own user', async (context) => {
    const service = await startService(context, world);
    const [hers, his] = [authenticator(), authenticator()];
    const { user_id } = await registered(service, hers, alice);
    await registered(service, his, bob);
    const { id, response } = his.get((await service.post('/webauthn/login/options', {})).json);
    const forgeries: [string, Forgery][] = [
      ['her credential by his key', { credentialId: hers.credentialId }],
      ['her handle with his credential', { userHandle: 'AAAA' }],
      ['no handle where no user was named', { userHandle: null }],
      ['an old signature', { signature: response.signature }],
      ['no signature', { signature: 'AA' }],
      ['an unknown credential', { credentialId: 'AAAA' }],
    ];
    for (const [what, forgery] of forgeries) {
      const answer = await signIn(service, his, undefined, forgery);
      refused(answer, 401, 'VERIFICATION_FAILED');
      assert.ok(what && id);
    }
    const named = (await service.post('/webauthn/login/options', { email: alice })).json;
    const handled = await signIn(service, hers, named, { userHandle: null });
    assert.equal(claimsOf(handled.json.access_token).sub, user_id);
  });

  test('with an address, only its passkeys sign in', async (context) => {
    const service = await startService(context, world);
    const hers = authenticator();
    await registered(service, hers, alice);
    await registered(service, authenticator(), bob);
    for (const email of [bob, charlie]) {
      const asked = (await service.post('/webauthn/login/options', { email })).json;
      const answer = await signIn(service, hers, { ...asked, allowCredentials: [] });
      refused(answer, 401, 'VERIFICATION_FAILED');
    }
    const asked = (await service.post('/webauthn/login/options', { email: alice })).json;
    assert.equal((await signIn(service, hers, asked)).status, 200);
  });

  test('a challenge works once, for its own kind, within five minutes', async (context) => {
    const service = await startService(context, world);
    const device = authenticator();
    await registered(service, device, alice);
    const options = async () => (await service.post('/webauthn/login/options', {})).json;
    const used = await options();
    const response = device.get(used);
    const body = { pending_id: used.pending_id, response };
    assert.equal((await service.post('/webauthn/login/complete', body)).status, 200);
    refused(await service.post('/webauthn/login/complete', body), 400, 'INVALID_CEREMONY');
    const failed = await options();
    refused(
      await signIn(service, device, failed, { origin: 'https://evil.example' }),
      401,
      'VERIFICATION_FAILED',
    );
    refused(await signIn(service, device, failed), 400, 'INVALID_CEREMONY');
    const raced = await options();
    const answer = device.get(raced);
    const racers = Array.from({ length: 8 }, () =>
      service.post('/webauthn/login/complete', { pending_id: raced.pending_id, response: answer }),
    );
    const statuses = (await Promise.all(racers)).map(({ status }) => status);
    assert.deepEqual(statuses.toSorted(), [200, 400, 400, 400, 400, 400, 400, 400]);
    const making = (await service.post('/webauthn/register/options', { email: bob })).json;
    const crossed = { pending_id: making.pending_id, response: device.get(making) };
    refused(await service.post('/webauthn/login/complete', crossed), 400, 'INVALID_CEREMONY');
    const late = await options();
    service.clock.advance(300_000);
    refused(await signIn(service, device, late), 400, 'INVALID_CEREMONY');
    const made = { pending_id: making.pending_id, response: authenticator().create(making) };
    refused(await service.post('/webauthn/register/complete', made), 400, 'INVALID_CEREMONY');
  });

  test('a clone is detected by its counter', async (context) => {
    const service = await startService(context, world);
    const device = authenticator({ counts: true });
    await registered(service, device, alice);
    assert.equal((await signIn(service, device)).status, 200);
    const clone = device.clone();
    assert.equal((await signIn(service, clone)).status, 200);
    refused(await signIn(service, device), 401, 'VERIFICATION_FAILED');
    refused(await signIn(service, device, undefined, { counter: 0 }), 401, 'VERIFICATION_FAILED');
    const events = service.lines.filter(({ event }) => event === 'passkey_cloned');
    assert.equal(events.length, 2);
    const rows = service.database.kysely.selectFrom('audit_event').selectAll();
    assert.equal((await rows.where('event', '=', 'passkey_cloned').execute()).length, 2);
    assert.equal((await signIn(service, clone)).status, 200);
  });

  test('of a device and its clone that sign in at the same moment, one succeeds', async (context) => {
    const service = await startService(context, world);
    const device = authenticator({ counts: true });
    await registered(service, device, alice);
    const devices = [device, device.clone(), device.clone(), device.clone()];
    const answers = await Promise.all(devices.map((each) => signIn(service, each)));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 401, 401, 401]);
  });

  test('a synced passkey has no counter, and signs in from two devices at once', async (context) => {
    const service = await startService(context, world);
    const phone = authenticator({ backupEligible: true, backedUp: true });
    await registered(service, phone, alice);
    const answers = await Promise.all([phone, phone.clone()].map((each) => signIn(service, each)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    assert.equal((await signIn(service, phone, undefined, { backedUp: false })).status, 200);
    const changed = { backupEligible: false, backedUp: false };
    refused(await signIn(service, phone, undefined, changed), 401, 'VERIFICATION_FAILED');
  });

  test('a forged response does not report a clone', async (context) => {
    const service = await startService(context, world);
    const device = authenticator({ counts: true });
    await registered(service, device, alice);
    await signIn(service, device);
    refused(
      await signIn(service, device, undefined, { counter: 0, signature: 'AA' }),
      401,
      'VERIFICATION_FAILED',
    );
    assert.deepEqual(
      service.lines.filter(({ event }) => event === 'passkey_cloned'),
      [],
    );
  });

  test('the addresses in an unrequested attestation are not fetched', async (context) => {
    const service = await startService(context, world);
    const statement = new Map<string, number | Buffer>([
      ['alg', -7],
      ['sig', Buffer.from('no signature')],
      ['x5c', Buffer.from('no certificate')],
    ]);
    const forgery = { attestation: { format: 'packed', statement } };
    const made = await register(service, authenticator(), { email: alice, forgery });
    assert.equal(made.status, 200, made.text);
  });

  test('a user cannot add a passkey to another user', async (context) => {
    const service = await startService(context, world);
    const { access_token } = await service.signIn(alice);
    const { sub } = claimsOf(access_token);
    const stranger = authenticator();
    const { user_id, access_token: his } = await registered(service, stranger, alice);
    assert.notEqual(user_id, sub);
    const claims = claimsOf(his);
    assert.deepEqual([claims.sub, claims.email_verified, claims.email], [user_id, false, undefined]);
    assert.deepEqual((await service.get('/webauthn/credentials', access_token)).json, { credentials: [] });
    const alerted = (times: number) =>
      eventually(async () => {
        const mails = await service.mails(alice);
        assert.equal(mails.filter(({ kind }) => kind === 'security:enrolment-attempt').length, times);
      });
    await alerted(1);
    await registered(service, authenticator(), alice);
    service.clock.advance(3_600_001);
    await registered(service, authenticator(), alice);
    await alerted(2);
  });

  test('a passkey added before the owner signed in is removed when they do', async (context) => {
    const service = await startService(context, world);
    const squatter = authenticator();
    const { user_id, refresh_token, access_token: token } = await registered(service, squatter, alice);
    const begun = (await service.post('/webauthn/register/options', { email: alice }, token)).json;
    const response = authenticator().create(begun);
    const { access_token } = await service.signIn(alice);
    assert.equal(claimsOf(access_token).email_verified, true);
    assert.notEqual(claimsOf(access_token).sub, user_id);
    refused(await signIn(service, squatter), 401, 'VERIFICATION_FAILED');
    refused(await service.post('/token/refresh', { refresh_token }), 401, 'INVALID_TOKEN');
    const late = await service.post('/webauthn/register/complete', {
      pending_id: begun.pending_id,
      response,
    });
    refused(late, 400, 'INVALID_CEREMONY');
    assert.deepEqual((await service.get('/webauthn/credentials', access_token)).json, { credentials: [] });
  });

  test('a registration begun before the owner signed in fails afterwards', async (context) => {
    const service = await startService(context, world);
    const begun = (await service.post('/webauthn/register/options', { email: alice })).json;
    const response = authenticator().create(begun);
    const { access_token } = await service.signIn(alice);
    const late = await service.post('/webauthn/register/complete', {
      pending_id: begun.pending_id,
      response,
    });
    refused(late, 400, 'INVALID_CEREMONY');
    assert.deepEqual((await service.get('/webauthn/credentials', access_token)).json, { credentials: [] });
  });

  test('of several registrations begun for one address, only the first to complete succeeds', async (context) => {
    const service = await startService(context, world);
    const begun = await Promise.all(
      [1, 2, 3].map(async () => (await service.post('/webauthn/register/options', { email: charlie })).json),
    );
    const answers = await Promise.all(
      begun.map((options) =>
        service.post('/webauthn/register/complete', {
          pending_id: options.pending_id,
          response: authenticator().create(options),
        }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 400, 400]);
    const { user_id } = await registered(service, authenticator(), charlie);
    assert.notEqual(user_id, answers.find(({ status }) => status === 200)?.json.user_id);
  });

  test('a registration is void when its session ends', async (context) => {
    const service = await startService(context, world);
    const { access_token: token, refresh_token } = await service.signIn(alice);
    const begun = (await service.post('/webauthn/register/options', { email: alice }, token)).json;
    await service.post('/token/revoke', { token: refresh_token });
    const response = authenticator().create(begun);
    const late = await service.post('/webauthn/register/complete', {
      pending_id: begun.pending_id,
      response,
    });
    refused(late, 400, 'INVALID_CEREMONY');
  });

  test('with required user verification, presence alone is not enough', async (context) => {
    const environment = { PASSWORDLESS_WEBAUTHN_USER_VERIFICATION: 'required' };
    const service = await startService(context, world, { environment });
    const options = (await service.post('/webauthn/login/options', {})).json;
    assert.equal(options.userVerification, 'required');
    const device = authenticator();
    refused(
      await register(service, device, { email: alice, forgery: { verified: false } }),
      400,
      'VERIFICATION_FAILED',
    );
    await registered(service, device, alice);
    refused(await signIn(service, device, undefined, { verified: false }), 401, 'VERIFICATION_FAILED');
    assert.equal((await signIn(service, device)).status, 200);
  });

  test('inert: without a token, nothing is stored for an address with an owner', async (context) => {
    const environment = { PASSWORDLESS_ENROLLMENT_WITHOUT_PROOF: 'inert' };
    const service = await startService(context, world, { environment });
    await service.signIn(alice);
    refused(await register(service, authenticator(), { email: alice }), 400, 'INVALID_CEREMONY');
    assert.equal((await register(service, authenticator(), { email: bob })).status, 200);
  });

  test('off: a registration requires a token', async (context) => {
    const environment = { PASSWORDLESS_ENROLLMENT_WITHOUT_PROOF: 'off' };
    const service = await startService(context, world, { environment });
    refused(await service.post('/webauthn/register/options', { email: alice }), 401, 'MISSING_TOKEN');
  });
});
