import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { errorOf, inTestMode, openStore, startAuthz } from './testing.ts';
import { enroll, failure, home, password, startWithApp, stepMs } from './testing-totp.ts';

const minuteMs = 60_000;

await inTestMode((world) => {
  test('five wrong codes in 15 minutes from one network, twenty in an hour from all, at two replicas', async (context) => {
    const first = await startWithApp(context, world);
    const second = await startAuthz(context, world, { beside: first });
    const { client, clock, uid, app } = first;
    clock.advance(2 * stepMs);
    const guess = (from: string, at = client) => at.verifyTotp({ ...app.wrong(uid), remoteAddress: from });
    const errors = await Promise.all(
      Array.from({ length: 12 }, (_, index) => errorOf(guess(home, index % 2 ? client : second.client))),
    );
    assert.equal(errors.filter(({ reason }) => reason === 'INVALID_CODE').length, 5);
    assert.equal(errors.filter(({ code }) => code === 'rate_limited').length, 7);
    // The correct code is refused from that network, and works from another.
    const limited = await errorOf(client.verifyTotp(app.check(uid)));
    assert.deepEqual([limited.code, limited.retryAfterSeconds], ['rate_limited', 900]);
    await client.verifyTotp({ ...app.check(uid), remoteAddress: '192.0.2.2' });

    for (let index = 0; index < 15; index++) {
      assert.equal((await errorOf(guess(`198.51.100.${index}`))).reason, 'INVALID_CODE');
    }
    clock.advance(10 * minuteMs);
    const fromAll = await errorOf(client.verifyTotp({ ...app.check(uid), remoteAddress: '203.0.113.1' }));
    assert.deepEqual([fromAll.code, fromAll.retryAfterSeconds], ['rate_limited', 3_000]);
    clock.advance(50 * minuteMs);
    await client.verifyTotp(app.check(uid));
  });

  test('a correct code clears the failures of its own network', async (context) => {
    const { client, clock, uid, app } = await startWithApp(context, world);
    const elsewhere = { ...app.wrong(uid), remoteAddress: '192.0.2.2' };
    for (let round = 0; round < 4; round++) {
      for (let index = 0; index < 4; index++) await errorOf(client.verifyTotp(app.wrong(uid)));
      await errorOf(client.verifyTotp({ ...elsewhere, code: app.wrong(uid).code }));
      clock.advance(stepMs);
      await client.verifyTotp(app.check(uid));
    }
    await errorOf(client.verifyTotp({ ...elsewhere, code: app.wrong(uid).code }));
    assert.equal((await errorOf(client.verifyTotp(elsewhere))).code, 'rate_limited');
  });

  test('after a hundred wrong codes in a row none works until an administrator resets the factor', async (context) => {
    const started = await startWithApp(context, world);
    const { client, clock, uid, app } = started;
    for (let hour = 0; hour < 5; hour++) {
      for (let index = 0; index < 20; index++) {
        const from = `198.51.100.${index}`;
        const { reason } = await errorOf(client.verifyTotp({ ...app.wrong(uid), remoteAddress: from }));
        assert.equal(reason, hour === 4 && index === 19 ? 'TOTP_LOCKED' : 'INVALID_CODE');
      }
      clock.advance(60 * minuteMs);
    }
    const expected = ['precondition_failed', 'TOTP_LOCKED'];
    assert.deepEqual(await failure(client.verifyTotp(app.check(uid))), expected);
    assert.deepEqual(await failure(client.disableTotp(app.check(uid))), expected);
    // The password does not unlock it: an attacker who guesses codes has it.
    await client.login({ username: 'alice', password, remoteAddress: home });
    clock.advance(24 * 60 * minuteMs);
    assert.deepEqual(await failure(client.verifyTotp(app.check(uid))), expected);
    await client.resetTotp({ username: 'alice' });
    const again = await enroll(client, { uid, clock });
    await client.confirmTotp(again.check(uid));
  });

  test('a correct code ends the row of wrong ones', async (context) => {
    const { client, clock, uid, app, dataFolder } = await startWithApp(context, world);
    await using database = await openStore(dataFolder, world);
    await database.kysely.updateTable('totp').set({ failures: 99 }).execute();
    clock.advance(stepMs);
    await client.verifyTotp(app.check(uid));
    const [totp] = await database.kysely.selectFrom('totp').selectAll().execute();
    assert.equal(totp?.failures, 0);
  });

  test('a clock that was ahead does not lock anybody out for longer than the difference', async (context) => {
    const { client, clock, uid, app } = await startWithApp(context, world);
    const beforeMs = clock.now();
    clock.advance(2 * 60 * minuteMs);
    for (let index = 0; index < 5; index++) await errorOf(client.verifyTotp(app.wrong(uid)));
    assert.equal((await errorOf(client.verifyTotp(app.check(uid)))).code, 'rate_limited');
    clock.set(beforeMs + stepMs);
    await client.verifyTotp(app.check(uid));
  });

  test('old failures are swept away', async (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] });
    const { client, clock, uid, app, dataFolder } = await startWithApp(context, world);
    await errorOf(client.verifyTotp(app.wrong(uid)));
    clock.advance(60 * minuteMs);
    await errorOf(client.verifyTotp(app.wrong(uid)));
    await using database = await openStore(dataFolder, world);
    const failures = () => database.kysely.selectFrom('totp_failure').selectAll().execute();
    assert.equal((await failures()).length, 2);
    context.mock.timers.tick(minuteMs);
    const signal = AbortSignal.timeout(5_000);
    while ((await failures()).length > 1) await setImmediate(undefined, { signal });
  });
});
