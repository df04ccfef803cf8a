import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { processorMs } from '@octavo/testing';
import { assertError, password, startTokens } from '../testing.ts';
import { newPassword, startMailing } from './testing.ts';

const requested = { message: 'If the address belongs to an account, a mail with a link is on its way.' };

const mailing = startMailing();
const { mailsTo, register } = mailing;

/** Time in which a mail would have come. */
const quiet = () => delay(300);

async function forgotten(email: string, count: number): Promise<string> {
  const { status, json } = await mailing.service.post('/auth/forgot-password', { email });
  assert.deepEqual([status, json], [200, requested]);
  return (await mailsTo(email, count)).at(-1)?.token ?? '';
}

const reset = (token: unknown, given: unknown = newPassword) =>
  mailing.service.post('/auth/reset-password', { token, newPassword: given });

describe('a password reset', () => {
  test('sets a new password by a mailed link, ends all sessions and tells the owner', async () => {
    const { email, pair } = await register();
    const other = await mailing.service.login(email);
    const token = await forgotten(email, 2);
    const [, mail] = await mailsTo(email, 2);
    assert.equal(mail?.subject, 'Octavo Accounts: Reset your password');
    assert.match(mail?.text ?? '', /works once, and expires in 30 minutes/);
    assert.ok(mail?.html.includes(`href="https://accounts.example/reset-password?token=${token}"`));
    const { status, json } = await reset(token);
    assert.deepEqual([status, json], [200, { message: 'Password reset successfully' }]);
    for (const { accessToken, refreshToken } of [pair, other]) {
      assertError(await mailing.service.get('/auth/me', accessToken), 401, 'INVALID_TOKEN');
      assertError(await mailing.service.post('/auth/refresh', { refreshToken }), 401, 'INVALID_TOKEN');
    }
    assertError(await mailing.service.post('/auth/login', { email, password }), 401, 'INVALID_CREDENTIALS');
    const { accessToken } = await mailing.service.login(email, newPassword);
    const [, , notice] = await mailsTo(email, 3);
    assert.equal(notice?.subject, 'Octavo Accounts: Your password was changed');
    assert.match(notice?.text ?? '', /https:\/\/accounts\.example\/forgot-password/);
    // The link reached the owner, so the address is theirs.
    assert.deepEqual((await mailing.service.get('/auth/email', accessToken)).json, { email, verified: true });
  });

  test('works once, also of many at once, and replaces other links', async () => {
    const { email } = await register();
    const older = await forgotten(email, 2);
    const token = await forgotten(email, 3);
    const racing = await Promise.all(
      Array.from({ length: 6 }, (_, index) => reset(token, `${newPassword} ${index}`)),
    );
    const winners = racing.filter(({ status }) => status === 200);
    assert.equal(winners.length, 1);
    for (const lost of racing.filter(({ status }) => status !== 200)) assertError(lost, 401, 'INVALID_TOKEN');
    assertError(await reset(older), 401, 'INVALID_TOKEN');
    await mailing.service.login(email, `${newPassword} ${racing.findIndex(({ status }) => status === 200)}`);
  });

  test('is not spent by a weak password, and expires', async () => {
    const { email } = await register();
    const token = await forgotten(email, 2);
    assertError(await reset(token, 'password'), 400, 'WEAK_PASSWORD');
    assertError(await reset(token, email), 400, 'WEAK_PASSWORD');
    const late = await forgotten(email, 3);
    mailing.service.clock.advance(1_799_000);
    assert.equal((await reset(token)).status, 200);
    assertError(await reset(late), 401, 'INVALID_TOKEN');
    const last = await forgotten(email, 5);
    mailing.service.clock.advance(1_800_000);
    assertError(await reset(last), 401, 'TOKEN_EXPIRED');
  });

  test('is voided by a new password, a new address and the end of the account', async () => {
    const changes: [string, string, object][] = [
      ['POST', '/auth/change-password', { currentPassword: password, newPassword }],
      ['PUT', '/auth/email', { newEmail: `moved${Date.now()}@example.com`, password }],
      ['DELETE', '/auth/account', { password }],
    ];
    for (const [method, path, body] of changes) {
      const { email, pair } = await register();
      const token = await forgotten(email, 2);
      const { status } = await mailing.service.call(method, path, { body, token: pair.accessToken });
      assert.equal(status, 200, path);
      assertError(await reset(token), 401, 'INVALID_TOKEN');
    }
  });

  test('unlocks the account, and of malformed requests says what is wrong', async () => {
    const { email } = await register();
    for (let n = 0; n < 6; n++)
      await mailing.service.post('/auth/login', { email, password: 'wrong wrong wrong' });
    assertError(await mailing.service.post('/auth/login', { email, password }), 423, 'ACCOUNT_LOCKED');
    const token = await forgotten(email, 2);
    for (const wrong of [undefined, '', 7, null, 'x'.repeat(513)])
      assertError(await reset(wrong), 400, 'INVALID_INPUT');
    assertError(await reset(token, ''), 400, 'INVALID_INPUT');
    assertError(await reset('x'.repeat(43)), 401, 'INVALID_TOKEN');
    for (const email of [undefined, '', 7, null])
      assertError(await mailing.service.post('/auth/forgot-password', { email }), 400, 'INVALID_INPUT');
    assert.equal((await reset(token)).status, 200);
    await mailing.service.login(email, newPassword);
  });

  test('says the same of unknown and invalid addresses, and sends no mail', async () => {
    const strangers = ['nobody@example.com', 'no address', 'a@b.example\r\nBcc: evil@example.com'];
    for (const email of strangers) {
      const { status, json } = await mailing.service.post('/auth/forgot-password', { email });
      assert.deepEqual([status, json], [200, requested]);
    }
    await quiet();
    assert.ok(!mailing.sink.caught.some(({ to }) => /nobody|evil|b\.example/.test(to.join())));
  });

  test('takes as long for unknown addresses', async () => {
    const { email } = await register();
    const timed = (given: string) =>
      processorMs(() => mailing.service.post('/auth/forgot-password', { email: given }));
    const [known, unknown]: [number[], number[]] = [[], []];
    for (let round = 0; round < 60; round++) {
      // A mail each time, within the limit of an hour.
      mailing.service.clock.advance(720_000);
      known.push(await timed(email));
      unknown.push(await timed('nobody2@example.com'));
    }
    // Of the lesser ones, beside which nothing else was computed.
    const typical = (times: number[]) => times.sort((one, other) => one - other)[6] ?? 0;
    assert.ok(Math.abs(typical(known) - typical(unknown)) < 5, `${typical(known)} ${typical(unknown)} ms`);
  });

  test('is mailed to an address a few times an hour', async () => {
    const { email } = await register();
    for (let n = 0; n < 8; n++) await mailing.service.post('/auth/forgot-password', { email });
    await mailsTo(email, 6);
    await quiet();
    assert.equal((await mailsTo(email, 6)).length, 6);
    mailing.service.clock.advance(3_600_000);
    assert.notEqual(await forgotten(email, 7), '');
  });

  test('goes by the address in the account, and names no host of the request', async () => {
    const { email } = await register();
    const { status } = await mailing.service.call('POST', '/auth/forgot-password', {
      body: { email: email.toUpperCase() },
      headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
    });
    assert.equal(status, 200);
    const mail = (await mailsTo(email, 2)).at(-1);
    assert.ok(mail && !`${mail.text}${mail.html}`.includes('evil'));
    assert.ok(!mailing.service.lines.some((line) => JSON.stringify(line).includes(mail.token)));
  });
});

describe('verification of an address', () => {
  const stateOf = async (token: string) => (await mailing.service.get('/auth/email', token)).json;

  test('works once by a mailed link, and does not block before', async () => {
    const { email, pair, verification } = await register();
    assert.deepEqual(await stateOf(pair.accessToken), { email, verified: false });
    assert.deepEqual(Object.keys((await mailing.service.get('/auth/me', pair.accessToken)).json), [
      'id',
      'email',
      'createdAt',
    ]);
    // Each link is for its own purpose.
    assertError(await reset(verification), 401, 'INVALID_TOKEN');
    const use = () => mailing.service.post('/auth/verify-email', { token: verification });
    assert.deepEqual((await use()).json, { message: 'Email verified successfully' });
    assertError(await use(), 401, 'INVALID_TOKEN');
    assert.deepEqual(await stateOf(pair.accessToken), { email, verified: true });
    assert.equal(
      (await mailing.service.post('/auth/send-verification', undefined, pair.accessToken)).status,
      200,
    );
    await quiet();
    assert.equal((await mailsTo(email, 1)).length, 1);
  });

  test('can be asked for again, and only with a token', async () => {
    const { email, pair } = await register();
    assertError(await mailing.service.post('/auth/send-verification'), 401, 'MISSING_TOKEN');
    assertError(await mailing.service.get('/auth/email'), 401, 'MISSING_TOKEN');
    await mailing.service.post('/auth/send-verification', undefined, pair.accessToken);
    const [, { token } = { token: '' }] = await mailsTo(email, 2);
    assert.equal((await mailing.service.post('/auth/verify-email', { token })).status, 200);
  });

  test('starts again with a new address, and tells the old one', async () => {
    const { email, pair, verification } = await register();
    await mailing.service.post('/auth/verify-email', { token: verification });
    const newEmail = `new-${email}`;
    const change = { body: { newEmail, password }, token: pair.accessToken };
    assert.equal((await mailing.service.call('PUT', '/auth/email', change)).status, 200);
    const [, notice] = await mailsTo(email, 2);
    assert.equal(notice?.subject, 'Octavo Accounts: Your e-mail address was changed');
    assert.deepEqual(await stateOf(pair.accessToken), { email: newEmail, verified: false });
    const [{ token } = { token: '' }] = await mailsTo(newEmail, 1);
    assert.equal((await mailing.service.post('/auth/verify-email', { token })).status, 200);
    assert.deepEqual(await stateOf(pair.accessToken), { email: newEmail, verified: true });
  });

  test('gives no tokens before, where that is set', async () => {
    const required = { ...mailing.settings, EMAIL_VERIFICATION: 'required' };
    await using strict = await startTokens({ environment: required });
    const email = 'strict@example.com';
    const registered = await strict.post('/auth/register', { email, password });
    assert.equal(registered.status, 202);
    assert.deepEqual(Object.keys(registered.json), ['message']);
    assertError(await strict.post('/auth/login', { email, password }), 403, 'EMAIL_NOT_VERIFIED');
    assertError(
      await strict.post('/auth/login', { email, password: 'wrong wrong wrong' }),
      401,
      'INVALID_CREDENTIALS',
    );
    const mails = await mailsTo(email, 2);
    assert.equal((await strict.post('/auth/verify-email', { token: mails[0]?.token })).status, 200);
    await strict.login(email);
  });
});
