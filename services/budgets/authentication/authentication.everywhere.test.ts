import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createLog } from '@octavo/core/log';
import { assertError, password, personOf, startBudgets } from '../testing.ts';
import { linkTokenOf, mailsTo, nextMail } from '../testing-mails.ts';

const lines: string[] = [];
const log = createLog({ service: 'budgets', destination: { write: (line) => lines.push(line) } });
const app = await startBudgets({ log });
after(() => app[Symbol.asyncDispose]());

const register = (email: string, given = password) =>
  app.send('/api/auth/register', { body: { email, password: given } });
const login = (email: string, given = password) =>
  app.send('/api/auth/login', { body: { email, password: given } });

test('a person registers, logs in, and logs out', async () => {
  const registered = await app.send('/api/auth/register', {
    body: { email: 'Ada@Example.com', password, username: 'ada' },
  });
  assert.equal(registered.status, 201, registered.text);
  const { message, user, token, ...rest } = registered.json;
  assert.deepEqual(rest, {});
  assert.equal(typeof message, 'string');
  assert.deepEqual(Object.keys(user), ['id', 'username', 'email', 'createdAt']);
  assert.equal(user.email, 'ada@example.com');
  assert.equal(user.username, 'ada');
  const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
  assert.deepEqual(Object.keys(claims).sort(), ['aud', 'exp', 'iat', 'iss', 'jti', 'sub']);
  assert.equal(claims.exp - claims.iat, 3_600);

  const { status, json } = await login('ada@example.com');
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json).sort(), ['expiresIn', 'message', 'token', 'tokenType', 'user']);
  assert.equal(json.tokenType, 'Bearer');
  assert.equal(json.expiresIn, 3_600);
  const ada = personOf(app.send, { id: user.id, email: user.email, token: json.token });
  assert.equal((await ada.get('/api/users/profile')).json.emailVerified, false);
  assert.equal((await ada.post('/api/auth/logout')).status, 200);
  assertError(await ada.get('/api/users/profile'), { status: 401, code: 'UNAUTHORIZED' });
  // The other session goes on.
  const first = personOf(app.send, { id: user.id, email: user.email, token });
  assert.equal((await first.get('/api/users/profile')).status, 200);
});

test('an invalid registration is refused, with the field', async () => {
  const send = (body: unknown) => app.send('/api/auth/register', { body });
  const cases: [unknown, string][] = [
    [{ password }, 'email'],
    [{ email: 'bob@example.com' }, 'password'],
    [{ email: 'no address', password }, 'email'],
    [{ email: 7, password }, 'email'],
    [{ email: 'bob@example.com', password: 'short' }, 'password'],
    [{ email: 'bob@example.com', password: 'password123' }, 'password'],
    [{ email: 'bob@example.com', password: '12345678' }, 'password'],
    [{ email: 'bob@example.com', password: 'my octavo password' }, 'password'],
    [{ email: 'robert@example.com', password: 'robert was here' }, 'password'],
    [{ email: 'bob@example.com', password: 'a'.repeat(129) }, 'password'],
  ];
  for (const [body, field] of cases)
    assertError(await send(body), { status: 400, code: 'VALIDATION_FAILED', field });
  assertError(await send('{'), { status: 400, code: 'INVALID_INPUT' });
});

test('an address is registered once, also by several at once', async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => register('once@example.com')));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
  const again = await register('ONCE@example.com');
  assertError(again, { status: 409, code: 'CONFLICT', field: 'email' });
});

test('a token that is missing, of another kind, altered, or expired is refused', async () => {
  const alice = await app.person();
  const path = '/api/users/profile';
  const { token } = alice;
  const [header, claims, signature] = token.split('.');
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  const headers = [
    '',
    'Bearer',
    'Basic YWxpY2U6eA==',
    'Bearer a b',
    `Bearer ${token}x`,
    `Bearer ${header}.${claims}.`,
  ];
  for (const authorization of [...headers, `Bearer ${none}.${claims}.${signature}`]) {
    const answer = await app.send(path, { headers: { authorization } });
    assertError(answer, { status: 401, code: 'UNAUTHORIZED' });
  }
  assertError(await app.send(path), { status: 401, code: 'UNAUTHORIZED' });
  assert.equal((await app.send(path)).headers.get('www-authenticate'), 'Bearer');
  app.clock.advance(3_600_000);
  assertError(await alice.get(path), { status: 401, code: 'UNAUTHORIZED' });
});

test('a wrong password and an unknown address get the same answer', async () => {
  const { email } = await app.person();
  const wrong = await login(email, 'another password');
  const unknown = await login('nobody@example.com', 'another password');
  assertError(wrong, { status: 401, code: 'UNAUTHORIZED' });
  const text = ({ json }: typeof wrong) => JSON.stringify({ ...json.error, requestId: '' });
  assert.equal(text(wrong), text(unknown));
  assertError(await login('no address'), { status: 401, code: 'UNAUTHORIZED' });
  const events = lines.map((line) => JSON.parse(line).event).filter(Boolean);
  assert.deepEqual(events.slice(-3), Array(3).fill('authn_login_fail'));
});

test('five wrong passwords lock sign-in to an address for 15 minutes, registered or not', async () => {
  for (const email of [(await app.person('locked')).email, 'nobody-at-all@example.com']) {
    for (let attempt = 0; attempt < 5; attempt++)
      assertError(await login(email, 'wrong password'), { status: 401, code: 'UNAUTHORIZED' });
    const locked = await login(email);
    assertError(locked, { status: 423, code: 'ACCOUNT_LOCKED' });
    assert.equal(locked.headers.get('retry-after'), '900');
    app.clock.advance(14 * 60_000);
    // Attempts while it is locked do not extend it.
    assertError(await login(email, 'wrong password'), { status: 423, code: 'ACCOUNT_LOCKED' });
    app.clock.advance(60_000);
    assert.notEqual((await login(email)).status, 423);
  }
});

test('parallel guesses gain nothing, and a correct password forgives', async () => {
  const { email } = await app.person('parallel');
  for (let attempt = 0; attempt < 4; attempt++) await login(email, 'wrong password');
  assert.equal((await login(email)).status, 200);
  const answers = await Promise.all(Array.from({ length: 12 }, () => login(email, 'wrong password')));
  assert.equal(answers.filter(({ status }) => status === 401).length, 5);
  assert.equal(answers.filter(({ status }) => status === 423).length, 7);
});

test('two processes share the limits of sign-ins', async () => {
  const environment = { BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE: '8' };
  await using one = await startBudgets({ environment });
  await using other = await startBudgets({ environment, beside: one });
  const guess = async (count: number, nameOf: (index: number) => string) => {
    const statuses: number[] = [];
    for (let index = 0; index < count; index++) {
      const body = { email: `${nameOf(index)}@example.com`, password: 'wrong password' };
      statuses.push((await (index % 2 ? other : one).send('/api/auth/login', { body })).status);
    }
    return statuses;
  };
  assert.deepEqual(await guess(7, () => 'victim'), [401, 401, 401, 401, 401, 423, 423]);
  for (const { clock } of [one, other]) clock.advance(60_000);
  assert.deepEqual(await guess(10, (index) => `user${index}`), [...Array(8).fill(401), 429, 429]);
});

test('the mailed link verifies the address, once, within 24 hours', async () => {
  const { json } = await register('verify@example.com');
  const person = personOf(app.send, { id: json.user.id, email: json.user.email, token: json.token });
  const token = linkTokenOf(await nextMail(app, 'verify@example.com'));
  const verify = (body: unknown) => app.send('/api/auth/verify-email', { body });
  assertError(await verify({ token: `${token}x` }), {
    status: 400,
    code: 'VALIDATION_FAILED',
    field: 'token',
  });
  assert.equal((await verify({ token })).status, 200);
  assert.equal((await person.get('/api/users/profile')).json.emailVerified, true);
  assertError(await verify({ token }), { status: 400, code: 'VALIDATION_FAILED', field: 'token' });
  assertError(await verify({}), { status: 400, code: 'VALIDATION_FAILED', field: 'token' });

  await register('late@example.com');
  const late = linkTokenOf(await nextMail(app, 'late@example.com'));
  app.clock.advance(24 * 3_600_000);
  assertError(await verify({ token: late }), { status: 400, code: 'VALIDATION_FAILED', field: 'token' });
  const again = await verify({ email: 'late@example.com' });
  const unknown = await verify({ email: 'nobody@example.com' });
  assert.equal(again.status, 200);
  assert.equal(again.text, unknown.text);
  const mails = await nextMail(app, 'late@example.com', 2);
  assert.equal((await verify({ token: linkTokenOf(mails) })).status, 200);
});

test('a password is reset by the mailed token only, which ends every session', async () => {
  const alice = await app.person('reset');
  const { email } = alice;
  await nextMail(app, email);
  const reset = (body: unknown) => app.send('/api/auth/reset-password', { body });
  const asked = await reset({ email });
  assert.equal(asked.status, 200);
  assert.equal((await reset({ email: 'nobody@example.com' })).text, asked.text);
  const token = linkTokenOf(await nextMail(app, email, 2));
  const newPassword = 'a harbor full of light';
  assertError(await reset({ email, newPassword }), {
    status: 400,
    code: 'VALIDATION_FAILED',
    field: 'token',
  });
  assertError(await reset({ token }), { status: 400, code: 'VALIDATION_FAILED', field: 'newPassword' });
  const weak = await reset({ token, newPassword: 'password123' });
  assertError(weak, { status: 400, code: 'VALIDATION_FAILED', field: 'newPassword' });
  assert.equal((await login(email)).status, 200);
  const answers = await Promise.all(Array.from({ length: 3 }, () => reset({ token, newPassword })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400]);
  assertError(await alice.get('/api/users/profile'), { status: 401, code: 'UNAUTHORIZED' });
  assertError(await login(email), { status: 401, code: 'UNAUTHORIZED' });
  assert.equal((await login(email, newPassword)).status, 200);
  await reset({ email });
  const late = linkTokenOf(await nextMail(app, email, 3));
  app.clock.advance(30 * 60_000);
  assertError(await reset({ token: late, newPassword }), { status: 400, code: 'VALIDATION_FAILED' });
});

test('an account is mailed at most five links of a kind within an hour', async () => {
  const { email } = await app.person('flood');
  for (let request = 0; request < 8; request++)
    assert.equal((await app.send('/api/auth/reset-password', { body: { email } })).status, 200);
  await nextMail(app, email, 6);
  assert.equal((await mailsTo(app, email)).length, 6);
});

test('the profile is read and changed by its owner', async () => {
  const alice = await app.person('profile');
  const path = '/api/users/profile';
  assert.equal((await alice.put(path, { username: 'Alice' })).json.username, 'Alice');
  assert.equal((await alice.put(path, {})).json.username, 'Alice');
  assert.equal((await alice.put(path, { username: null })).json.username, null);
  const email = 'new-address@example.com';
  assertError(await alice.put(path, { email }), {
    status: 400,
    code: 'VALIDATION_FAILED',
    field: 'password',
  });
  const wrong = await alice.put(path, { email, password: 'wrong password' });
  assertError(wrong, { status: 401, code: 'UNAUTHORIZED', field: 'password' });
  const { email: taken } = await app.person();
  assertError(await alice.put(path, { email: taken, password }), {
    status: 409,
    code: 'CONFLICT',
    field: 'email',
  });
  const moved = await alice.put(path, { email, password });
  assert.equal(moved.json.email, email);
  const token = linkTokenOf(await nextMail(app, email));
  await app.send('/api/auth/verify-email', { body: { token } });
  assert.equal((await alice.get(path)).json.emailVerified, true);
  const other = personOf(app.send, { ...alice, token: (await login(email)).json.token });
  const newPassword = 'a harbor full of light';
  assert.equal((await alice.put(path, { password, newPassword })).status, 200);
  assert.equal((await alice.get(path)).status, 200);
  assertError(await other.get(path), { status: 401, code: 'UNAUTHORIZED' });
});

test('an account is erased with the password, and everything with it', async () => {
  const alice = await app.person('gone');
  const budget = await alice.create('/api/budgets', { name: 'Food', limit: 10 });
  await alice.create('/api/expenses', { budgetId: budget.id, description: 'Tea', amount: 1, tags: ['a'] });
  const customer = await alice.create('/api/customers', { name: 'Ada' });
  const items = [{ description: 'Chair', quantity: 1, unitAmount: 5 }];
  await alice.create('/api/orders', { customerId: customer.id, items });
  await alice.create('/api/recurring', {
    budgetId: budget.id,
    description: 'Rent',
    amount: 1,
    freq: 'daily',
  });
  await alice.create('/api/tasks', { type: 'report' });
  const path = '/api/users/profile';
  assertError(await alice.delete(path), { status: 400, code: 'INVALID_INPUT' });
  assertError(await alice.delete(path, { password: 'wrong password' }), {
    status: 401,
    code: 'UNAUTHORIZED',
  });
  assert.deepEqual((await alice.delete(path, { password })).json.id, alice.id);
  assertError(await alice.get('/api/budgets'), { status: 401, code: 'UNAUTHORIZED' });
  assertError(await login(alice.email), { status: 401, code: 'UNAUTHORIZED' });
  assert.equal((await register(alice.email)).status, 201);
});

test('a link to an address that the account no longer has verifies nothing', async () => {
  const email = 'moved@example.com';
  const { json } = await register(email);
  const token = linkTokenOf(await nextMail(app, email));
  const person = personOf(app.send, { id: json.user.id, email, token: json.token });
  assert.equal(
    (await person.put('/api/users/profile', { email: 'moved-2@example.com', password })).status,
    200,
  );
  const refused = await app.send('/api/auth/verify-email', { body: { token } });
  assertError(refused, { status: 400, code: 'VALIDATION_FAILED', field: 'token' });
});

test('a username is one line that cannot pretend to be another', async () => {
  const person = await app.person();
  for (const username of ['a\r\nb', 'a\nb', 'a\u202eb', 'a\u2028b', 'a\u0007b', 'a\u2066b'])
    assertError(await person.put('/api/users/profile', { username }), {
      status: 400,
      code: 'VALIDATION_FAILED',
      field: 'username',
    });
  for (const username of ['Zoë O’Neil', '王小明', '👩‍👩‍👧'])
    assert.equal((await person.put('/api/users/profile', { username })).status, 200);
});
