import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  alice,
  bob,
  charlie,
  claimsOf,
  inTestMode,
  refused,
  secret,
  startService,
  type TestService,
} from '../testing.ts';
import { authenticator, register, registered, signIn } from './testing.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

await inTestMode((world) => {
  test('registers a passkey and signs in with it, by address and without one', async (context) => {
    const service = await startService(context, world);
    const device = authenticator();
    const options = (await service.post('/webauthn/register/options', { email: alice })).json;
    assert.match(options.pending_id, uuid);
    assert.equal(Buffer.from(options.challenge, 'base64url').length, 32);
    assert.equal(Buffer.from(options.user.id, 'base64url').length, 32);
    assert.deepEqual(options.rp, { id: 'localhost', name: 'Octavo' });
    assert.deepEqual(
      options.pubKeyCredParams.map(({ alg }: { alg: number }) => alg),
      [-8, -7, -257],
    );
    assert.deepEqual(options.excludeCredentials, []);
    const answer = await service.post('/webauthn/register/complete', {
      pending_id: options.pending_id,
      response: device.create(options),
    });
    assert.equal(answer.status, 200, answer.text);
    const { access_token, refresh_token, ...enrolled } = answer.json;
    assert.deepEqual(enrolled, {
      verified: true,
      user_id: claimsOf(access_token).sub,
      credential: {
        id: device.credentialId,
        name: 'This device',
        created_at: new Date(service.clock.now()).toISOString(),
        transports: ['internal', 'hybrid'],
        backed_up: false,
      },
    });
    assert.equal((await service.post('/token/refresh', { refresh_token })).status, 200);
    for (const body of [{ email: ' Alice@Example.com' }, {}]) {
      const asked = (await service.post('/webauthn/login/options', body)).json;
      assert.equal(asked.allowCredentials.length, 'email' in body ? 1 : 0);
      const pair = await signIn(service, device, asked);
      assert.deepEqual(Object.keys(pair.json).sort(), ['access_token', 'refresh_token']);
      const { sub, amr, email_verified, email } = claimsOf(pair.json.access_token);
      assert.deepEqual([sub, amr], [enrolled.user_id, ['hwk', 'user']]);
      assert.deepEqual([email_verified, email], [false, undefined]);
    }
  });

  test('amr says how the authenticator verified the user', async (context) => {
    const service = await startService(context, world);
    const cases: [Parameters<typeof authenticator>[0], string[]][] = [
      [{ verifiesUser: false }, ['hwk']],
      [{ verifiesUser: true, backupEligible: true, backedUp: true }, ['swk', 'user']],
    ];
    for (const [index, [options, amr]] of cases.entries()) {
      const device = authenticator(options);
      const { access_token, credential } = await registered(service, device, `amr${index}@example.com`);
      assert.deepEqual(claimsOf(access_token).amr, amr);
      assert.equal(credential.backed_up, options?.backedUp ?? false);
      assert.deepEqual(claimsOf((await signIn(service, device)).json.access_token).amr, amr);
    }
  });

  test('the well-known addresses say where passkeys work and are managed', async (context) => {
    const environment = {
      PASSWORDLESS_WEBAUTHN_ORIGIN: 'http://localhost:3003, https://app.localhost,android:apk-key-hash:AAAA',
      PASSWORDLESS_WEBAUTHN_RP_ID: 'localhost',
    };
    const service = await startService(context, world, { environment });
    const related = (await service.get('/.well-known/webauthn')).json;
    assert.deepEqual(related, { origins: ['http://localhost:3003', 'https://app.localhost'] });
    const account = 'http://localhost:3003/';
    const endpoints = (await service.get('/.well-known/passkey-endpoints')).json;
    assert.deepEqual(endpoints, { enroll: account, manage: account });
    const device = authenticator({ origin: 'https://app.localhost' });
    await registered(service, device, alice);
    assert.equal((await signIn(service, device)).status, 200);
  });

  test('refuses to start as a relying party that no browser accepts', async (context) => {
    const wrong: [string, string][] = [
      ['PASSWORDLESS_WEBAUTHN_RP_ID', 'https://example.com'],
      ['PASSWORDLESS_WEBAUTHN_RP_ID', 'Example.com'],
      ['PASSWORDLESS_WEBAUTHN_ORIGIN', 'example.com'],
      ['PASSWORDLESS_WEBAUTHN_ORIGIN', 'https://example.com/path'],
      ['PASSWORDLESS_WEBAUTHN_ORIGIN', 'https://localhost:3003,https://evil.example/x'],
    ];
    for (const [name, value] of wrong) {
      await assert.rejects(
        startService(context, world, { environment: { [name]: value } }),
        new RegExp(name),
      );
    }
    const environment = {
      PASSWORDLESS_WEBAUTHN_RP_ID: 'example.com',
      PASSWORDLESS_WEBAUTHN_ORIGIN: 'https://example.org',
    };
    await assert.rejects(
      startService(context, world, { environment }),
      /must hold an origin at example\.com/,
    );
  });

  test('accepts keys of each offered algorithm', async (context) => {
    const service = await startService(context, world);
    for (const algorithm of [-7, -8, -257] as const) {
      const device = authenticator({ algorithm });
      const { user_id } = await registered(service, device, alice);
      assert.equal(claimsOf((await signIn(service, device)).json.access_token).sub, user_id);
      refused(await signIn(service, device, undefined, { signature: 'AAAA' }), 401, 'VERIFICATION_FAILED');
    }
  });

  test('with a token, the passkey is for its user, and one device cannot add it twice', async (context) => {
    const service = await startService(context, world);
    const { access_token } = await service.signIn(alice);
    const { sub } = claimsOf(access_token);
    const laptop = authenticator();
    const first = await register(service, laptop, {
      email: alice,
      token: access_token,
      name: '  Work \n laptop ',
    });
    assert.equal(first.json.user_id, sub);
    assert.equal(first.json.credential.name, 'Work laptop');
    const again = (await service.post('/webauthn/register/options', { email: alice }, access_token)).json;
    assert.deepEqual(again.excludeCredentials, [
      { type: 'public-key', id: laptop.credentialId, transports: ['internal', 'hybrid'] },
    ]);
    assert.deepEqual(claimsOf((await signIn(service, laptop)).json.access_token).email, alice);
    assert.equal(
      (await service.mails(alice)).filter(({ kind }) => kind === 'security:passkey-added').length,
      1,
    );
  });

  test('with a token for another address, an old or an invalid one, no registration begins', async (context) => {
    const service = await startService(context, world);
    const { access_token } = await service.signIn(alice);
    const begin = (email: string, token: string) =>
      service.post('/webauthn/register/options', { email }, token);
    refused(await begin(bob, access_token), 403, 'EMAIL_MISMATCH');
    refused(await begin(alice, 'x'), 401, 'INVALID_TOKEN');
    service.clock.advance(600_001);
    refused(await begin(alice, access_token), 401, 'REAUTH_REQUIRED');
    service.clock.advance(600_000);
    refused(await begin(alice, access_token), 401, 'TOKEN_EXPIRED');
  });

  test('malformed requests are refused', async (context) => {
    const service = await startService(context, world);
    const wrong: [string, unknown, string][] = [
      ['register/options', {}, 'INVALID_INPUT'],
      ['register/options', { email: 7 }, 'INVALID_INPUT'],
      ['register/options', { email: 'alice' }, 'INVALID_EMAIL'],
      ['register/complete', { pending_id: 'x' }, 'INVALID_INPUT'],
      ['register/complete', { pending_id: 7, response: {} }, 'INVALID_INPUT'],
      ['login/options', { email: null }, 'INVALID_INPUT'],
      ['login/options', { email: '@' }, 'INVALID_EMAIL'],
      ['login/complete', { pending_id: 'x', response: { id: 'x' } }, 'INVALID_INPUT'],
      ['login/complete', '{', 'INVALID_INPUT'],
    ];
    for (const [path, body, code] of wrong) refused(await service.post(`/webauthn/${path}`, body), 400, code);
    const device = authenticator();
    const options = (await service.post('/webauthn/register/options', { email: alice })).json;
    const response = device.create(options);
    const { id } = response;
    for (const broken of [
      { ...response, id: `${id}=` },
      { ...response, type: 'password' },
      { ...response, response: { ...response.response, attestationObject: 'not base64url!' } },
    ]) {
      const answer = await service.post('/webauthn/register/complete', {
        pending_id: options.pending_id,
        response: broken,
      });
      refused(answer, 400, 'INVALID_INPUT');
    }
    const deep = Buffer.alloc(40_000, 0x81).toString('base64url');
    const nested = { ...response, response: { ...response.response, attestationObject: deep } };
    const body = { pending_id: options.pending_id, response: nested };
    refused(await service.post('/webauthn/register/complete', body), 400, 'VERIFICATION_FAILED');
    for (const pending_id of ['x', '0b1a2f9e-6f52-4c0d-8a3f-2f1f0c1d7e55', "' or 1=1 --"]) {
      refused(
        await service.post('/webauthn/register/complete', { pending_id, response }),
        400,
        'INVALID_CEREMONY',
      );
    }
  });

  test('a passkey is listed, renamed and removed by its owner only', async (context) => {
    const service = await startService(context, world);
    const { access_token: hers } = await service.signIn(alice);
    const { access_token: his } = await service.signIn(bob);
    const device = authenticator();
    await register(service, device, { email: alice, token: hers });
    const path = `/webauthn/credentials/${device.credentialId}`;
    assert.equal((await service.get('/webauthn/credentials', hers)).json.credentials[0].last_used_at, null);
    service.clock.advance(1_000);
    await signIn(service, device);
    const { credentials } = (await service.get('/webauthn/credentials', hers)).json;
    assert.deepEqual(credentials, [
      {
        id: device.credentialId,
        name: 'This device',
        created_at: new Date(service.clock.now() - 1_000).toISOString(),
        transports: ['internal', 'hybrid'],
        backed_up: false,
        last_used_at: new Date(service.clock.now()).toISOString(),
      },
    ]);
    assert.deepEqual((await service.get('/webauthn/credentials', his)).json, { credentials: [] });
    const rename = (token: string | undefined, name: unknown) =>
      service.call('PATCH', path, { body: { name }, token });
    assert.equal((await rename(hers, 'Yubikey')).json.name, 'Yubikey');
    refused(await rename(his, 'Mine'), 404, 'NOT_FOUND');
    refused(await rename(undefined, 'Mine'), 401, 'MISSING_TOKEN');
    for (const name of ['', ' ', '\u3164\u2800', 7, 'x'.repeat(65)])
      refused(await rename(hers, name), 400, 'INVALID_INPUT');
    const remove = (token?: string) => service.call('DELETE', path, { token });
    refused(await remove(), 401, 'MISSING_TOKEN');
    refused(await remove(his), 404, 'NOT_FOUND');
    assert.equal((await remove(hers)).status, 200);
    refused(await remove(hers), 404, 'NOT_FOUND');
    refused(await signIn(service, device), 401, 'VERIFICATION_FAILED');
    assert.equal(
      (await service.mails(alice)).filter(({ kind }) => kind === 'security:passkey-removed').length,
      1,
    );
  });

  test('the last sign-in method cannot be removed, and removing requires a recent sign-in', async (context) => {
    const service = await startService(context, world);
    const [first, second] = [authenticator(), authenticator()];
    const { access_token: token } = await registered(service, first, alice);
    const remove = (id: string) => service.call('DELETE', `/webauthn/credentials/${id}`, { token });
    refused(await remove(first.credentialId), 409, 'LAST_FACTOR');
    await register(service, second, { email: alice, token });
    const answers = await Promise.all([first, second].map(({ credentialId }) => remove(credentialId)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
    service.clock.advance(600_001);
    refused(await remove(first.credentialId), 401, 'REAUTH_REQUIRED');
  });

  test('a user has at most ten passkeys, also if they are added at once', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const add = () => register(service, authenticator(), { email: alice, token });
    for (let count = 0; count < 8; count++) assert.equal((await add()).status, 200);
    const answers = await Promise.all([add(), add(), add(), add()]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 409, 409]);
    refused(await add(), 409, 'TOO_MANY_CREDENTIALS');
    const options = (await service.post('/webauthn/login/options', { email: alice })).json;
    assert.equal(options.allowCredentials.length, 10);
  });

  test('a ceremony can begin in one process and complete in another, once', async (context) => {
    const service = await startService(context, world);
    const beside = await startService(context, world, { beside: service });
    const device = authenticator({ counts: true });
    const making = (await service.post('/webauthn/register/options', { email: alice })).json;
    const made = { pending_id: making.pending_id, response: device.create(making) };
    const registrations = await Promise.all(
      [service, beside, service, beside].map((each) => each.post('/webauthn/register/complete', made)),
    );
    assert.deepEqual(registrations.map(({ status }) => status).toSorted(), [200, 400, 400, 400]);
    const asked = (await beside.post('/webauthn/login/options', { email: alice })).json;
    const answer = { pending_id: asked.pending_id, response: device.get(asked) };
    const signIns = await Promise.all(
      [service, beside, service, beside].map((each) => each.post('/webauthn/login/complete', answer)),
    );
    assert.deepEqual(signIns.map(({ status }) => status).toSorted(), [200, 400, 400, 400]);
    const clones = [device, device.clone(), device.clone(), device.clone()];
    const raced = await Promise.all(clones.map((each, index) => signIn(index % 2 ? beside : service, each)));
    assert.deepEqual(raced.map(({ status }) => status).toSorted(), [200, 401, 401, 401]);
  });

  test('ceremonies are limited per client', async (context) => {
    const environment = { PASSWORDLESS_LIMIT_ENROLL_PER_IP: '2', PASSWORDLESS_LIMIT_VERIFY_PER_IP: '3' };
    const service = await startService(context, world, { environment });
    const device = authenticator();
    await registered(service, device, alice);
    await registered(service, authenticator(), bob);
    const third = await service.post('/webauthn/register/options', { email: 'x@example.com' });
    refused(third, 429, 'RATE_LIMITED');
    assert.ok(Number(third.headers.get('retry-after')) > 0);
    assert.equal((await signIn(service, device)).status, 200);
    refused(await signIn(service, device), 429, 'RATE_LIMITED');
    service.clock.advance(600_000);
    assert.equal((await signIn(service, device)).status, 200);
  });

  test('a passkey with the longest id can be managed', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const credentialId = Buffer.alloc(1_023, 7).toString('base64url');
    await register(service, authenticator(), { email: alice, token, forgery: { credentialId } });
    const path = `/webauthn/credentials/${credentialId}`;
    assert.equal((await service.call('PATCH', path, { body: { name: 'Key' }, token })).json.id, credentialId);
    const tooLong = { credentialId: Buffer.alloc(1_024, 7).toString('base64url') };
    const refusal = await register(service, authenticator(), { email: alice, token, forgery: tooLong });
    refused(refusal, 400, 'INVALID_INPUT');
  });

  test('a credential id can be registered once', async (context) => {
    const service = await startService(context, world);
    const device = authenticator();
    await registered(service, device, alice);
    const { access_token: token } = await service.signIn(bob);
    const forgery = { credentialId: device.credentialId };
    refused(
      await register(service, authenticator(), { email: bob, token, forgery }),
      409,
      'CREDENTIAL_EXISTS',
    );
  });

  test('an address without passkeys gets a decoy that looks real and is always the same', async (context) => {
    const service = await startService(context, world);
    const asked = async (email: string) => (await service.post('/webauthn/login/options', { email })).json;
    const [once, twice] = [await asked(alice), await asked(alice)];
    assert.deepEqual(once.allowCredentials, twice.allowCredentials);
    assert.notDeepEqual(once.allowCredentials, (await asked(bob)).allowCredentials);
    await registered(service, authenticator(), bob);
    const [real, unknown] = [await asked(bob), await asked(alice)];
    assert.deepEqual(Object.keys(unknown), Object.keys(real));
    assert.deepEqual(Object.keys(unknown.allowCredentials[0]), Object.keys(real.allowCredentials[0]));
    const decoys = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const { id, transports } = (await asked(`nobody${index}@example.com`)).allowCredentials[0];
        return `${Buffer.from(id, 'base64url').length} ${transports}`;
      }),
    );
    assert.ok(new Set(decoys).size >= 4, `forms of decoys: ${[...new Set(decoys)]}`);
    const device = authenticator();
    await registered(service, device, charlie);
    refused(await signIn(service, device, { ...once, allowCredentials: [] }), 401, 'VERIFICATION_FAILED');
  });

  test('the id of a decoy is refused like one that exists', async (context) => {
    const service = await startService(context, world);
    const addresses = Array.from({ length: 10 }, (_, index) => `nobody${index}@example.com`);
    const ids = await Promise.all(
      addresses.map(async (email): Promise<string> => {
        const { allowCredentials } = (await service.post('/webauthn/login/options', { email })).json;
        return allowCredentials[0].id;
      }),
    );
    const taken = authenticator();
    await registered(service, taken, alice);
    const attempt = async (from: TestService, credentialId: string) => {
      const made = await register(from, authenticator(), { email: bob, forgery: { credentialId } });
      refused(made, 409, 'CREDENTIAL_EXISTS');
      return made.json;
    };
    const expected = await attempt(service, taken.credentialId);
    for (const id of ids) assert.deepEqual(await attempt(service, id), expected);
    const environment = {
      PASSWORDLESS_JWT_SECRET: 'a new secret, as long as the one that it replaces',
      PASSWORDLESS_JWT_SECRET_PREVIOUS: secret,
    };
    const rotated = await startService(context, world, { environment, beside: service });
    assert.deepEqual(await attempt(rotated, ids[0] ?? ''), expected);
  });
});
