import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fullWidth } from '@octavo/testing/sign-in';
import { errorOf, inTestMode, openStore, startAuthz, type World } from './testing.ts';
import {
  App,
  enroll,
  failure,
  home,
  password,
  startWithAlice,
  startWithApp,
  stepMs,
} from './testing-totp.ts';

const minuteMs = 60_000;

await inTestMode((world) => {
  test('an app is enrolled, confirmed, used and disabled', async (context) => {
    const { client, clock, uid } = await startWithAlice(context, world);
    const isEnabled = async () => (await client.getAccount({ uid })).account?.totpEnabled;
    const { secret, otpauthUrl } = await client.enrollTotp({ uid, password, remoteAddress: home });
    assert.match(secret, /^[A-Z2-7]{32}$/);
    const query = 'issuer=Octavo&algorithm=SHA1&digits=6&period=30';
    assert.equal(otpauthUrl, `otpauth://totp/Octavo:Alice?secret=${secret}&${query}`);
    const app = new App({ secret, clock });
    assert.equal(await isEnabled(), false);
    assert.deepEqual(await failure(client.verifyTotp(app.check(uid))), [
      'precondition_failed',
      'TOTP_NOT_ENABLED',
    ]);

    const { account } = await client.confirmTotp(app.check(uid));
    assert.equal(account?.totpEnabled, true);
    assert.equal(
      (await client.login({ username: 'alice', password, remoteAddress: home })).account?.totpEnabled,
      true,
    );
    const listed = (await client.listAccounts({})).accounts.map(({ totpEnabled }) => totpEnabled);
    assert.deepEqual(listed, [false, false, false, true]);

    clock.advance(stepMs);
    const [left, right] = [app.code().slice(0, 3), app.code().slice(3)];
    await client.verifyTotp({ uid, code: ` ${left} ${right} `, remoteAddress: home });
    clock.advance(stepMs);
    await client.verifyTotp({ uid, code: fullWidth(app.code()), remoteAddress: home });
    clock.advance(stepMs);
    assert.equal((await client.disableTotp(app.check(uid))).account?.totpEnabled, false);
    assert.equal(await isEnabled(), false);
    for (const call of [client.verifyTotp, client.disableTotp]) {
      assert.deepEqual(await failure(call(app.check(uid))), ['precondition_failed', 'TOTP_NOT_ENABLED']);
    }
  });

  test('enrolling needs the password, and a new secret replaces a pending one only', async (context) => {
    const { client, clock, uid } = await startWithAlice(context, world);
    const start = (given = password) => client.enrollTotp({ uid, password: given, remoteAddress: home });
    assert.deepEqual(await failure(start('wrong')), ['unauthenticated', 'INVALID_CREDENTIALS']);
    assert.deepEqual((await errorOf(start(''))).fields, { password: 'is required' });
    const first = new App({ ...(await start()), clock });
    const second = new App({ ...(await start()), clock });
    assert.deepEqual(await failure(client.confirmTotp(first.check(uid))), [
      'unauthenticated',
      'INVALID_CODE',
    ]);
    await client.confirmTotp(second.check(uid));
    assert.deepEqual(await failure(start()), ['conflict', 'TOTP_ENABLED']);
    clock.advance(stepMs);
    assert.deepEqual(await failure(client.confirmTotp(second.check(uid))), ['conflict', 'TOTP_ENABLED']);
    await client.verifyTotp(second.check(uid));
  });

  test('a pending secret must be confirmed within 15 minutes', async (context) => {
    const { client, clock, uid } = await startWithAlice(context, world);
    const nothing = { uid, code: '123456', remoteAddress: home };
    assert.deepEqual(await failure(client.confirmTotp(nothing)), ['precondition_failed', 'TOTP_NOT_PENDING']);
    const app = await enroll(client, { uid, clock });
    clock.advance(15 * minuteMs);
    assert.deepEqual(await failure(client.confirmTotp(app.check(uid))), [
      'precondition_failed',
      'TOTP_NOT_PENDING',
    ]);
    const again = await enroll(client, { uid, clock });
    clock.advance(15 * minuteMs - 1);
    await client.confirmTotp(again.check(uid));
  });

  test('a code works once, also the one that confirmed, and none of an earlier step', async (context) => {
    const { client, clock, uid, app } = await startWithApp(context, world);
    for (const offset of [0, -1]) {
      assert.deepEqual(await failure(client.verifyTotp(app.check(uid, offset))), [
        'unauthenticated',
        'INVALID_CODE',
      ]);
    }
    await client.verifyTotp(app.check(uid, 1));
    assert.equal((await errorOf(client.verifyTotp(app.check(uid, 1)))).reason, 'INVALID_CODE');
    // No failure: the sixth and later replays are still told that the code was used.
    for (let replay = 0; replay < 10; replay++) {
      assert.equal((await errorOf(client.verifyTotp(app.check(uid)))).code, 'unauthenticated');
    }
    clock.advance(2 * stepMs);
    await client.verifyTotp(app.check(uid));
  });

  test('of a hundred with the same code at once, at two replicas, one succeeds', async (context) => {
    const first = await startWithApp(context, world);
    const second = await startAuthz(context, world, { beside: first });
    const { clock, uid, app } = first;
    clock.advance(stepMs);
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 ? first : second).client.verifyTotp(app.check(uid)),
      ),
    );
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.reason] : []));
    assert.deepEqual(new Set(reasons), new Set(['INVALID_CODE']));
    clock.advance(stepMs);
    await first.client.verifyTotp(app.check(uid));
  });

  test('malformed codes are named, and do not count', async (context) => {
    const { client, clock, uid, app } = await startWithApp(context, world);
    const codes = ['', '12345', '1234567', 'abcdef', '１２３４５', '123\u0000456', '1'.repeat(1_000_000)];
    for (const code of codes) {
      for (const call of [client.verifyTotp, client.confirmTotp, client.disableTotp]) {
        const error = await errorOf(call({ uid, code, remoteAddress: home }));
        assert.deepEqual([error.code, error.fields], ['validation_failed', { code: 'must be 6 digits' }]);
      }
    }
    clock.advance(stepMs);
    await client.verifyTotp(app.check(uid));
  });

  test('unknown and disabled accounts have no factor to use', async (context) => {
    const { client, clock, uid, app } = await startWithApp(context, world);
    await client.updateAccount({ username: 'alice', disabled: true });
    clock.advance(stepMs);
    assert.deepEqual(await failure(client.verifyTotp(app.check(uid))), ['forbidden', 'DISABLED']);
    assert.deepEqual(await failure(client.enrollTotp({ uid, password, remoteAddress: home })), [
      'forbidden',
      'DISABLED',
    ]);
    await client.updateAccount({ username: 'alice', disabled: false });
    await client.verifyTotp(app.check(uid));
    for (const unknown of [0, -1, 99, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      assert.equal((await errorOf(client.verifyTotp(app.check(unknown)))).code, 'not_found');
      const enrollment = { uid: unknown, password, remoteAddress: home };
      assert.equal((await errorOf(client.enrollTotp(enrollment))).code, 'not_found');
    }
  });

  test('the code of another account does not work', async (context) => {
    const { client, clock, uid, app } = await startWithApp(context, world);
    const { account: bob } = await client.createAccount({ username: 'bob', password, role: 'editor' });
    const bobs = await enroll(client, { uid: bob?.uid ?? 0, clock });
    await client.confirmTotp(bobs.check(bob?.uid ?? 0));
    clock.advance(stepMs);
    assert.equal((await errorOf(client.verifyTotp(bobs.check(uid)))).reason, 'INVALID_CODE');
    await client.verifyTotp(app.check(uid));
    await client.verifyTotp(bobs.check(bob?.uid ?? 0));
  });

  test('an administrator resets the factor without a code, however often', async (context) => {
    const { client, uid, app } = await startWithApp(context, world);
    for (let round = 0; round < 2; round++) {
      const { account } = await client.resetTotp({ username: 'ALICE' });
      assert.deepEqual([account?.username, account?.totpEnabled], ['Alice', false]);
    }
    assert.equal((await errorOf(client.verifyTotp(app.check(uid, 1)))).reason, 'TOTP_NOT_ENABLED');
    assert.equal((await errorOf(client.resetTotp({ username: 'nobody' }))).code, 'not_found');
  });

  testSecret(world);
});

function testSecret(world: World): void {
  const secret = 'a secret of more than thirty-two bytes';

  test('secrets are encrypted, bound to their account, and never logged', async (context) => {
    const { client, clock, uid, app, dataFolder, logs } = await startWithApp(context, world);
    await using database = await openStore(dataFolder, world);
    const { account: bob } = await client.createAccount({ username: 'bob', password, role: 'editor' });
    const bobs = await enroll(client, { uid: bob?.uid ?? 0, clock });
    const [row] = await database.kysely.selectFrom('totp').selectAll().where('uid', '=', uid).execute();
    const stored = Buffer.from(row?.secret ?? '', 'base64url');
    assert.equal(stored.length, 12 + 20 + 16);
    assert.equal(stored.includes(app.secret), false);
    await database.kysely
      .updateTable('totp')
      .set({ secret: row?.secret, enabled: 1 })
      .where('uid', '=', bob?.uid ?? 0)
      .execute();
    for (const given of [app, bobs]) {
      assert.equal((await errorOf(client.verifyTotp(given.check(bob?.uid ?? 0)))).reason, 'TOTP_UNAVAILABLE');
    }
    const logged = JSON.stringify(logs.lines);
    for (const text of [app.secretText, bobs.secretText, app.code()]) assert.ok(!logged.includes(text));
  });

  test('a secret of the data folder outlives a restart; without it codes are unavailable', async (context) => {
    const first = await startWithApp(context, world);
    const { clock, uid, app, dataFolder } = first;
    const second = await startAuthz(context, world, { beside: first });
    clock.advance(stepMs);
    await second.client.verifyTotp(app.check(uid));
    await rm(join(dataFolder, 'authz.secret'));
    const third = await startAuthz(context, world, { beside: first });
    clock.advance(stepMs);
    const unavailable = ['unavailable', 'TOTP_UNAVAILABLE'];
    assert.deepEqual(await failure(third.client.verifyTotp(app.check(uid))), unavailable);
    await first.client.verifyTotp(app.check(uid));
    await third.client.resetTotp({ username: 'alice' });
  });

  test('production needs AUTHZ_SECRET for the factor, and for nothing else', async (context) => {
    const without = await startWithAlice(context, world, { nodeEnv: 'production' });
    const { uid, clock } = without;
    const unavailable = ['unavailable', 'TOTP_UNAVAILABLE'];
    const enrollment = { uid, password, remoteAddress: home };
    assert.deepEqual(await failure(without.client.enrollTotp(enrollment)), unavailable);
    const check = { uid, code: '123456', remoteAddress: home };
    assert.deepEqual(await failure(without.client.verifyTotp(check)), unavailable);
    await without.client.login({ username: 'alice', password, remoteAddress: home });

    const replica = () =>
      startAuthz(context, world, {
        beside: without,
        nodeEnv: 'production',
        environment: { AUTHZ_SECRET: secret },
      });
    const [first, second] = [await replica(), await replica()];
    const app = await enroll(first.client, { uid, clock });
    await second.client.confirmTotp(app.check(uid));
    await assert.rejects(
      startAuthz(context, world, { beside: without, environment: { AUTHZ_SECRET: 'short' } }),
      /AUTHZ_SECRET must be at least 32 bytes/,
    );
  });

  test('checked codes are counted', async (context) => {
    const { client, clock, uid, app, metrics } = await startWithApp(context, world);
    clock.advance(stepMs);
    await errorOf(client.verifyTotp(app.wrong(uid)));
    await client.verifyTotp(app.check(uid));
    const shown = await metrics.getSingleMetricAsString('authz_totp_codes_total');
    assert.match(shown, /\{outcome="ok"\} 2/);
    assert.match(shown, /\{outcome="INVALID_CODE"\} 1/);
  });
}
